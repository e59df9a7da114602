#!/usr/bin/env python3
"""Sets a checkout up by itself and runs it: `python3 tools/dev.py demo`, `python3 tools/dev.py check`.

    demo            recall's main job on sample notes: index, daemon, hook, headlines on the screen
    check           everything that CI checks: format, lint, types, import contracts, tests
    test [ARGS]     pytest alone, with its arguments
    run [ARGS]      recall itself, from this checkout: `python3 tools/dev.py run setup`
    release [ARGS]  a release for this machine in dist/: the program that needs no Python, with all that goes with it

Needs Python 3.11, 3.12 or 3.13 and a package index, nothing else: the first run makes `.venv`, installs this checkout
into it and builds the bundled model; later runs see that both are there. Standard library only.
"""

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "installed-for"

#: Each check and the command that does it, in the order in which a mistake is found fastest.
CHECKS = (
    ("format", ("ruff", "format", "--check", ".")),
    ("lint", ("ruff", "check", ".")),
    ("types", ("mypy",)),
    ("imports", ("lint-imports",)),
    ("tests", ("pytest",)),
)


def main() -> int:
    command, arguments = (sys.argv[1:2] or ["help"])[0], sys.argv[2:]
    if command not in ("demo", "check", "test", "run", "release"):
        print(__doc__)
        return 0 if command in ("help", "--help", "-h") else 2
    if not (3, 11) <= sys.version_info < (3, 14):
        print(f"recall needs Python 3.11 to 3.13, this is {sys.version.split()[0]}; try python3.13", file=sys.stderr)
        return 1
    try:
        set_up()
    except subprocess.CalledProcessError as error:
        print(f"set-up failed in: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    if command == "check":
        return check()
    words = {
        "demo": ["-m", "recall", "demo"],
        "run": ["-m", "recall"],
        "test": ["-m", "pytest"],
        "release": [str(ROOT / "tools" / "build_release.py")],
    }[command]
    return subprocess.run([str(PYTHON), *words, *arguments], cwd=ROOT if command == "test" else None).returncode


def set_up() -> None:
    """Make `.venv`, install this checkout with its tools, build the model; what is there already is left alone."""
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + str(ROOT).encode()).hexdigest()
    if not STAMP.exists() or STAMP.read_text() != wanted or not PYTHON.exists():
        print("setting up .venv ...", file=sys.stderr, flush=True)
        venv.create(VENV, with_pip=True, symlinks=os.name != "nt")
        pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*map(str, pip), "--editable", f"{ROOT}[dev]"], check=True)
        STAMP.write_text(wanted)
    subprocess.run([PYTHON, ROOT / "tools" / "build_e5_small.py"], check=True, stdout=sys.stderr)


def check() -> int:
    """Run every check, also after one has failed, and say which did."""
    failed = []
    for name, command in CHECKS:
        print(f"--- {name}: {' '.join(command)}", flush=True)
        if subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT).returncode:
            failed.append(name)
    print(f"--- {'failed: ' + ', '.join(failed) if failed else 'all checks passed'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
