"""`recall licenses`: the parts that this recall is made of, each with its licence, and where the texts stand.

The packed program carries all texts in one file, made by tools/release. Installed as a Python package, recall holds its
model alone; every other part is a package beside it and carries its own texts.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from recall.core.errors import RecallError

HELP = "list the parts by others that recall is made of, with their licences"

#: In the packed program: an overview, then from the first line of `=` on the texts.
TEXTS = Path(__file__).parents[1] / "_licenses.txt"
_RULE = "\n" + "=" * 100 + "\n"
_TEXT = re.compile(r"(licen[cs]e|copying|notice|third.?party)[^/]*$", re.IGNORECASE)
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", action="store_true", help="print the licences' texts too")


def run(arguments: argparse.Namespace) -> int:
    if TEXTS.is_file():
        overview, _, texts = TEXTS.read_text("utf-8").partition(_RULE)
        last = (
            _RULE + texts
            if arguments.texts
            else f"\nThe texts are in {TEXTS}, and `recall licenses --texts` shows them."
        )
        print(overview + last.rstrip("\n"))
        return 0
    for name, licence, files in sorted(_installed(), key=lambda part: part[0].lower()):
        print(f"{name:<44} {licence or 'see its text'}")
        for file in files:
            print(f"\n--- {file}\n{file.read_text('utf-8', 'replace')}" if arguments.texts else f"    {file}")
    return 0


def _installed() -> Iterator[tuple[str, str, list[Path]]]:
    """The bundled model and every installed package that recall needs: name and version, licence, files of texts."""
    from importlib.metadata import PackageNotFoundError, distribution

    from recall.embed.catalog import shipped_manifest
    from recall.embed.manifest import BUNDLED
    from recall.embed.manifest_file import read_manifest

    if place := shipped_manifest(BUNDLED):
        yield BUNDLED, read_manifest(*place).licence, [place[0].with_name(f"LICENSE-{BUNDLED}")]
    try:
        wanted = list(distribution("recall").requires or ())
    except PackageNotFoundError:
        raise RecallError(
            "expected recall to be installed as a package, found no metadata; run `pip install .`"
        ) from None
    seen: set[str] = set()
    while wanted:
        requirement = wanted.pop()
        name = _REQUIREMENT.match(requirement)
        if not name or "extra ==" in requirement or (plain := re.sub(r"[-_.]+", "-", name[0]).lower()) in seen:
            continue
        seen.add(plain)
        try:
            found = distribution(plain)
        except PackageNotFoundError:  # one for another system or Python
            continue
        wanted += found.requires or ()
        own = found.metadata
        named = [
            line.rpartition(" :: ")[2] for line in own.get_all("Classifier") or () if line.startswith("License ::")
        ]
        words = [*(own.get_all("License-Expression") or ()), *(own.get_all("License") or ()), *named]
        files = [
            Path(str(file.locate())) for file in found.files or () if _TEXT.match(file.name) and file.suffix != ".py"
        ]
        yield f"{own['Name']} {found.version}", next((word for word in words if "\n" not in word), ""), sorted(files)
