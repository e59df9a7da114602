"""Two releases of this checkout, built as a person builds them: the version of the sources, and a later one.

A build is kept in build/packed-tests as long as what it is made of stays the same.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from recall.install.program import read_program

ROOT = Path(__file__).resolve().parents[2]
BUILDS = ROOT / "build" / "packed-tests"

#: What a release is made of.
SOURCES = ("recall", "tools", "models", "pyinstaller.spec", "pyproject.toml")

KEPT_SECONDS = 7200.0

LATER = ("9.8.7", 9_008_007)


@dataclass(frozen=True, slots=True)
class Release:
    """`carrier`: the one file; `folder`: the program folder; `name`: what its installed folder is called."""

    carrier: Path
    folder: Path
    name: str

    @property
    def version(self) -> str:
        return self.name.partition("-")[0]


def build(version: tuple[str, int] | None = None) -> Release:
    """Build a release of the sources as they are, or with another version and build number in them."""
    kind = version[0] if version else "this"
    out = BUILDS / f"{kind}-{_digest()}"
    if not (out / "done").exists():
        for older in BUILDS.glob(f"{kind}-*"):
            if time.time() - older.stat().st_mtime > KEPT_SECONDS:  # a younger one may be another run's
                shutil.rmtree(older)
        tree = _changed(out / "tree", version) if version else ROOT
        done = make(tree, out)
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        (out / "done").touch()
    (carrier,) = out.glob("recall-*64")
    return Release(carrier, out / "recall", read_program(out / "recall").name)


def make(tree: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    """Run the release tool of a source tree."""
    # PyInstaller's own cache belongs into a home, which the tests must leave alone.
    environment = {**os.environ, "PYINSTALLER_CONFIG_DIR": str(BUILDS / "cache")}
    return subprocess.run(
        [sys.executable, str(tree / "tools" / "build_release.py"), "--out", str(out)],
        cwd=tree, env=environment, capture_output=True, encoding="utf-8",
    )  # fmt: skip


def copy_sources(tree: Path) -> Path:
    """A source tree of its own to be changed; the model's files are shared."""
    tree.mkdir(parents=True)
    for name in SOURCES:
        source = ROOT / name
        if name == "models":
            (tree / name).symlink_to(source)
        elif source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, tree / name)
    return tree


def _changed(tree: Path, version: tuple[str, int]) -> Path:
    copy_sources(tree)
    number, build = version
    _replace(tree / "recall" / "version.py", 'VERSION: Final = "[^"]+"', f'VERSION: Final = "{number}"')
    for path in (tree / "recall" / "version.py", tree / "recall" / "hook" / "pipe.py"):
        _replace(path, r"BUILD(: Final)? = [\d_]+", f"BUILD = {build}")
    return tree


def _replace(path: Path, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, new, path.read_text("utf-8"))
    assert count == 1, f"{path} has changed its shape"
    path.write_text(text, encoding="utf-8")


def _digest() -> str:
    whole = hashlib.sha256(sys.version.encode())
    for name in SOURCES:
        source = ROOT / name
        files = sorted(source.rglob("*")) if source.is_dir() else [source]
        for path in files:
            if path.is_file() and "__pycache__" not in path.parts:
                whole.update(f"{path.relative_to(ROOT)} {path.stat().st_size}\0".encode())
                if path.suffix in (".py", ".sh", ".spec", ".toml"):
                    whole.update(path.read_bytes())
    return whole.hexdigest()[:12]
