"""What a program folder says of itself: program.json, with every file's size and checksum, and the folder's name.

    {"version": "0.1.0", "name": "0.1.0-3fa9c2d1", "platform": "linux-x86_64", "built": "2026-01-31",
     "files": {"recall": [7820000, "<sha256>"], ...}, "links": {"_internal/liba.so": "numpy.libs/liba.so"}}

The name ends in eight hexadecimal digits of a SHA-256 over the files' paths and checksums, so that two programs of one
version never share a folder, and the same program always has the same.
"""

import hashlib
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

MANIFEST = "program.json"

#: What the systems call a processor -> what a release's files call it.
_PROCESSORS = {"amd64": "x86_64", "x64": "x86_64", "aarch64": "arm64"}
_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}


def platform_name(system: str = sys.platform, processor: str | None = None) -> str:
    """`linux-x86_64`, `macos-arm64`, `windows-x86_64`: the machine that this runs on, or another one by its words."""
    word = (processor or platform.machine()).lower()
    return f"{_SYSTEMS.get(system, system)}-{_PROCESSORS.get(word, word)}"


def build_date() -> str:
    """Today, or the day that SOURCE_DATE_EPOCH (seconds) names, in UTC: YYYY-MM-DD."""
    return time.strftime("%Y-%m-%d", time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())))


def regular_files(folder: Path) -> dict[str, Path]:
    """Every regular file below the folder but program.json itself, by its path there in posix form, sorted."""
    found = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    # rglob before 3.13 follows no link to a folder either: what lies behind one is listed once, at its own place.
    named = {path.relative_to(folder).as_posix(): path for path in found}
    return {name: named[name] for name in sorted(named) if name != MANIFEST}


def links(folder: Path) -> dict[str, str]:
    """Every symbolic link below the folder -> its target as it is written in it. Raises ValueError for one that leads
    out of the folder: it would be there on the machine that builds alone."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            target = path.readlink()
            if target.is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
                raise ValueError(f"expected links within the program, found {path} to {target}; leave it out")
            found[path.relative_to(folder).as_posix()] = target.as_posix()
    return found


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(folder: Path, version: str, platform: str) -> dict[str, Any]:
    """What program.json holds for this folder as it is now. Raises ValueError where there is nothing."""
    files = {name: [path.stat().st_size, sha256(path)] for name, path in regular_files(folder).items()}
    if not files:
        raise ValueError(f"expected a built program in {folder}, found no file; build it first")
    whole = hashlib.sha256("".join(f"{name}\0{digest}\n" for name, (_, digest) in files.items()).encode())
    return {
        "version": version,
        "name": f"{version}-{whole.hexdigest()[:8]}",
        "platform": platform,
        "built": build_date(),
        "files": files,
        "links": links(folder),
    }


def write_manifest(folder: Path, version: str, platform: str) -> str:
    """Write program.json into a finished program folder and return the program's name, `<version>-<8 hex digits>`."""
    described = describe(folder, version, platform)
    text = json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")
    return str(described["name"])
