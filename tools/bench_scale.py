"""A large index: how long it takes, what it holds, and what it costs the hook.

    python tools/bench_scale.py [--notes 2000] [--rules 1500] [--exchanges 3600] [--corpora FOLDER]

Records are made by repeating and varying the documents of the evaluation corpora (`../shared/corpora` beside the
checkout), half of them in one project that is asked in. A full run at the default size takes some 15 minutes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_machine import Machine, load_average, machine, spawn_to_end
from recall.cli.index import index
from recall.sources.projects import encode

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
QUESTIONS = (
    "which folder tells that BepInEx is installed in the renderer?",
    "doctest は pytest で自動的に集められる？",
    "how does the release pipeline publish a new version?",
)
CALLS = 60
EXCHANGES_A_SESSION = 12


def main() -> None:
    """Make the records, index them, ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--rules", type=int, default=1500)
    parser.add_argument("--exchanges", type=int, default=3600)
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    wanted = parser.parse_args()
    with machine() as made:
        write_records(made, wanted)
        age(made.home)
        print(f"{wanted.notes} notes, {wanted.rules} rules, {wanted.exchanges} exchanges; {load_average()}")
        for name in ("full", "unchanged"):
            report = index(made.paths)
            skipped = len(report["skipped"])
            print(f"{name} index: {report['seconds']:.1f} s, {report['chunks_embedded']} chunks, {skipped} skipped")
        daemon = made.start()
        ask(made)
        resident, size = daemon.memory_info().rss / 1e6, Path(made.paths.index).stat().st_size / 1e6
        print(f"resident: {resident:.0f} MB; index {size:.0f} MB")


def write_records(made: Machine, wanted: argparse.Namespace) -> None:
    """Notes and rules over two projects, the second of which nobody asks in; exchanges in the first."""
    projects = [made.project, made.home / "elsewhere"]
    trusted = {str(project): {"hasTrustDialogAccepted": True} for project in projects}
    (made.home / ".claude.json").write_text(json.dumps({"projects": trusted}), encoding="utf-8")
    notes = sorted(path for path in wanted.corpora.glob("*/memory/**/*.md") if path.name != "MEMORY.md")
    rules = sorted(path for path in wanted.corpora.glob("*/docs/adr/*.md") if path.name[0].isdigit())
    for number in range(wanted.notes):
        folder = made.claude / "projects" / encode(str(projects[number % 2])) / "memory"
        copy(notes[number % len(notes)], folder / f"note-{number}.md", number // len(notes))
    for number in range(wanted.rules):
        source = rules[number % len(rules)]
        place = projects[number % 2] / "docs" / "adr" / f"{number // len(rules)}-{source.name}"
        copy(source, place, number // len(rules))
    for project in projects:
        (project / ".git").mkdir(parents=True, exist_ok=True)
    folder = made.claude / "projects" / encode(str(made.project))
    for first in range(0, wanted.exchanges, EXCHANGES_A_SESSION):
        write_session(folder, made.project, first, notes)


def age(home: Path) -> None:
    """Let all files be an hour old, as a person's are: those of the last two seconds are read once more."""
    an_hour_ago = time.time() - 3600
    for path in home.rglob("*"):
        os.utime(path, (an_hour_ago, an_hour_ago))


def copy(source: Path, place: Path, copy_number: int) -> None:
    """A document with a number at the end of each line, so that no chunk is another's."""
    place.parent.mkdir(parents=True, exist_ok=True)
    lines = source.read_text("utf-8").splitlines()
    mark = f" {copy_number}" if copy_number else ""
    place.write_text("\n".join(line + mark if len(line) > 20 else line for line in lines), encoding="utf-8")


def write_session(folder: Path, project: Path, first: int, notes: list[Path]) -> None:
    """A transcript: a question about a note, answered by how its body begins."""
    name = f"session-{first}"
    common = {"sessionId": name, "cwd": str(project), "entrypoint": "cli", "timestamp": "2026-08-14T09:30:00Z"}
    lines = [json.dumps({"type": "custom-title", "customTitle": f"Work on matter {first}", "sessionId": name})]
    for number in range(first, first + EXCHANGES_A_SESSION):
        text = notes[number % len(notes)].read_text("utf-8").rpartition("---")[2].strip()
        person = {
            "type": "user",
            "uuid": f"u{number}",
            "message": {"role": "user", "content": f"{number}: {text[:150]}"},
        }
        answer = {"id": f"m{number}", "role": "assistant", "content": [{"type": "text", "text": text[150:1500]}]}
        lines += [json.dumps(common | person), json.dumps(common | {"type": "assistant", "message": answer})]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def ask(made: Machine) -> None:
    """The registered hook against a bare interpreter in one run, then ten at once."""
    command = made.registered_command()
    bare, hook, answered = [], [], 0
    for call in range(CALLS):
        bare.append(spawn_to_end([sys.executable, "-I", "-S", "-c", "pass"], b"")[0])
        spent, printed = spawn_to_end(command, made.message(QUESTIONS[call % len(QUESTIONS)], "one"))
        hook.append(spent)
        answered += bool(printed)
    middle = statistics.median(hook)
    print(f"hook: median {middle:.1f} ms, {middle / statistics.median(bare):.2f} of bare, {answered}/{CALLS} spoke")
    print(f"in the daemon: median {statistics.median(made.journal('one')):.1f} ms")
    for _ in range(3):
        messages = [made.message(QUESTIONS[0], "ten") for _ in range(10)]
        began = time.perf_counter()
        with ThreadPoolExecutor(10) as pool:
            times = [spent for spent, _ in pool.map(lambda data: spawn_to_end(command, data), messages)]
        print(f"ten at once: slowest {max(times):.0f} ms (all in {(time.perf_counter() - began) * 1000:.0f} ms)")


if __name__ == "__main__":
    try:
        main()
    except subprocess.SubprocessError as error:
        sys.exit(str(error))
