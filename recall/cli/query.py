"""`recall query`: ranks records for a question, or shows exactly what the hook would hand over."""

import argparse
import json
from typing import Any

from recall.cli.client import call_warm, current_folder
from recall.text.clean import one_line
from recall.wire.paths import StatePaths, state_home

HELP = "show the records closest in meaning to a question"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--repo", metavar="NAME", help="search this project instead of the current folder's")
    where.add_argument("--all", action="store_true", help="search all projects")
    parser.add_argument("--kind", choices=("memory", "knowledge", "conversation"), help="only records of this kind")
    parser.add_argument("--limit", type=_limit, default=10, help="how many to show (default 10)")
    parser.add_argument("--auto", action="store_true", help="show exactly what the hook would hand over")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    fields = {
        "question": arguments.question,
        "cwd": current_folder(),
        "repo": arguments.repo,
        "all": arguments.all,
        "kind": arguments.kind,
        "limit": arguments.limit,
        "auto": arguments.auto,
    }
    result = call_warm(StatePaths(state_home(arguments.home)), "query", fields)
    if arguments.json:
        print(json.dumps(result, ensure_ascii=False, indent=1))
    elif arguments.auto:
        from recall.insight.reasons import in_words

        print(result["additional_context"] or f"(nothing shown: {in_words(result['reason'])}; {_numbers(result)})")
    else:
        _show(result, searched_all=arguments.all)
    return 0


def _show(result: dict[str, Any], *, searched_all: bool) -> None:
    from recall.search.headlines import place_of

    for hit in result["hits"]:
        date = f" {hit['date']}" if hit["date"] else ""
        origin = f" @{one_line(hit['origin'])}" if hit.get("origin") else ""
        print(f"{hit['rank']:>3}  {hit['score']:.3f}  [{hit['kind']}{origin}]{date} {one_line(hit['name'])}")
        if hit["description"]:
            print(f"            {one_line(hit['description'])}")
        print(f"            {place_of(hit['path'])}")
    if result["indexing"]:
        print("(the index is being built; `recall status` shows how far it is)")
    where = result["project"] or ("all projects" if searched_all else "no project")
    if not result["hits"] and not result["project"] and not searched_all:
        print("(this folder belongs to no project that recall knows; go to one, or search everything with --all)")
    print(f"({len(result['hits'])} of {where}: {_numbers(result)}, {result['reason']}, {result['ms']:.0f} ms)")


def _numbers(result: dict[str, Any]) -> str:
    return f"tier={result['tier']} gap={result['gap']:.3f} top={result['top']:.3f}"


def _limit(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 1000, found {text!r}")
    return int(text)
