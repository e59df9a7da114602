"""Answers to questions: the hook's (a message in, one printed line out) and the `query` command's."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from recall.core.errors import DaemonRefused, UsageError
from recall.core.types import KINDS, Hit
from recall.daemon.asked import Asked
from recall.daemon.engine import Engine, Ready
from recall.daemon.journal import SECOND_CALL, Entry, Journal
from recall.daemon.loaded import LoadedIndexes
from recall.daemon.naming import project_name, scope_meant
from recall.daemon.prompt import Message, Start, empties_the_conversation, read_call, reason_to_skip
from recall.daemon.sessions import Session, Sessions
from recall.daemon.sketches import Sketches
from recall.daemon.starts import Starts
from recall.embed.encoder import Heads
from recall.embed.gates import with_own
from recall.search.answer import Result, Rules, ask, choose, hand_over, search
from recall.search.gate import learned
from recall.search.score import Source
from recall.search.select import Asker
from recall.sources.sessions import asked_by_program

#: Most hits that `query` may ask for.
MAX_LIMIT = 1000
NOTHING = Result()


@dataclass(frozen=True, slots=True)
class Decision:
    """What one message gets: the printed line (empty for silence), the records in it, and how it came to that.

    `held` and `cut` are paths, `muted` a count, as in the journal's Entry.
    """

    reason: str
    line: str = ""
    items: Sequence[Hit] = ()
    result: Result = NOTHING
    emptied: bool = False
    held: Sequence[str] = ()
    cut: Sequence[str] = ()
    muted: int = 0


UNREADABLE = Decision("unreadable")


class Answers:
    """Reads questions and answers them, in the question thread, one after another; embedding happens in between."""

    def __init__(self, engine: Engine, journal: Journal) -> None:
        self._engine = engine
        self._journal = journal
        self._loaded = LoadedIndexes()
        self._sessions = Sessions()
        self._sessions.restore(journal.shown())
        self._starts = Starts(engine, journal)
        self._sketches = Sketches(Path(engine.paths.index))

    def hook(self, body: bytes) -> Asked:
        """A call of the hook, answered by the line that it prints, empty for silence.

        The journal learns which, not the message. Of two calls for one prompt the second is told here, in one thread
        and before anything is embedded, so that not both are answered.
        """
        started = time.perf_counter()
        message = read_call(body)
        session = self._sessions.of(message.session if message else None)
        if isinstance(message, Start):
            return self._starts.asked(message, session, self._ready)
        silence = self._silence(message, session)
        if message is None or silence:
            return Asked(lambda _: self._tell(message, session, silence or UNREADABLE, started))
        ready = self._ready()

        def answer(heads: Heads) -> bytes:
            return self._tell(message, session, self._decide(ready, heads, message, session), started)

        return Asked(answer, ready.model.embedder, message.gist)

    def query(self, fields: Mapping[str, Any]) -> Asked:
        """A question of `recall query`, answered by what its `--json` prints (DESIGN.md, section 5).

        Raises UsageError for wrong fields.
        """
        started = time.perf_counter()
        question, cwd, session = fields.get("question"), fields.get("cwd"), fields.get("session")
        if not isinstance(question, str) or not question.strip():
            raise UsageError("the question is empty; write what you are looking for")
        message = Message(
            question.strip(),
            cwd if isinstance(cwd, str) else None,
            session=session if isinstance(session, str) else None,
        )
        ready = self._ready()
        scope: frozenset[str] | None = ready.projects.current(message.cwd, None)
        auto = bool(fields.get("auto"))
        if fields.get("all") and not auto:
            scope = None
        elif fields.get("repo") is not None and not auto:
            scope = scope_meant(str(fields["repo"]), ready.projects, ready.snapshot.project_keys)
        kinds = [kind for kind in KINDS if fields.get("kind") in (None, kind)]
        limit = min(max(int(fields.get("limit") or 10), 1), MAX_LIMIT)
        silence = self._silence(message, Session()) if auto else None

        def answer(heads: Heads) -> bytes:
            extra: dict[str, Any] = {}
            if auto:
                decision = silence or self._decide(ready, heads, message, Session())
                result, hits, reason = decision.result, decision.items, decision.reason
                printed = json.loads(decision.line)["hookSpecificOutput"] if decision.line else {}
                extra = {"additional_context": printed.get("additionalContext")}
            else:
                result = self._search(ready, heads, message, scope, self._rules(ready), kinds=kinds, limit=limit)
                hits, reason = result.hits, result.reason
            found = {
                "tier": result.tier,
                "gap": round(result.gap, 4),
                "top": round(result.top, 4),
                "probability": round(result.probability, 3),
                "reason": reason,
                "signs": {name: round(value, 3) for name, value in result.signs.items()},
                "project": project_name(ready.projects, scope) if scope is not None else None,
                "hits": [_hit(hit) for hit in hits],
                "model": ready.model.manifest.name,
                "indexing": self._engine.indexing,
                "ms": round((time.perf_counter() - started) * 1000, 1),
            }
            return json.dumps(found | extra).encode()  # ASCII: lone surrogates in a path must not make it an error

        if silence:
            return Asked(answer)
        return Asked(answer, ready.model.embedder, message.gist if auto else message.to_search)

    def close(self) -> None:
        """Close the index. Called when the question thread has ended."""
        self._sketches.close()

    def _tell(self, message: Message | None, session: Session, decision: Decision, started: float) -> bytes:
        """The printed line of a decision, once session and journal know of it."""
        session.shown.update(hit.path for hit in decision.items)
        self._journal.add(
            Entry(
                session=message.session if message else None,
                tier=decision.result.tier,
                reason=decision.reason,
                gap=decision.result.gap,
                top=decision.result.top,
                items=decision.items,
                size=len(decision.line.encode()),
                ms=(time.perf_counter() - started) * 1000,
                emptied=decision.emptied,
                probability=decision.result.probability,
                signs=decision.result.signs,
                ranked=decision.result.candidates,
                held=decision.held,
                cut=decision.cut,
                muted=decision.muted,
                prompt=message.prompt_id if message else None,
            )
        )
        return decision.line.encode()

    def _silence(self, message: Message | None, session: Session) -> Decision | None:
        """Why nothing is searched for a message; None when something is."""
        if message and session.is_second_call(message.prompt, message.prompt_id):
            return Decision(SECOND_CALL)
        config = self._engine.config.current()
        reason = "disabled" if not config["enabled"] else reason_to_skip(message, config["hook.min_characters"])
        if message and empties_the_conversation(message.prompt):
            session.forget()
            return Decision(reason or "command", emptied=True)
        if message is None or reason:
            return Decision(reason) if reason else UNREADABLE
        return Decision("machine") if message.transcript and asked_by_program(message.transcript) else None

    def _decide(self, ready: Ready, heads: Heads, message: Message, session: Session) -> Decision:
        """Search for a message and render what the gate and the session let through."""
        emptied = session.look(message.transcript)
        scope = ready.projects.current(message.cwd, message.transcript)
        muted, rules = self._engine.mutes.muted(message.session, scope), self._rules(ready)
        result = self._search(ready, heads, message, scope, rules, muted=muted)
        asker = Asker(
            projects=scope,
            shown=session.shown,
            at_hand={
                hit.path for hit in result.candidates if session.has_opened(hit.path) or self._loaded.names(hit.path)
            },
        )
        config = self._engine.config.current()
        language = ready.snapshot.language if config["language"] == "auto" else config["language"]
        chosen = choose(result, rules, asker)
        printed = hand_over(chosen, result.tier, language, message.event)
        items = printed.hits if printed else ()
        shown = {hit.path for hit in items}
        wanted = choose(result, rules, replace(asker, shown=()))
        silence = "already shown" if result.tier != "none" else result.reason
        return Decision(
            reason=result.reason if printed else silence,
            line=printed.line if printed else "",
            items=items,
            result=result,
            emptied=emptied,
            held=[hit.path for hit in wanted if hit.path in session.shown],
            cut=[hit.path for hit in chosen if hit.path not in shown],
            muted=len(muted),
        )

    def _search(
        self,
        ready: Ready,
        heads: Heads,
        message: Message,
        scope: frozenset[str] | None,
        rules: Rules,
        **options: Any,
    ) -> Result:
        late = ready.model.late
        return search(
            Source(ready.snapshot, late, self._sketches.of(ready.snapshot.generation)),
            ask(heads, late, message.to_search),
            rules,
            projects=scope,
            session=message.session,
            **options,
        )

    def _rules(self, ready: Ready) -> Rules:
        manifest = with_own(ready.model.manifest, self._engine.gates.current())
        rules = Rules.of(manifest, self._engine.config.current()["gate"])
        return replace(rules, calibration=learned(rules.calibration, self._engine.mutes.wrong()))

    def _ready(self) -> Ready:
        ready = self._engine.ready
        if ready is None:
            raise DaemonRefused(self._engine.failure or "the daemon is still warming up; try again in a moment")
        return ready


def _hit(hit: Hit) -> dict[str, Any]:
    """A hit as `query --json` shows it; what a kind does not have is left out."""
    fields = asdict(hit) | {
        "score": round(hit.score, 4),
        "signs": {name: round(value, 4) for name, value in hit.signs.items()},
    }
    usual = ("rank", "score", "kind", "name", "description", "path", "project", "date")
    return {key: value for key, value in fields.items() if key in usual or value is not None}
