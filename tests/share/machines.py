"""Machines of a team for tests: folders of their own each, notes, rules and sessions, one model for all of them."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from recall.core.config import load_config
from recall.core.types import AnyRecord, Kind
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.index.pipeline import run
from recall.index.sources import configured_sources, team_sources
from recall.index.work import Report
from recall.late.late import Late
from recall.replica.membership import Membership
from recall.share.membership import Joining, agree, join, membership
from recall.share.sync import Exchange, exchange
from recall.sources.projects import discover
from recall.store.reader import Reader
from recall.wire.paths import StatePaths

MODEL = "multilingual-e5-small"


@cache
def model() -> tuple[Embedder, Late]:
    """The bundled model, loaded once for all machines of a test run."""
    embedder = Embedder(find_model(MODEL, None))
    return embedder, Late(embedder)


class Machine:
    """One person's machine under `root`. What it does it does in this process, or by `command` in one of its own."""

    def __init__(self, root: Path, name: str, person: str = "") -> None:
        self.name = name
        self.person = person or f"owner-of-{name}"
        self.home = root / name
        self.claude = self.home / ".claude"
        self.project = self.home / "work" / "api"
        (self.project / ".git").mkdir(parents=True)
        self.paths = StatePaths(str(self.home / "state"))
        self.password = ""
        self.open_session(self.project)

    def open_session(self, project: Path, name: str = "opened", title: str = "", prompt: str = "hello there") -> Path:
        """A session of a person in a project, by which recall learns the project's true path."""
        path = self.folder(project) / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        common = {"sessionId": name, "cwd": str(project.resolve()), "entrypoint": "cli"}
        lines: list[dict[str, Any]] = [
            common
            | {"type": "user", "uuid": f"{name}-1", "timestamp": "2026-08-14T09:30:00Z"}
            | {"origin": {"kind": "human"}, "promptSource": "typed"}
            | {"message": {"role": "user", "content": prompt}},
            common
            | {"type": "assistant", "uuid": f"{name}-2", "timestamp": "2026-08-14T09:30:10Z"}
            | {"message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "done"}]}},
        ]
        if title:
            lines.append({"type": "custom-title", "customTitle": title, "sessionId": name})
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
        return path

    def folder(self, project: Path) -> Path:
        """Claude Code's folder for a project."""
        return self.claude / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project.resolve()))

    def note(self, name: str, description: str, body: str, *, extra: str = "", project: Path | None = None) -> Path:
        """Write a memory note; its path. `extra`: further lines of its frontmatter."""
        path = self.folder(project or self.project) / "memory" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\nname: {name}\ndescription: {description}\n{extra}---\n\n{body}\n", encoding="utf-8", newline="\n"
        )
        return path

    def rule(self, name: str, text: str) -> Path:
        """Write a rule into the repository, which the person trusts; its path."""
        trusted = {str(self.project.resolve()): {"hasTrustDialogAccepted": True}}
        for place in (self.home / ".claude.json", self.claude / ".claude.json"):
            place.write_text(json.dumps({"projects": trusted}), encoding="utf-8")
        path = self.project / ".claude" / "rules" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    def configure(self, text: str) -> None:
        Path(self.paths.home).mkdir(mode=0o700, parents=True, exist_ok=True)
        Path(self.paths.config).write_text(text, encoding="utf-8")

    @property
    def member(self) -> Membership:
        return membership(self.paths)

    def join(self, url: str, password: str, *, make: bool = False, grant: str | None = None) -> Membership:
        """Join a team, as someone who wants records to be exchanged; the first machine makes it."""
        self.password = password
        wanted = Joining(url, self.name, self.person, make=make, grant=grant)
        member, _ = join(self.paths, wanted, lambda _: password)
        return agree(self.paths, member)

    def sync(self, *, url: str | None = None, identity: str | None = None) -> Exchange:
        """Exchange records with the server."""
        member = self.member if url is None else replace(self.member, url=url)
        config = load_config(Path(self.paths.config))
        identity = model()[0].identity if identity is None else identity
        return exchange(self.paths, member, [self.claude], config, identity, password=self.password)

    def index(self) -> Report:
        """Bring the index up to date with the bundled model."""
        embedder, late = model()
        Path(self.paths.home).mkdir(mode=0o700, parents=True, exist_ok=True)
        config = load_config(Path(self.paths.config))
        sources = configured_sources([self.claude], discover([self.claude]), config)
        return run(self.paths, [*sources, *team_sources(self.paths)], embedder, late)

    def records(self) -> list[AnyRecord]:
        """What the index holds, whole records only."""
        reader = Reader(Path(self.paths.index))
        try:
            return list(reader.load(model()[0].identity).documents)
        finally:
            reader.close()

    def vectors(self, kind: Kind) -> list[bytes]:
        """The stored vectors of the records of a kind that are this machine's own."""
        with closing(sqlite3.connect(self.paths.index)) as connection:
            rows = connection.execute(
                """SELECT vector FROM embedding WHERE digest IN (
                    SELECT digest FROM chunk JOIN document ON document.id = document_id
                    JOIN file ON file.id = file_id WHERE kind = ? AND origin IS NULL)""",
                (kind,),
            ).fetchall()
        return [vector for (vector,) in rows]

    def team_names(self) -> list[str]:
        """`machine: name` of each record that came from others, in order."""
        return sorted(f"{record.origin}: {record.name}" for record in self.records() if record.origin is not None)

    def environment(self) -> dict[str, str]:
        """For processes of this machine."""
        own = {"HOME": str(self.home), "USERPROFILE": str(self.home), "RECALL_HOME": self.paths.home}
        return {**os.environ, **own, "CLAUDE_CONFIG_DIR": str(self.claude)}

    def command(self, *words: str, check: bool = True, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run a recall command in the project's folder."""
        done = subprocess.run(
            [sys.executable, "-m", "recall", *words],
            cwd=self.project, capture_output=True, encoding="utf-8", timeout=120, stdin=subprocess.DEVNULL,
            env={**self.environment(), **environment},
        )  # fmt: skip
        assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def serve(self) -> None:
        """Start the daemon, and wait until it answers."""
        self.command("query", "is anybody there?")

    def context(self, prompt: str, session: str = "s-1") -> str | None:
        """What the hook hands over for a message typed in the project, None for silence."""
        message = {"session_id": session, "cwd": str(self.project), "prompt": prompt}
        message["hook_event_name"] = "UserPromptSubmit"
        done = subprocess.run(
            [sys.executable, "-m", "recall", "hook", "--home", self.paths.home, "--budget", "5000"],
            input=json.dumps(message).encode(), cwd=self.project, capture_output=True, timeout=30,
            env={**self.environment(), "CLAUDE_CODE_ENTRYPOINT": "cli"},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else None


def exchanged(machines: list[Machine]) -> None:
    """Each exchanges twice without vectors: what the last one brings, the first one gets in the second round."""
    for machine in [*machines, *machines]:
        machine.sync(identity="")
