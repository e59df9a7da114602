#!/usr/bin/env python3
"""Makes a release for the machine that it runs on: `python tools/build_release.py [--out dist]`.

recall/                             the program: one executable, its libraries and program.json
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from recall.version import VERSION  # noqa: E402
from release.program import platform_name, write_manifest  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "dist", help="default: dist in the checkout")
    asked = parser.parse_args()
    folder = build_program(asked.out)
    print(f"{folder}: {write_manifest(folder, VERSION, platform_name())}")
    return 0


def build_program(out: Path) -> Path:
    """Run PyInstaller; the program's folder. The work folder stays beside it, below build/."""
    command = [sys.executable, "-m", "PyInstaller", "pyinstaller.spec", "--noconfirm", "--log-level", "WARN"]
    folders = ["--distpath", str(out.resolve()), "--workpath", str(ROOT / "build" / "release")]
    # Sets of names would else stand in another order in each build's byte code.
    subprocess.run([*command, *folders], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "0"}, check=True)
    return out / "recall"


if __name__ == "__main__":
    sys.exit(main())
