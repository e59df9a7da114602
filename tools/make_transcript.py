"""Makes a large synthetic transcript, and measures what indexing it takes.

    python tools/make_transcript.py make FILE --megabytes 2000 --long-line 300
    python tools/make_transcript.py measure --megabytes 2000 --long-line 300

A session of ordinary shape: a message, a little text, and much in tool results. `measure` puts it into a throw-away
Claude folder, indexes it in a process of its own and prints time and peak memory, then once more with nothing changed,
then with one exchange more.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1_000_000
#: So much stands in tool results for each exchange.
TOOL_BYTES_AN_EXCHANGE = 4 * MEGABYTE
_TOOL_LINE_BYTES = 200_000
_WORDS = "the cache key of a tenant expires before its session so that the worker retries the upload twice".split()

#: Prints one line of JSON: what the run reports, and the most memory that the process had, in MB.
_INDEX = """
import json, resource, sys
from dataclasses import asdict
from pathlib import Path
from recall.embed.embedder import Embedder
from recall.embed.catalog import find_model
from recall.index.pipeline import run
from recall.index.sources import sources_of
from recall.late.late import Late
from recall.sources.projects import discover
from recall.wire.paths import StatePaths

state, claude = sys.argv[1], Path(sys.argv[2])
embedder = Embedder(find_model("multilingual-e5-small", None))
late = Late(embedder)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
report = asdict(run(StatePaths(state), sources_of([claude], discover([claude])), embedder, late))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps(report | {"model_mb": before * unit / 1e6, "peak_mb": peak * unit / 1e6}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make")
    make.add_argument("file", type=Path)
    for command in (make, commands.add_parser("measure")):
        command.add_argument("--megabytes", type=int, default=2000, help="size of the file without the long line")
        command.add_argument(
            "--long-line", type=int, default=300, help="size of one line in the middle, in MB; 0: none"
        )
    arguments = parser.parse_args()
    if arguments.command == "make":
        exchanges = write_transcript(arguments.file, arguments.megabytes, arguments.long_line)
        print(f"{arguments.file}: {arguments.file.stat().st_size / MEGABYTE:.0f} MB, {exchanges} exchanges")
    else:
        measure(arguments.megabytes, arguments.long_line)


def measure(megabytes: int, long_line: int) -> None:
    """Index a new transcript of this size and print what that took."""
    with tempfile.TemporaryDirectory(prefix="recall-transcript-") as folder:
        state, claude = Path(folder, "state"), Path(folder, "claude")
        transcript = claude / "projects" / "-srv-app" / "11111111-2222-4333-8444-555555555555.jsonl"
        transcript.parent.mkdir(parents=True)
        state.mkdir()
        exchanges = write_transcript(transcript, megabytes, long_line)
        print(f"transcript: {transcript.stat().st_size / MEGABYTE:.0f} MB, {exchanges} exchanges")
        show("first run", index(state, claude))
        show("nothing changed", index(state, claude))
        with transcript.open("ab") as file:
            for line in exchange(exchanges, 0):
                write_line(file, line)
        show("one exchange more", index(state, claude))


def index(state: Path, claude: Path) -> dict[str, Any]:
    """The report of a run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _INDEX, str(state), str(claude)], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def show(what: str, report: dict[str, Any]) -> None:
    print(
        f"{what}: {report['seconds']:.1f} s, {report['chunks_embedded']} chunks embedded,"
        f" peak {report['peak_mb']:.0f} MB (with the model alone {report['model_mb']:.0f} MB),"
        f" {len(report['skipped'])} skipped"
    )


def write_transcript(path: Path, megabytes: int, long_line: int) -> int:
    """Write a transcript of about this size with one line of `long_line` MB in the middle; the number of exchanges."""
    number = written = 0
    long_line_is_due = long_line > 0
    with path.open("wb") as file:
        write_line(file, {"type": "mode", "mode": "normal", "sessionId": path.stem})
        while written < megabytes * MEGABYTE or number == 0:
            for line in exchange(number, min(TOOL_BYTES_AN_EXCHANGE, megabytes * MEGABYTE)):
                written += write_line(file, line)
            number += 1
            if long_line_is_due and written * 2 >= megabytes * MEGABYTE:
                long_line_is_due = False
                write_long_line(file, long_line)
        write_line(file, {"type": "ai-title", "aiTitle": "Uploads of expired tenants"})
    return number


def exchange(number: int, tool_bytes: int) -> Iterator[dict[str, Any]]:
    """The records of one exchange."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_790_000_000 + number * 60))
    common = {"isSidechain": False, "entrypoint": "cli", "cwd": "/srv/app", "timestamp": stamp}

    def record(kind: str, place: str, content: object, **more: object) -> dict[str, Any]:
        message = {"id": f"msg_{number}", "role": kind, "content": content}
        return {"type": kind, "uuid": f"{number:08}-{place}", "message": message, **common, **more}

    words = " ".join(_WORDS[(number * step) % len(_WORDS)] for step in range(3, 60))
    yield record("user", "ask", f"Question {number}: why does {words}?", promptSource="typed")
    yield record("assistant", "look", [{"type": "text", "text": f"Let me look into case {number}."}])
    for place in range(0, tool_bytes, _TOOL_LINE_BYTES):
        result = {
            "type": "tool_result",
            "tool_use_id": f"tool_{place}",
            "content": "line of a log\n" * (_TOOL_LINE_BYTES // 14),
        }
        yield record("user", f"tool-{place}", [result], toolUseResult="")
    yield record("assistant", "end", [{"type": "text", "text": f"In case {number} {words}. " * 3}])


def write_line(file: BinaryIO, record: dict[str, Any]) -> int:
    return file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def write_long_line(file: BinaryIO, megabytes: int) -> None:
    """A tool result of this size, without having it in memory."""
    file.write(b'{"type": "user", "message": {"content": [{"type": "tool_result", "content": "')
    for _ in range(megabytes):
        file.write(b"x" * MEGABYTE)
    file.write(b'"}]}}\n')


if __name__ == "__main__":
    main()
