#!/usr/bin/env python3
"""Makes a release for the machine that it runs on, into a folder: `python3 tools/dev.py release`.

    recall/                              the program: one executable, its libraries and program.json
    recall-VERSION-PLATFORM              the carrier: one file that installs the program when it is first run
    recall-VERSION-PLATFORM.tar.gz       the program's folder as an archive (.zip on Windows)
    recall-VERSION-PLATFORM.cdx.json     what is inside: bill of materials, CycloneDX 1.6
    SHA256SUMS                           checksums of the files above

Needs what the extra `dev` installs. Prints what takes the space, and exits with 1 where a limit is exceeded.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from recall.version import VERSION  # noqa: E402
from release import archives, carrier, glibc, prove, sizes  # noqa: E402
from release.program import platform_name, write_manifest  # noqa: E402

#: PyInstaller's folders, one for each folder of results: two builds at a time must not write into the same one.
WORK = ROOT / "build" / "release"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "dist", help="default: dist in the checkout")
    parser.add_argument("--version-suffix", metavar="TEXT", default="", help="goes into the files' names: rc1")
    parser.add_argument("--tag", help="fail where this is not `v`, the version and the suffix")
    parser.add_argument("--glibc", metavar="2.28", help="fail where the program needs a newer one (Linux)")
    parser.add_argument("--sums", action="store_true", help="only write SHA256SUMS over what lies in DIR")
    asked = parser.parse_args()
    if asked.tag not in (None, f"v{VERSION}{asked.version_suffix}"):
        print(f"expected the tag v{VERSION}{asked.version_suffix}, found {asked.tag}; correct one", file=sys.stderr)
        return 1
    if asked.sums:
        print(archives.write_sums(asked.out))
        return 0
    if missing := [name for name in ("PyInstaller", "cyclonedx", "psycopg_binary") if find_spec(name) is None]:
        print(
            f"expected {' and '.join(missing)} in this Python, found none; run `python3 tools/dev.py release`",
            file=sys.stderr,
        )
        return 1
    try:
        return release(asked.out.resolve(), asked.version_suffix, asked.glibc)
    except subprocess.CalledProcessError:
        print("the program was not built; PyInstaller's last line above says why", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
    return 1


def release(out: Path, suffix: str, oldest_glibc: str | None) -> int:
    """Make everything into `out` and hold the sizes against the limits; the exit code."""
    prove.check_imports(ROOT / "recall" / "hook" / "pipe.py")
    folder = build_program(out)
    prove.check_hook(folder)
    name = write_manifest(folder, VERSION, platform_name())
    print(f"{folder}: {name}")
    if oldest_glibc:
        check_glibc(folder, oldest_glibc)
    stem = f"recall-{VERSION}{suffix}-{platform_name()}"
    from release import gather, sbom

    sbom.write(folder, gather.gather(ROOT, work_of(out) / "pyinstaller"), ROOT, out / f"{stem}.cdx.json")
    archive = archives.pack(folder, out / archives.name_of(VERSION + suffix, platform_name()))
    download = carrier.build(folder, archive, out / stem)
    archives.write_sums(out)

    shown, installed = sizes.table(folder)
    print(f"{shown}\n  {download.stat().st_size / 1_000_000:>6.1f} MB  to download: {download.name}")
    limits = [
        sizes.Limit("a program", installed, sizes.INSTALLED_LIMIT),
        sizes.Limit("a download", download.stat().st_size, sizes.DOWNLOAD_LIMIT),
    ]
    broken = [limit.sentence() for limit in limits if not limit.fits]
    print("\n".join(broken), file=sys.stderr, end="\n" * bool(broken))
    return 1 if broken else 0


def build_program(out: Path) -> Path:
    """Run PyInstaller; the program's folder."""
    command = [sys.executable, "-m", "PyInstaller", "pyinstaller.spec", "--noconfirm", "--log-level", "WARN"]
    # Sets of names would else stand in another order in each build's byte code.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    folders = ["--distpath", str(out), "--workpath", str(work_of(out))]
    subprocess.run([*command, *folders], cwd=ROOT, env=environment, check=True)
    return out / "recall"


def work_of(out: Path) -> Path:
    """PyInstaller's work folder for a folder of results."""
    return WORK / hashlib.sha256(str(out).encode()).hexdigest()[:8]


def check_glibc(folder: Path, oldest: str) -> None:
    """Raises ValueError where the program would not start on the oldest system that it is made for."""
    newest, asker = glibc.needed(folder)
    if newest > tuple(map(int, oldest.split("."))):
        raise ValueError(
            f"expected a program for glibc {oldest}, found that {asker} needs {newest[0]}.{newest[1]}; "
            "build it with a Python and libraries of an older system"
        )


if __name__ == "__main__":
    sys.exit(main())
