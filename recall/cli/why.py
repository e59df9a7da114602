"""`recall why`: explains what became of a message: what was searched, how the records ranked, what decided."""

import argparse
import json
import math
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall.text.clean import one_line
from recall.wire.paths import StatePaths, state_home

if TYPE_CHECKING:
    from recall.insight.lookup import Asked

HELP = "explain what became of the last message"

#: So much of a message is repeated (characters).
MAX_MESSAGE = 200
#: What each sign of the journal is, in words.
_SIGNS = {
    "cosine": "the best cosine stands {:+.1f} deviations above everyday messages",
    "score": "the top score {:+.1f} deviations",
    "everyday": "the message is {:.1f} deviations closer than usual to an everyday one",
    "words": "the best record holds {:.0%} of its words, by their weight and squared",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="the last message of this session (default: of any)")
    parser.add_argument("--at", metavar="TIME", help="the message nearest to a time: 2026-08-14T09:30, or 09:30 today")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    from recall.insight.decisions import moment
    from recall.insight.lookup import last_asked

    paths = StatePaths(state_home(arguments.home))
    at = moment(arguments.at, datetime.now()) if arguments.at else None
    asked = last_asked(paths, os.environ, arguments.session, at)
    found = _found(asked)
    print(json.dumps(found, indent=1) if arguments.json else _text(found))
    return 0


def _found(asked: "Asked") -> dict[str, Any]:
    """What `--json` prints."""
    from recall.insight.reasons import in_words
    from recall.sources.repository import repository_root

    decision, typed = asked.decision, asked.typed
    shown = {path for _, path in decision.items}
    became = dict.fromkeys(decision.held, "held") | dict.fromkeys(decision.cut, "cut") | dict.fromkeys(shown, "shown")
    return {
        "time": decision.time.isoformat(),
        "session": decision.session,
        "prompt": decision.prompt,
        "message": typed.text if typed else None,
        "cwd": typed.cwd if typed else None,
        "project": Path(repository_root(typed.cwd)).name if typed and typed.cwd else None,
        "answered": decision.answered,
        "searched": decision.searched,
        "tier": decision.tier,
        "reason": decision.reason,
        "in_words": in_words(decision.reason, answered=decision.answered),
        "probability": decision.probability,
        "gap": decision.gap,
        "top": decision.top,
        "signs": dict(decision.signs),
        "items": [{"kind": kind, "path": path} for kind, path in decision.items],
        "ranked": [
            {
                "rank": rank,
                "kind": hit.kind,
                "path": hit.path,
                "score": hit.score,
                "signs": dict(hit.signs),
                "became": became.get(hit.path),
            }
            for rank, hit in enumerate(decision.ranked, start=1)
        ],
        "held": list(decision.held),
        "cut": list(decision.cut),
        "muted": decision.muted,
        "emptied": decision.emptied,
        "bytes": decision.size,
        "ms": decision.ms,
    }


def _text(found: dict[str, Any]) -> str:
    """The same for people."""
    lines = [
        f"time     {found['time'].replace('T', ' ')}, session {found['session'] or 'unknown'}",
        f"message  {_message(found)}",
    ]
    if found["project"]:
        lines.append(f"project  {one_line(found['project'])} ({one_line(found['cwd'])})")
    lines += [f"decided  {_verdict(found)}"]
    if found["signs"]:
        lines.append(f"signs    {_signs(found['signs'])}")
    if found["emptied"]:
        lines.append("session  cleared or compacted before: what was shown earlier counts no more")
    if found["ranked"]:
        lines.append("rank  score  signs")
        lines += [line for hit in found["ranked"] for line in _ranked(hit)]
    ranked = {hit["path"] for hit in found["ranked"]}
    for word, meaning in (
        ("held", "held back, for this session was shown it before"),
        ("cut", "cut, for lines or bytes were spent"),
    ):
        lines += [f"{meaning}: {one_line(_home(path))}" for path in found[word] if path not in ranked]
    lines += [f"shown: [{i['kind']}] {one_line(_home(i['path']))}" for i in found["items"] if i["path"] not in ranked]
    if found["muted"]:
        lines.append(f"muted    {found['muted']} of `recall mute --list`, which took no part")
    if found["searched"] and not found["ranked"] and found["tier"] != "none":
        lines.append("(written by an older recall: it did not keep how the records ranked)")
    return "\n".join(lines)


def _message(found: Mapping[str, Any]) -> str:
    if found["message"] is None:
        return "not in Claude Code's transcripts (any more); recall itself keeps none"
    text = one_line(found["message"])
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE] + "…"


def _verdict(found: Mapping[str, Any]) -> str:
    if not found["answered"]:
        return f"silent: {found['in_words']} ({found['ms']:.0f} ms)"
    if not found["searched"]:
        return f"not searched: {found['in_words']}"
    numbers = f"gap {found['gap']:.3f}, top {found['top']:.3f}"
    if found["probability"] is not None:
        numbers = f"probability {found['probability']:.2f}, {numbers}"
    what = f"{len(found['items'])} shown, {found['bytes']} bytes" if found["items"] else "silent"
    return f"{what}: {found['in_words']} (tier {found['tier']}, {numbers}, {found['ms']:.0f} ms)"


def _signs(signs: Mapping[str, float]) -> str:
    words = [_SIGNS[name].format(value) for name, value in signs.items() if name in _SIGNS]
    if "length" in signs:
        words.append(f"about {math.exp(min(signs['length'], 20.0)):.0f} tokens that tell")
    words += [f"{one_line(name)} {value:.2f}" for name, value in signs.items() if name not in (*_SIGNS, "length")]
    return ", ".join(words)


def _ranked(hit: Mapping[str, Any]) -> list[str]:
    signs = " ".join(f"{one_line(name)} {value:.2f}" for name, value in hit["signs"].items())
    words = {"shown": "SHOWN", "held": "held back: shown before", "cut": "cut: lines or bytes were spent"}
    became = f"  <- {words[hit['became']]}" if hit["became"] else ""
    return [
        f"{hit['rank']:>4}  {hit['score']:5.2f}  {signs}{became}",
        f"             [{hit['kind']}] {_home(hit['path'])}",
    ]


def _home(path: str) -> str:
    """A path as people write it."""
    home = str(Path.home())
    return one_line(f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path)
