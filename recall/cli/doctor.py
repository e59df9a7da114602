"""`recall doctor`: examines the installation, mends what it can, and packs what a bug report needs."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from recall.cli.client import current_folder
from recall.core.errors import UsageError
from recall.wire.paths import StatePaths, state_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.doctor.case import Case, Finding

HELP = "find out what keeps recall from working, and mend what can be mended"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--fix", action="store_true", help="mend what can be mended without risk")
    parser.add_argument("--bundle", metavar="FILE", help="write a zip for a bug report, without a word of your text")


def run(arguments: argparse.Namespace) -> int:
    from recall.doctor.bundle import write_bundle
    from recall.doctor.examine import examine, mend

    target = _target(arguments.bundle)
    paths = StatePaths(state_home(arguments.home))
    case = _case(paths)
    findings = examine(case)
    if arguments.fix:
        findings = mend(findings, lambda: examine(_case(paths)), _tell)
    if target is not None:
        write_bundle(target, case, findings)
    if arguments.json:
        print(json.dumps(_json(paths, findings, target), ensure_ascii=False, indent=1))
    else:
        print(_text(findings, fixed=arguments.fix))
        if target is not None:
            print(f"wrote {target}: look into it before you send it; it holds no name and no text of yours")
    return 1 if any(finding.state == "problem" for finding in findings) else 0


def _target(named: str | None) -> Path | None:
    """The file for the bundle, None where none is wanted. Raises UsageError."""
    if named is None:
        return None
    if named.strip() in ("", "-"):
        raise UsageError(
            f"expected the name of a new file for the bundle, such as recall.zip, found {named!r}; it is a zip, and "
            "not printed"
        )
    target = Path(named).expanduser().absolute()
    if os.path.lexists(target):
        raise UsageError(f"expected a new file for the bundle, found that {target} exists; name another")
    return target


def _tell(finding: "Finding") -> None:
    """What is being mended: a new index takes minutes."""
    from recall.text.clean import one_line

    print(f"mending {finding.name}: {one_line(finding.found)}", file=sys.stderr, flush=True)


def _case(paths: StatePaths) -> "Case":
    from recall.doctor.case import Case

    return Case.here(paths, dict(os.environ), current_folder(), sys.platform)


def _json(paths: StatePaths, findings: "Sequence[Finding]", bundle: Path | None) -> dict[str, object]:
    checks = [
        {
            "name": finding.name,
            "state": finding.state,
            "code": finding.code,
            "found": finding.found,
            "advice": finding.advice,
            "fixable": finding.fixable,
        }
        for finding in findings
    ]
    problems = sum(finding.state == "problem" for finding in findings)
    return {"home": paths.home, "problems": problems, "checks": checks, "bundle": str(bundle) if bundle else None}


def _text(findings: "Sequence[Finding]", *, fixed: bool) -> str:
    """One line a finding, and the sum."""
    from recall.text.clean import one_line

    lines = []
    for finding in findings:
        words = one_line(" -> ".join(filter(None, (finding.found, finding.advice))))
        hint = " (--fix does it)" if finding.fixable and not fixed else ""
        lines.append(f"{finding.state:<8} {finding.name:<12} {words}{hint}")
    counts = {state: sum(finding.state == state for finding in findings) for state in ("problem", "note", "fixed")}
    plural = {"problem": "problems", "note": "notes", "fixed": "fixed"}
    said = [f"{count} {plural[state] if count != 1 else state}" for state, count in counts.items() if count]
    return "\n".join([*lines, ", ".join(said) or "all is well"])
