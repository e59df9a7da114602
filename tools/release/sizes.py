"""What a release takes: installed and to download, against the limits, and by its large parts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from release.program import regular_files

#: Largest sizes in bytes: of what a colleague downloads, and of what it takes once it is installed.
DOWNLOAD_LIMIT = 130_000_000
INSTALLED_LIMIT = 260_000_000

REST = "the rest"
#: Part -> what its paths in the program match, the first that does.
PARTS = {
    "model": r"_internal/recall/_models/",
    "onnxruntime": r"_internal/onnxruntime/",
    "numpy and OpenBLAS": r"_internal/(numpy|numpy\.libs)/",
    "betterleaks": r"_internal/betterleaks/",
    "tokenizers": r"_internal/tokenizers/",
    "psycopg and libpq": r"_internal/psycopg",
    "Python modules (in the executable)": r"recall(\.exe)?$",
    "Python and its libraries": r"_internal/"
    r"(python3|lib(python|crypto|ssl|sqlite|ffi|z|bz2|lzma)|base_library|Python|[^/]*\.(dll|pyd)$)",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """One size against its limit, bytes."""

    what: str
    size: int
    most: int

    @property
    def fits(self) -> bool:
        return self.size <= self.most

    def sentence(self) -> str:
        return (
            f"expected {self.what} of at most {_mb(self.most)} MB, found {_mb(self.size)} MB; "
            "see what takes the space above and leave some of it out in contents.py"
        )


def by_part(sizes: Mapping[str, int]) -> dict[str, int]:
    """Bytes of each part, of files by their paths in the program; all parts are named, largest first."""
    totals = dict.fromkeys([*PARTS, REST], 0)
    for path, size in sizes.items():
        totals[next((part for part, pattern in PARTS.items() if re.match(pattern, path)), REST)] += size
    return dict(sorted(totals.items(), key=lambda part: -part[1]))


def table(folder: Path) -> tuple[str, int]:
    """What takes the space in a program folder, a line a part, and the whole in bytes."""
    sizes = {name: path.stat().st_size for name, path in regular_files(folder).items()}
    whole = sum(sizes.values())
    rows = [f"  {_mb(size):>6} MB  {part}" for part, size in by_part(sizes).items()]
    return "\n".join([*rows, f"  {_mb(whole):>6} MB  installed"]), whole


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.1f}"
