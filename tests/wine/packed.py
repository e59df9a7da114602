"""Packs recall on the Windows machine with PyInstaller: the one program that colleagues get."""

import hashlib
import shutil

from wine.machine import ROOT, Machine

#: Where the program lies, as a person with such a name would have it, and where PyInstaller works.
FOLDER = "C:\\山田 太郎\\recall"
_WORK = "C:\\packing"

#: Seconds for PyInstaller to look through everything.
PACK_SECONDS = 900.0


def packed(machine: Machine) -> str:
    """The executable's path. It is packed anew when something that goes into it has changed."""
    program, made_of = f"{FOLDER}\\recall.exe", machine.path(FOLDER) / "made-of"
    if made_of.exists() and made_of.read_text() == _sources():
        return program
    shutil.rmtree(machine.path(FOLDER), ignore_errors=True)
    words = ["--noconfirm", "--log-level", "WARN", "--distpath", FOLDER.rpartition("\\")[0], "--workpath", _WORK]
    command = [machine.python, "-m", "PyInstaller", *words, machine.named(ROOT / "pyinstaller.spec")]
    done = machine.run(command, timeout=PACK_SECONDS)
    assert done.returncode == 0, (done.stdout + done.stderr).decode("utf-8", "replace")
    made_of.write_text(_sources())
    return program


def _sources() -> str:
    """All that the program is made of, as one hash; of the model's weights their sizes and times."""
    digest = hashlib.sha256((ROOT / "pyinstaller.spec").read_bytes())
    for folder in (ROOT / "recall", ROOT / "tools" / "release"):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                digest.update(str(file).encode() + file.read_bytes())
    for file in sorted((ROOT / "models").rglob("*")):
        state = file.stat()
        digest.update(f"{file} {state.st_size} {state.st_mtime_ns}".encode())
    return digest.hexdigest()
