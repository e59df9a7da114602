"""`recall query`: ranks records for a question, or shows exactly what the hook would hand over."""

import argparse
import json
import os
from typing import Any

from recall.cli.client import call_warm
from recall.wire.paths import StatePaths, state_home

HELP = "show the records closest in meaning to a question"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question")
    parser.add_argument("--repo", metavar="NAME", help="search this project instead of the current folder's")
    parser.add_argument("--kind", choices=("memory", "knowledge", "conversation"), help="only records of this kind")
    parser.add_argument("--limit", type=_positive, default=10, help="how many to show (default 10)")
    parser.add_argument("--auto", action="store_true", help="show exactly what the hook would hand over")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    fields = {
        "question": arguments.question,
        "cwd": os.getcwd(),  # noqa: PTH109  as the system spells it, like the client's `cwd`
        "repo": arguments.repo,
        "kind": arguments.kind,
        "limit": arguments.limit,
        "auto": arguments.auto,
    }
    result = call_warm(StatePaths(state_home(arguments.home)), "query", fields)
    if arguments.json:
        print(json.dumps(result, ensure_ascii=False, indent=1))
    elif arguments.auto:
        print(result["additional_context"] or f"(nothing shown: {_numbers(result)})")
    else:
        _show(result)
    return 0


def _show(result: dict[str, Any]) -> None:
    for hit in result["hits"]:
        date = f" {hit['date']}" if hit["date"] else ""
        print(f"{hit['rank']:>3}  {hit['score']:.3f}  [{hit['kind']}]{date} {hit['name']}")
        if hit["description"]:
            print(f"            {hit['description']}")
        print(f"            {hit['path']}")
    where = result["project"] or "no project"
    print(f"({len(result['hits'])} of {where}: {_numbers(result)}, {result['reason']}, {result['ms']:.0f} ms)")


def _numbers(result: dict[str, Any]) -> str:
    return f"tier={result['tier']} gap={result['gap']:.3f} top={result['top']:.3f}"


def _positive(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError("a whole number from 1 to 1000")
    return value
