"""`recall versions`: the installed versions of the packed program."""

import argparse
import json
from typing import Any

from recall.core.errors import InstallError
from recall.install.in_use import is_in_use
from recall.install.place import Place
from recall.install.program import read_program

HELP = "list the installed versions; `recall upgrade` changes between them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    place = Place.of_user()
    rows = [_row(place, name) for name in place.names()]
    if arguments.json:
        print(json.dumps({"folder": str(place.versions), "versions": rows}, ensure_ascii=False, indent=2))
        return 0
    if not rows:
        print(f"no version of the packed program is installed in {place.versions}")
        return 0
    print(f"   VERSION              BUILT          MB  {place.versions}")
    for row in rows:
        mark, use = ("*", "") if row["current"] else (" ", "  in use" if row["in_use"] else "")
        megabytes = "?" if row["bytes"] is None else f"{row['bytes'] / 1e6:.0f}"
        print(f"{mark}  {row['name']:<20} {row['built'] or '?':<10} {megabytes:>6}{use}{row['problem']}")
    print("*  what `recall` and the hook run")
    return 0


def _row(place: Place, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "current": name == place.current(), "in_use": is_in_use(place, name)}
    try:
        program = read_program(place.folder(name))
    except InstallError as error:
        return row | {"version": name.partition("-")[0], "built": None, "bytes": None, "problem": f"  {error}"}
    return row | {"version": program.version, "built": program.built, "bytes": program.bytes, "problem": ""}
