"""Archives of a program folder, the same bytes from the same folder, and checksums of what lies beside them."""

import gzip
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from release.program import sha256

SUMS = "SHA256SUMS"
#: Beside this, nothing of a release is worth a checksum of its own: the folder is in the archive and has program.json.
_FOLDER_PROGRAM = 0o755
_FOLDER_FILE = 0o644


def name_of(version: str, platform: str) -> str:
    """The archive's file name: a zip on Windows, which opens that by itself, else a tar."""
    return f"recall-{version}-{platform}.{'zip' if platform.startswith('windows') else 'tar.gz'}"


def pack(folder: Path, archive: Path) -> Path:
    """Write the folder's content below one top folder, named as the archive. Raises OSError."""
    top = archive.name.removesuffix(".zip").removesuffix(".tar.gz")
    paths = sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix())
    (_zip if archive.suffix == ".zip" else _tar)(folder, paths, top, archive)
    return archive


def _tar(folder: Path, paths: Iterable[Path], top: str, archive: Path) -> None:
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,  # neither the file's name nor the time goes in
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in paths:
            entry = tar.gettarinfo(path, f"{top}/{path.relative_to(folder).as_posix()}")
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            entry.mode = mode_of(path)
            if entry.islnk():  # a file that the build holds under two names: whole in the archive both times
                entry.type, entry.linkname, entry.size = tarfile.REGTYPE, "", path.stat().st_size
            if entry.isreg():
                with path.open("rb") as content:
                    tar.addfile(entry, content)
            else:
                tar.addfile(entry)


def _zip(folder: Path, paths: Iterable[Path], top: str, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for path in paths:
            if path.is_file():  # folders come with what is in them
                name = f"{top}/{path.relative_to(folder).as_posix()}"
                entry = zipfile.ZipInfo(name)  # 1980-01-01, the first day that a zip can name
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3
                entry.external_attr = (0o100000 | mode_of(path)) << 16
                packed.writestr(entry, path.read_bytes())


def mode_of(path: Path) -> int:
    """0755 for folders and for what can be run, else 0644, whatever the builder's umask."""
    runs = path.is_symlink() or path.is_dir() or path.stat().st_mode & 0o100
    return _FOLDER_PROGRAM if runs else _FOLDER_FILE


def write_sums(folder: Path) -> Path:
    """SHA256SUMS over all files in the folder itself, as `sha256sum --check` reads it. Files of several platforms that
    were put together here are all in it."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    lines = [f"{sha256(folder / name)}  {name}\n" for name in names]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")
    return folder / SUMS
