"""The sources of a run: what one has to offer, and those that there are, wired to the readers that know their files."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from recall.core.config import Config
from recall.core.errors import ConfigError, ShareError
from recall.core.types import KINDS, Document, FoundFile, Kind
from recall.replica.team import Team
from recall.sources import knowledge, others
from recall.sources.agents import record_folders
from recall.sources.conversations import Ending, Step
from recall.sources.knowledge import Folder
from recall.sources.memory import Scan
from recall.sources.projects import Projects
from recall.wire.paths import StatePaths

#: Days that conversations stay whose transcript was deleted, unless the configuration says otherwise.
KEEP_DAYS = 365


@dataclass(frozen=True, slots=True)
class Source:
    """Files that hold one record each. `scan` is called under the lock; `read` raises SourceError.

    `embedded`, of records that came from other machines of the team (they lie in no files): what these stored of a
    record, by its path and the model's identity; vector and sketch as bytes by the digest of each text.
    """

    kind: Kind
    scan: Callable[[], Scan]
    read: Callable[[FoundFile], Document]
    embedded: Callable[[str, str], Mapping[bytes, tuple[bytes, bytes]]] | None = None

    #: Records go with their files.
    keep_days = 0

    def follow(self, file: FoundFile, _state: str | None) -> Iterator[Step]:
        """The one step that reading such a file takes."""
        yield Step(self.read(file), lambda: None, anew=False, ending=Ending(title=None))


@dataclass(frozen=True, slots=True)
class GrowingSource:
    """Files that hold many records each and are appended to. `follow` is given what its last step left as `state`.

    `keep_days`: how long records stay whose file was deleted.
    """

    kind: Kind
    scan: Callable[[], Scan]
    follow: Callable[[FoundFile, str | None], Iterator[Step]]
    keep_days: int

    #: What was said on other machines comes as records of one file each.
    embedded = None


def sources_of(
    claude_folders: Sequence[Path],
    projects: Projects,
    *,
    with_conversations: bool = True,
    keep_days: int = KEEP_DAYS,
    rule_folders: Sequence[Folder] = (),
    agent_folders: Sequence[Path] = (),
) -> list[Source | GrowingSource]:
    """Everything that is indexed for these Claude folders and those of other agents; `projects` was discovered in the
    first just now.

    Without conversations those that were indexed go.
    """
    if with_conversations:
        talks = GrowingSource(
            "conversation", lambda: others.scan_conversations(projects, agent_folders), others.follow, keep_days
        )
    else:
        talks = GrowingSource("conversation", lambda: Scan([], [], projects), others.follow, keep_days=0)
    return [
        Source("memory", lambda: others.scan_notes(claude_folders, projects, agent_folders), others.read_note),
        Source("knowledge", lambda: knowledge.scan(claude_folders, projects, rule_folders), knowledge.read),
        talks,
    ]


def configured_sources(
    claude_folders: Sequence[Path], projects: Projects, config: Config
) -> list[Source | GrowingSource]:
    """The sources as the person's configuration wants them."""
    return sources_of(
        claude_folders,
        projects,
        with_conversations=config["conversations.enabled"],
        keep_days=config["conversations.keep_days"],
        rule_folders=[Folder(**table) for table in config["knowledge"]],
        agent_folders=agent_folders(config, os.environ),
    )


def agent_folders(config: Config, environment: Mapping[str, str]) -> list[Path]:
    """The folders of other agents whose sessions and memory notes are read; none where that is switched off.
    Raises ConfigError."""
    if not config["agents.sources"]:
        return []
    try:
        listed = [Path(folder).expanduser().absolute() for folder in config["agents.folders"]]
    except RuntimeError:
        names = config["agents.folders"]
        raise ConfigError(f"agents.folders: {names} names the home of a user who does not exist") from None
    return listed or record_folders(environment)


def team_sources(paths: StatePaths) -> list[Source]:
    """What the other machines of the team have shared; nothing of them where that cannot be read now, so that what is
    indexed of it stays."""
    team = Team(paths)
    try:
        team.offers  # noqa: B018  (looked up once, for all kinds)
    except ShareError:
        return []
    return [Source(kind, partial(team.scan, kind), team.read, team.embedded) for kind in KINDS]
