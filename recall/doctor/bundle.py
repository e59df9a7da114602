"""The bundle for a bug report: one zip that tells how the program is, and not a word of what the person wrote.

about.json          versions, system, processor, memory, devices
doctor.json         each finding as its fixed words and numbers, without its sentences
configuration.json  every setting, paths and names reduced
counts.json         how much the index and the journals hold, by fixed words
hook.log, daemon.log, index.log   the newest lines, each checked word by word
"""

import contextlib
import importlib
import importlib.metadata
import io
import json
import os
import platform
import re
import sqlite3
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError, StoreError, UsageError
from recall.core.types import KINDS
from recall.daemon.journal import last_day
from recall.doctor.case import Case, Finding
from recall.doctor.journals import lines_of
from recall.doctor.reduce import Reducer, kept, newest
from recall.embed.catalog import find_model
from recall.insight.reasons import NO_ANSWER, NOT_SEARCHED, SEARCHED
from recall.store.reader import Reader
from recall.version import BUILD, PROTOCOL, VERSION
from recall.wire.spawn import is_frozen

#: Lines of each log.
MOST_LINES = 1000
#: In the packed program: what it is made of, a part a line (`recall licenses`).
PARTS = Path(__file__).parents[1] / "_licenses.txt"
LIBRARIES = ("onnxruntime", "tokenizers", "numpy", "psutil", "psycopg")
#: Why a session has no records, by the index.
_LEFT_OUT = frozenset({"automated", "sidechain", "empty"})
#: A word that can only be one of ours, or of the system's: a release, a kind of processor.
_WORD = re.compile(r"[A-Za-z0-9_.+/ ,-]{1,40}")


def write_bundle(target: Path, case: Case, findings: Sequence[Finding]) -> None:
    """Write the zip, readable by the person alone. Raises UsageError, RecallError where the disk refuses."""
    if not target.parent.is_dir():
        raise UsageError(f"expected a folder for the bundle, found no {target.parent}; make it or name another")
    reducer = Reducer(Path(case.environment.get("HOME") or os.path.expanduser("~")))  # noqa: PTH111
    replace_bytes(target, packed(contents(case, findings, reducer)), 0o600)


def packed(files: Mapping[str, str]) -> bytes:
    """The files as a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def contents(case: Case, findings: Sequence[Finding], reducer: Reducer) -> dict[str, str]:
    """The text of each file."""
    files: dict[str, Any] = {
        "about.json": _about(case, reducer),
        "doctor.json": [_of(finding) for finding in findings],
        "configuration.json": {
            "readable": not case.config_problem,
            "values": reducer.configuration(case.config.values),
        },
        "counts.json": _counts(case),
    }
    texts = {name: json.dumps(value, indent=1) for name, value in files.items()}
    logs = {
        "hook.log": (case.paths.hook_log, reducer.hook_line),
        "daemon.log": (case.paths.daemon_log, reducer.daemon_line),
        "index.log": (case.paths.index_log, reducer.index_line),
    }
    for name, (path, reduce) in logs.items():
        lines, left_out = newest(map(reduce, lines_of(Path(path))), MOST_LINES)
        texts[name] = "\n".join([*lines, f"({left_out} lines left out)", ""])
    return texts


def _of(finding: Finding) -> dict[str, object]:
    """A finding without its sentences, which name files."""
    facts = {name: value if not isinstance(value, str) else _plain(value) for name, value in finding.facts.items()}
    return {
        "name": finding.name, "state": finding.state, "code": finding.code, "fixable": finding.fixable, "facts": facts,
    }  # fmt: skip


def _about(case: Case, reducer: Reducer) -> dict[str, object]:
    says = case.serve.says or {}
    return {
        "recall": VERSION,
        "build": BUILD,
        "protocol": PROTOCOL,
        "packed": is_frozen(),
        "python": platform.python_version(),
        "libraries": {name: version_of(name) for name in LIBRARIES} | {"sqlite": sqlite3.sqlite_version},
        "system": _plain(platform.system()),
        "release": "".join(re.findall(r"^[\d.]+", platform.release())),  # a kernel may be called anything
        "machine": _plain(platform.machine()),
        "libc": _plain("-".join(platform.libc_ver())),
        "processors": os.cpu_count(),
        "memory_mb": psutil.virtual_memory().total // 10**6,
        "encoding": _plain(sys.getfilesystemencoding()),
        "state_folder": reducer.path(case.paths.home),
        "daemon": {
            "held": case.serve.held,
            "state": _plain(str(says.get("state"))),
            "build": says.get("build") if isinstance(says.get("build"), int) else None,
            "model": reducer.model(str(says["model"])) if says.get("model") else None,
            "device": _device(str(says.get("device"))),
            "rss_mb": says.get("rss_mb") if isinstance(says.get("rss_mb"), float) else None,
        },
    }


def version_of(library: str) -> str | None:
    """None where it is not there. The packed program holds the libraries without their metadata: its list of parts
    names them, and most know it themselves."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return _plain(importlib.metadata.version(library))
    with contextlib.suppress(OSError):
        if found := re.search(rf"(?im)^{library} (\S+)", PARTS.read_text("utf-8")):
            return _plain(found[1])
    try:
        said = getattr(importlib.import_module(library), "__version__", None)
    except Exception:  # a driver whose own library is missing raises what it likes
        return None
    return _plain(str(said)) if said else None


def _device(words: str) -> str:
    """The kind of device; the name of a card is no secret, but stands in a text that is not ours."""
    found = re.match(r"CPU, \d+ threads?|CUDA|CoreML", words)
    return found[0] if found else "?"


def _counts(case: Case) -> dict[str, object]:
    nowhere = case.home / "nowhere"
    files = [path if path.is_file() else nowhere for path in map(Path, (case.paths.injections, case.paths.hook_log))]
    day = asdict(last_day(files[0], files[1], case.now))
    day["silent"] = kept(day["silent"], {*NOT_SEARCHED, *SEARCHED, *NO_ANSWER})
    found: dict[str, object] = {"last_24h": day, "claude_folders": len(case.claude), "settings": len(case.settings)}
    reader = Reader(Path(case.paths.index))
    try:
        identity = find_model(case.config["model"], Path(case.paths.models)).identity
        summary = reader.summary(identity) if Path(case.paths.index).is_file() else None
    except (StoreError, RecallError) as error:
        return found | {"index": type(error).__name__}
    finally:
        reader.close()
    if summary is None:
        return found | {"index": None}
    return found | {
        "index": {
            "bytes": summary.bytes,
            "documents": {kind: summary.documents.get(kind, 0) for kind in KINDS},
            "rows": {kind: summary.rows.get(kind, 0) for kind in KINDS},
            "projects": len({share.project.key for share in summary.shares}),
            "pending": summary.pending,
            "skipped": len(summary.skipped),
            "left_out": kept(summary.left_out, _LEFT_OUT),
            "damaged_lines": summary.damaged_lines,
            "masked": sum(summary.masked.values()),
            "set_aside": summary.damaged is not None,
        }
    }


def _plain(text: str) -> str:
    return text if _WORD.fullmatch(text) else "?"
