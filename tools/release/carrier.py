"""The carrier: one file that holds the whole program and installs it when it is run.

On Linux and macOS it is a shell script (carrier.sh) followed by the release's archive: it needs nothing but what /bin
and /usr/bin hold, unpacks nowhere but where the program is going to stay, and as the hook costs one start of `sh`. On
Windows it is an executable, for there a script cannot be named as a command.
"""

import json
import platform as machine
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

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


def build(program: Path, archive: Path, path: Path) -> Path:
    """Make the carrier of a finished program folder and its archive (see archives.py); its path."""
    said = json.loads((program / "program.json").read_bytes())
    if said["platform"].startswith("windows"):
        return build_executable(program, said["name"], path.with_name(f"{path.name}.exe"))
    path.write_bytes(head(said["name"], said["version"], said["platform"]) + archive.read_bytes())
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
    if platform.startswith("linux"):
        return f"Linux with glibc {machine.libc_ver()[1]} or newer"
    return "a version of macOS that its libraries know"


def build_executable(program: Path, name: str, path: Path) -> Path:
    """Have PyInstaller make the carrier of a program folder; its path. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "carried.txt").write_text(name, "utf-8")
        with tarfile.open(Path(work) / "recall.tar.xz", "w:xz") as archive:
            for entry in sorted(program.rglob("*")):
                archive.add(entry, entry.relative_to(program).as_posix(), recursive=False, filter=_plain)
        folders = ["--distpath", work, "--workpath", str(Path(work) / "work")]
        command = [sys.executable, "-m", "PyInstaller", "pyinstaller.spec", "--noconfirm", "--log-level", "WARN"]
        subprocess.run([*command, *folders, "--", "--carrier", work], cwd=ROOT, check=True)
        return Path(shutil.move(Path(work) / f"recall-carrier{path.suffix}", path))


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the builder's name and times."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member
