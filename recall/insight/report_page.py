"""The page of `recall report --html`: the same figures with their pictures, and the lists in full."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recall.insight.reasons import in_words
from recall.pages.page import page, section, table
from recall.pages.pictures import bars


def report_page(found: Mapping[str, Any]) -> str:
    """The whole page, HTML; `found` is what `report --json` prints."""
    names = found["names"]
    tidying = found["tidying"]
    figures = [
        ("messages", found["messages"]),
        ("sessions", found["sessions"]),
        ("searched", found["searched"]),
        ("something was handed over", found["spoken"]),
        ("bytes handed over", found["bytes"]),
        ("time-outs", found["timeouts"]),
    ]
    if found["p50"] is not None:
        figures += [("ms, half of the messages", round(found["p50"])), ("ms, 95 % of them", round(found["p95"]))]
    parts = [section(f"{found['days']} days", table(("", "number"), figures))]
    if found["silent"]:
        picture = bars(list(found["silent"]), {"messages": list(found["silent"].values())})
        meanings = table(("reason", "in words"), [(reason, in_words(reason)) for reason in found["silent"]])
        parts.append(section("Silent, by reason", picture, meanings))
    if found["lines"]:
        parts.append(section("Lines, by kind", bars(list(found["lines"]), {"lines": list(found["lines"].values())})))
    lists = (
        ("Most shown", ("times", "record", "file"), [(n, names.get(p, ""), p) for p, n in found["shown"].items()]),
        ("May say the same", ("closeness", "record", "record"), [_pair(p)[:3] for p in tidying["alike"]]),
        (
            "May contradict each other",
            ("closeness", "record", "record", "why"),
            [_pair(p) for p in tidying["disagree"]],
        ),
        (
            "Name files that are gone",
            ("record", "files"),
            [(note["path"], ", ".join(note["files"])) for note in tidying["gone"]],
        ),
        ("Never shown", ("record", "file"), [(names.get(path, ""), path) for path in found["never_shown"]]),
    )
    parts += [section(title, table(head, rows)) for title, head, rows in lists if rows]
    return page("recall report", parts)


def _pair(pair: Mapping[str, Any]) -> tuple[float, str, str, str]:
    return round(pair["closeness"], 2), Path(pair["first"]).name, Path(pair["second"]).name, pair["words"]
