"""The carrier: one file that holds the whole program and installs it when it is run.

On Linux and macOS it is a shell script (carrier.sh) followed by a compressed archive: it needs nothing but what /bin and
/usr/bin hold, unpacks nowhere but where the program is going to stay, and as the hook costs one start of `sh`. On Windows
it is an executable, made by pyinstaller.spec's second half.
"""

import gzip
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

TEMPLATE = Path(__file__).with_name("carrier.sh")

#: What `uname -s` and `uname -m` print, joined, on the machines of a platform.
MACHINES = {
    "linux-x86_64": "Linux-x86_64 | Linux-amd64",
    "linux-arm64": "Linux-aarch64 | Linux-arm64",
    "macos-x86_64": "Darwin-x86_64",
    "macos-arm64": "Darwin-arm64",
}
#: The system's folder for user data, as platformdirs finds it.
DATA = {"linux": "$HOME/.local/share", "macos": '"$HOME/Library/Application Support"'}


def build(program: Path, out: Path) -> Path:
    """Make the carrier of a finished program folder in `out`; its path."""
    said = json.loads((program / "program.json").read_bytes())
    suffix = ".exe" if said["platform"].startswith("windows") else ""
    path = out / f"recall-{said['version']}-{said['platform']}{suffix}"
    packed = archive(program)
    if suffix:
        return _build_windows(packed, path)
    path.write_bytes(head(said["name"], said["version"], said["platform"]) + packed)
    path.chmod(0o755)
    return path


def head(name: str, version: str, platform: str) -> bytes:
    """The script before the archive. It names its own length, in seven digits so that this does not change it."""
    words = {
        "NAME": name,
        "VERSION": version,
        "PLATFORM": platform,
        "MACHINES": MACHINES[platform],
        "DATA": DATA[platform.partition("-")[0]],
        "NEEDS": needs(platform),
    }
    text = TEMPLATE.read_text("utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    length = len(text.replace("@ARCHIVE_AT@", "0000000").encode())
    return text.replace("@ARCHIVE_AT@", f"{length + 1:07}").encode()


def needs(platform: str) -> str:
    """What the machine must have, in words: on Linux the C library of the one that this is built on, or a newer one."""
    if not platform.startswith("linux"):
        return "a version of macOS that its libraries know"
    import platform as machine

    return f"Linux with glibc {machine.libc_ver()[1]} or newer"


def archive(program: Path) -> bytes:
    """The folder's content as a compressed tar, the same bytes whenever and by whomever it is made."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in sorted(program.rglob("*")):
                tar.add(path, path.relative_to(program).as_posix(), recursive=False, filter=_plain)
    return packed.getvalue()


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the builder's name and times; executable stays executable."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def _build_windows(packed: bytes, path: Path) -> Path:
    raise NotImplementedError
