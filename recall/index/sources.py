"""The sources of a run: what one has to offer, and those that there are, wired to the readers that know their files."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recall.core.config import Config
from recall.core.types import Document, FoundFile, Kind
from recall.sources import conversations, knowledge, memory
from recall.sources.conversations import Ending, Step
from recall.sources.knowledge import Folder
from recall.sources.memory import Scan
from recall.sources.projects import Projects

#: Days that conversations stay whose transcript was deleted, unless the configuration says otherwise.
KEEP_DAYS = 365


@dataclass(frozen=True, slots=True)
class Source:
    """Files that hold one record each. `scan` is called under the lock; `read` raises SourceError."""

    kind: Kind
    scan: Callable[[], Scan]
    read: Callable[[FoundFile], Document]

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


def sources_of(
    claude_folders: Sequence[Path],
    projects: Projects,
    *,
    with_conversations: bool = True,
    keep_days: int = KEEP_DAYS,
    rule_folders: Sequence[Folder] = (),
) -> list[Source | GrowingSource]:
    """Everything that is indexed for these Claude folders; `projects` was discovered in them just now.

    Without conversations those that were indexed go.
    """
    if with_conversations:
        talks = GrowingSource("conversation", lambda: conversations.scan(projects), conversations.follow, keep_days)
    else:
        talks = GrowingSource("conversation", lambda: Scan([], [], projects), conversations.follow, keep_days=0)
    return [
        Source("memory", lambda: memory.scan(claude_folders, projects), memory.read),
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
    )
