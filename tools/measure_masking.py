"""Measure of masking: `python tools/measure_masking.py` counts fake secrets masked and harmless texts changed.

It does so for the masker and for its engine alone, in a fresh process each, with time and memory. The cases stand in
tests/data/secrets; `--cases FILE` takes others of the same form.
"""

import argparse
import gzip
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

CASES = Path(__file__).resolve().parents[1] / "tests" / "data" / "secrets" / "cases.jsonl.gz"
#: Prose without secrets, for the throughput.
PROSE = "The token bucket refills ten times a second. パスワードを変えたあとは、もう一度ログインする。\n" * 40
ROUNDS = 20


def load(path: Path) -> list[dict[str, Any]]:
    """The cases: `rule`, `kind`, `text`, and `secret` where it is known."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_gone(case: dict[str, Any], masked: str) -> bool:
    """Whether the secret is out of the text, or, where it is not known, something is."""
    return case["secret"] not in masked if "secret" in case else masked != case["text"]


def masker() -> Callable[[str], str]:
    """recall's masker."""
    from recall.text.masking import mask

    return lambda text: mask(text).text


def engine() -> Callable[[str], str]:
    """The engine alone, with all of its rules."""
    import betterleaks

    def replace(text: str) -> str:
        for finding in betterleaks.scan_string(text):
            text = text.replace(finding.secret, "[masked]")
        return text

    return replace


def measure(work: Callable[[], Callable[[str], str]], cases: list[dict[str, Any]]) -> None:
    """Print what one of them does to the cases, how fast, and what it adds to the process."""
    before = psutil.Process().memory_info().rss
    replace = work()
    replace("warm up")
    began = time.perf_counter()
    results = [(case, replace(case["text"])) for case in cases]
    per_text = (time.perf_counter() - began) / len(cases)
    began = time.perf_counter()
    for _ in range(ROUNDS):
        replace(PROSE)
    speed = ROUNDS * len(PROSE.encode()) / (time.perf_counter() - began)
    added = psutil.Process().memory_info().rss - before
    total = Counter(case["kind"] for case in cases)
    missed = Counter(c["rule"] for c, text in results if c["kind"] == "secret" and not is_gone(c, text))
    changed = Counter(c["rule"] for c, text in results if c["kind"] == "not-secret" and text != c["text"])
    share = 1 - missed.total() / max(1, total["secret"])
    print(f"  secrets masked      {total['secret'] - missed.total()} of {total['secret']} ({share:.1%})")
    print(f"  harmless changed    {changed.total()} of {total['not-secret']}", end=" ")
    print(f"({changed.total() / max(1, total['not-secret']):.1%})")
    for label, by_rule in (("missed", missed), ("changed", changed)):
        for rule, count in by_rule.most_common():
            print(f"    {label} {count}: {rule}")
    print(f"  time                {per_text * 1000:.2f} ms a text, {speed / 1e6:.1f} MB a second of prose")
    print(f"  resident memory     {added / 1e6:.0f} MB more")


def main() -> None:
    """Measure both, each in a process of its own, or the one that `--only` names in this one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--only", choices=["masker", "engine"])
    given = parser.parse_args()
    if given.only:
        measure({"masker": masker, "engine": engine}[given.only], load(given.cases))
        return
    for name in ("masker", "engine"):
        print(f"{name}:", flush=True)
        subprocess.run([sys.executable, __file__, "--only", name, "--cases", str(given.cases)], check=True)


if __name__ == "__main__":
    main()
