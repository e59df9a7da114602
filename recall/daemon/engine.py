"""What a question needs, held in memory: the model, the snapshot of the index and the projects."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from recall.core.errors import RecallError, StoreError
from recall.core.log import Log
from recall.daemon.liveconfig import LiveConfig
from recall.daemon.turnstile import Turnstile
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import Manifest
from recall.search.answer import Snapshot, take_snapshot
from recall.sources.projects import Projects, discover
from recall.store.reader import Reader, Rows, Summary
from recall.text.masking import mask
from recall.wire.paths import StatePaths

State = Literal["warming", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything that a question is answered from. It is replaced as a whole, so that nobody sees half a change."""

    manifest: Manifest
    embedder: Embedder
    snapshot: Snapshot
    projects: Projects


class Engine:
    """Loads and refreshes in the index thread; the question thread takes `ready` once a question and keeps it."""

    def __init__(self, paths: StatePaths, environment: Mapping[str, str], log: Log) -> None:
        self.paths = paths
        self.config = LiveConfig(paths.config)
        self.turnstile = Turnstile()
        self.ready: Ready | None = None
        self.failure = ""
        self.indexing = False  # whether records are being added at this moment
        self.summary = Summary()
        self._environment = environment
        self._log = log
        self._reader = Reader(Path(paths.index))
        self._seen: tuple[int, ...] | None = None  # the version of the index that the snapshot shows

    @property
    def state(self) -> State:
        return "ready" if self.ready else "failed" if self.failure else "warming"

    def claude_folders(self) -> list[Path]:
        return self.config.current().claude_folders(self._environment)

    def load(self) -> None:
        """Load the model and the index as it is; `state` and `failure` tell how it went."""
        try:
            manifest = find_model(self.config.current()["model"], Path(self.paths.models))
            embedder = Embedder(manifest)
            embedder.embed_query("warm up")  # the first run allocates what all later ones use
            mask("warm up")
            projects = discover(self.claude_folders())
            self.ready = Ready(manifest, embedder, self._read(embedder.identity), projects)
            self.failure = ""
            self._log.event("ready", model=manifest.name)
        except RecallError as error:
            self.failure = str(error)
            self._log.failure("load-failed", error)

    def refresh(self, projects: Projects) -> None:
        """Swap in what has changed: the projects always, the snapshot when the index was written since."""
        assert self.ready is not None  # noqa: S101  called by the thread that loads
        changed = self._version_of_index() != self._seen
        snapshot = self._read(self.ready.embedder.identity) if changed else self.ready.snapshot
        self.ready = replace(self.ready, snapshot=snapshot, projects=projects)

    def _read(self, identity: str) -> Snapshot:
        """A snapshot built beside the one in use. An index that cannot be read counts as empty: the next run sets it
        aside, or says what is wrong."""
        try:
            self._seen = self._version_of_index()
            rows = self._reader.load(identity)
            self.summary = self._reader.summary(identity)
        except StoreError as error:
            self._log.failure("read-failed", error)
            rows = Rows.none()
        return take_snapshot(rows.vectors, rows.row_documents, rows.documents, rows.projects, rows.generation)

    def _version_of_index(self) -> tuple[int, ...] | None:
        try:
            return self._reader.version()
        except StoreError:
            return None

    def close(self) -> None:
        """Close the index. Called when no thread works any more."""
        self._reader.close()
