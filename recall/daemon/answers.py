"""Answers to questions: the hook's (a message in, one printed line out) and the `query` command's."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recall.core.errors import DaemonRefused, UsageError
from recall.core.types import Hit, Project
from recall.daemon.engine import Engine, Ready
from recall.daemon.journal import Entry, Journal
from recall.daemon.prompt import EVENT, Message, Skip, gist, read_message
from recall.search.answer import KINDS, Result, context, search
from recall.search.gate import CANDIDATES
from recall.sources.projects import Projects
from recall.sources.repository import is_path

#: An error lists at most so many projects.
MAX_LISTED = 12
#: Most hits that `query` may ask for.
MAX_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class Decision:
    """What one message gets: the printed line (empty for silence), the records in it, and how it came to that."""

    line: bytes
    items: Sequence[Hit]
    result: Result
    reason: str


class Answers:
    """Works in the question thread, one question at a time."""

    def __init__(self, engine: Engine, journal: Journal) -> None:
        self._engine = engine
        self._journal = journal

    def hook(self, body: bytes) -> bytes:
        """The line that the hook prints for its stdin, empty for silence. The journal learns which, not the message."""
        started = time.perf_counter()
        config = self._engine.config.current()
        message = read_message(body, config["hook.min_characters"])
        if not config["enabled"]:
            message = Skip("disabled")
        session = message.session if isinstance(message, Message) else None
        decision = self._decide(message)
        self._journal.add(
            Entry(
                session=session,
                tier=decision.result.tier,
                reason=decision.reason,
                gap=decision.result.gap,
                top=decision.result.top,
                items=decision.items,
                size=len(decision.line),
                ms=(time.perf_counter() - started) * 1000,
            )
        )
        return decision.line

    def query(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What `recall query --json` prints (DESIGN.md, section 5). Raises UsageError for wrong fields."""
        started = time.perf_counter()
        question, cwd = fields.get("question"), fields.get("cwd")
        if not isinstance(question, str) or not question.strip():
            raise UsageError("the question is empty; write what you are looking for")
        cwd = cwd if isinstance(cwd, str) else None
        ready = self._ready()
        extra: dict[str, Any] = {}
        if fields.get("auto"):
            message = {"prompt": question, "cwd": cwd, "hook_event_name": EVENT}
            decision = self._decide(read_message(_json(message), self._engine.config.current()["hook.min_characters"]))
            result, hits, reason = decision.result, decision.items, decision.reason
            line = json.loads(decision.line)["hookSpecificOutput"]["additionalContext"] if decision.line else None
            extra = {"additional_context": line}
            project = _project_name(ready.projects, ready.projects.current(cwd, None))
        else:
            scope = ready.projects.current(cwd, None)
            if fields.get("repo") is not None:
                scope = frozenset({_project_meant(str(fields["repo"]), ready.projects).key})
            kinds = [kind for kind in KINDS if fields.get("kind") in (None, kind)]
            limit = min(max(int(fields.get("limit") or 10), 1), MAX_LIMIT)
            vector = ready.embedder.embed_query(gist(question))
            result = search(ready.snapshot, vector, ready.manifest.gate, projects=scope, kinds=kinds, limit=limit)
            hits, reason, project = result.hits, result.reason, _project_name(ready.projects, scope)
        return {
            "tier": result.tier,
            "gap": round(result.gap, 4),
            "top": round(result.top, 4),
            "reason": reason,
            "project": project,
            "hits": [asdict(hit) | {"score": round(hit.score, 4)} for hit in hits],
            "indexing": self._engine.indexing,
            "ms": round((time.perf_counter() - started) * 1000, 1),
        } | extra

    def _decide(self, message: Message | Skip) -> Decision:
        """Search for a message and render what the gate lets through."""
        if isinstance(message, Skip):
            return Decision(b"", (), Result("none", 0.0, 0.0, "no records", (), ()), message.reason)
        ready, config = self._ready(), self._engine.config.current()
        scope = ready.projects.current(message.cwd, message.transcript)
        vector = ready.embedder.embed_query(gist(message.prompt))
        gate, snapshot = ready.manifest.gate, ready.snapshot
        result = search(snapshot, vector, gate, projects=scope, limit=CANDIDATES)
        language = snapshot.language if config["language"] == "auto" else config["language"]
        printed = context(result, gate, language, scope, message.event)
        if printed is None:
            return Decision(b"", (), result, result.reason)
        return Decision(printed.line.encode(), printed.hits, result, result.reason)

    def _ready(self) -> Ready:
        ready = self._engine.ready
        if ready is None:
            raise DaemonRefused(self._engine.failure or "the daemon is still warming up; try again in a moment")
        return ready


def _project_meant(name: str, projects: Projects) -> Project:
    """The one project that `--repo NAME` names. Raises UsageError with the candidates."""
    found = projects.named(name)
    if len(found) == 1:
        return found[0]
    listed = sorted(project.name for project in found or projects)
    names = ", ".join(listed[:MAX_LISTED]) + (f" and {len(listed) - MAX_LISTED} more" if listed[MAX_LISTED:] else "")
    if found:
        raise UsageError(f"{name!r} could be several projects; write more of the path: {names}")
    raise UsageError(f"no project is called {name!r}; known are: {names or 'none yet'}")


def _project_name(projects: Projects, scope: frozenset[str]) -> str | None:
    """The short name of the project in scope, None where nothing is known of it.

    A project whose path no transcript tells (they are deleted after 30 days) is named by the asker's path.
    """
    known = sorted(scope & projects.by_key.keys())
    if not known:
        return None
    key = next(filter(is_path, sorted(scope)), known[0])
    return projects.by_key[key].name if key in projects.by_key else Path(key).name


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
