"""What a question needs, held in memory: the model, the snapshot of the index and the projects."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from recall.core.config import Config, load_config
from recall.core.errors import ModelError, RecallError, StoreError
from recall.core.log import Log
from recall.daemon.live import Live
from recall.daemon.mutes import Mutes
from recall.daemon.turnstile import Turnstile
from recall.embed.catalog import find_model
from recall.embed.devices import Wanted as Device
from recall.embed.embedder import Embedder
from recall.embed.gates import Gates, read_gates
from recall.embed.manifest import BUNDLED, Manifest
from recall.embed.memory import release_free_memory
from recall.late.everyday import everyday_terms
from recall.late.late import Late
from recall.search.snapshot import Snapshot, take_snapshot
from recall.sources.projects import Projects, discover
from recall.store.reader import Reader
from recall.store.views import Rows, Summary
from recall.text.masking import mask
from recall.wire.paths import StatePaths

State = Literal["warming", "ready", "failed"]


class Wanted(NamedTuple):
    """What the configuration asks for: a model's name, a device, and the time of the model's own manifest (None for one
    that comes with recall), which changes when another version of it comes or it goes."""

    model: str
    device: Device
    version: int | None


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded model; `wanted` is what it was loaded for."""

    manifest: Manifest
    embedder: Embedder
    late: Late
    wanted: "Wanted"


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything that a question is answered from. It is replaced as a whole, so that nobody sees half a change: the
    snapshot holds vectors of this model alone."""

    model: Model
    snapshot: Snapshot
    projects: Projects


class Engine:
    """Loads and refreshes in the index thread; the question thread takes `ready` once a question and keeps it.

    `coming` is the model that the person wants while another one still answers, because the index is not yet complete
    under it.
    """

    def __init__(self, paths: StatePaths, environment: Mapping[str, str], log: Log) -> None:
        self.paths = paths
        self.config = Live(paths.config, load_config, Config())
        self.gates = Live[Gates](paths.gates, read_gates, {})
        self.mutes = Mutes(paths)
        self.turnstile = Turnstile()
        self.ready: Ready | None = None
        self.coming: Model | None = None
        self.failure = ""  # why the model that is wanted could not be loaded
        self.indexing = False  # whether records are being added at this moment
        self.summary = Summary()
        self._environment = environment
        self._log = log
        self._reader = Reader(Path(paths.index))
        self._seen: tuple[int, ...] | None = None  # the version of the index that the snapshot shows
        self._wanted: Wanted | None = None  # what was loaded, or tried, last

    @property
    def state(self) -> State:
        return "ready" if self.ready else "failed" if self.failure else "warming"

    def claude_folders(self) -> list[Path]:
        return self.config.current().claude_folders(self._environment)

    def wants_another_model(self) -> bool:
        """Whether the configuration names another model or device than when `load` was called last, or another version
        of that model has come."""
        return self._wanted != self._configured()

    def load(self) -> None:
        """Load the model of the configuration, unless that is done; `state` and `failure` tell how it went.

        It answers at once when the index is as complete under it as under any other, else it is `coming`, and the one
        that has most of the index answers meanwhile. Where it cannot be loaded, another one answers.
        """
        if self._wanted == self._configured() and not self.failure:
            return
        self._wanted = self._configured()
        self.coming = None
        try:
            self._take(find_model(self._wanted.model, Path(self.paths.models)))
            self.failure = ""
        except RecallError as error:
            self._log.failure("load-failed", error)
            if self.ready is None:
                self._make_do()
            self.failure = str(error)  # last, for until then the daemon counts as warming up

    def _take(self, manifest: Manifest) -> None:
        """Load a model that is wanted and let it answer, or be `coming`. Raises ModelError."""
        if self.ready and self.ready.model.manifest.identity == manifest.identity:
            if self.ready.model.wanted != self._wanted:  # on another device, or its files were mended
                self.ready = replace(self.ready, model=self._loaded(manifest))
        elif self.ready:
            self.coming = self._loaded(manifest)
        else:
            model = self._loaded(manifest)
            fuller = self._fullest(than=manifest.identity)
            self.coming = model if fuller else None
            self.ready = self._make_ready(fuller or model, discover(self.claude_folders()))

    def _make_do(self) -> None:
        """Answer with what works, so that a model that is missing or damaged, or a device that is not there, does not
        silence everything: the model on the CPU, one under which most of the index can be searched, the bundled one.
        """
        attempts: tuple[Callable[[], Model | None], ...] = (
            lambda: self._loaded(find_model(self._configured().model, Path(self.paths.models)), "cpu"),
            lambda: self._fullest("auto"),
            lambda: self._loaded(find_model(BUNDLED, None), "auto"),
        )
        for attempt in attempts:
            try:
                model = attempt()
                if model is not None:
                    self.ready = self._make_ready(model, discover(self.claude_folders()))
                    return
            except RecallError as error:
                self._log.failure("load-failed", error)

    def switch(self) -> None:
        """Let the coming model answer from now on: the index is complete under it."""
        assert self.ready is not None  # noqa: S101  called by the thread that loads
        assert self.coming is not None  # noqa: S101
        self.ready = self._make_ready(self.coming, self.ready.projects)
        self.coming = None
        release_free_memory()
        self._log.event("switched", model=self.ready.model.manifest.name)

    def refresh(self, projects: Projects) -> None:
        """Swap in what has changed: the projects always, the snapshot when the index was written since."""
        assert self.ready is not None  # noqa: S101  called by the thread that loads
        changed = self._version_of_index() != self._seen
        snapshot = self._read(self.ready.model) if changed else self.ready.snapshot
        self.ready = replace(self.ready, snapshot=snapshot, projects=projects)

    def close(self) -> None:
        """Close the index. Called when no thread works any more."""
        self._reader.close()

    def _configured(self) -> "Wanted":
        config = self.config.current()
        name, device = config["model"], config["device"]
        try:
            version = os.stat(os.path.join(self.paths.models, name, "manifest.toml")).st_mtime_ns  # noqa: PTH116, PTH118
        except (OSError, ValueError):
            version = None
        return Wanted(name, device, version)

    def _loaded(self, manifest: Manifest, device: Device | None = None) -> Model:
        """Load a model and run it once: the first run allocates what all later ones use. Raises ModelError."""
        wanted = self._configured()
        embedder = Embedder(manifest, device=device or wanted.device, state=Path(self.paths.home))
        vector = embedder.embed_query("warm up")
        if not np.isfinite(vector).all() or not vector.any():
            raise ModelError(f"The model {manifest.name} gives no vectors; its files are damaged: {manifest.repair}.")
        mask("warm up")
        everyday_terms()
        self._log.event("loaded", model=manifest.name)
        late = Late(embedder, Path(self.paths.everyday))
        return Model(manifest, embedder, late, wanted._replace(device=device or wanted.device))

    def _fullest(self, device: Device | None = None, than: str = "") -> Model | None:
        """The model here under which most of the index can be searched, if that is more than under the one of the
        identity `than`."""
        try:
            rows = self._reader.rows_by_model()
        except StoreError:  # the next run sets it aside, or says what is wrong
            return None
        for other in fuller_models(than, rows):
            name = other.partition("@")[0]
            for models in (Path(self.paths.models), None):
                try:
                    manifest = find_model(name, models)
                    if manifest.identity == other:
                        return self._loaded(manifest, device)
                except ModelError:
                    continue  # it was removed, or is damaged
        return None

    def _make_ready(self, model: Model, projects: Projects) -> Ready:
        return Ready(model, self._read(model), projects)

    def _read(self, model: Model) -> Snapshot:
        """A snapshot built beside the one in use. An index that cannot be read counts as empty: the next run sets it
        aside, or says what is wrong."""
        try:
            self._seen = self._version_of_index()
            rows = self._reader.load(model.embedder.identity)
            self.summary = self._reader.summary(model.embedder.identity)
        except StoreError as error:
            self._log.failure("read-failed", error)
            rows = Rows.none()
        return take_snapshot(rows, model.late.bank)

    def _version_of_index(self) -> tuple[int, ...] | None:
        try:
            return self._reader.version()
        except StoreError:
            return None


def fuller_models(identity: str, rows: Mapping[str, int]) -> list[str]:
    """The models under which more rows can be searched than under this one, the fullest first. A pure decision.

    `rows` stands in the order in which the models were first used; of equals the latest is taken, which most likely
    answered last.
    """
    own = rows.get(identity, 0)
    fuller = [other for other, count in rows.items() if count > own]
    return sorted(fuller, key=lambda other: (rows[other], fuller.index(other)), reverse=True)
