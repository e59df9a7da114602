"""Keeping the index up to date from inside the daemon, in a thread of its own, without making a question wait."""

import asyncio
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any

from recall.core.errors import DaemonRefused, RecallError, StoreBusy
from recall.core.log import Log
from recall.daemon.engine import Engine, Model
from recall.daemon.live import version_of
from recall.embed.memory import release_free_memory
from recall.index.pipeline import run
from recall.index.sources import Source, configured_sources, team_sources
from recall.index.work import Progress, Report
from recall.sources.projects import Projects, discover
from recall.wire.paths import StatePaths

#: Seconds between two snapshots of an index that is being built, plus ten times what making one takes.
REFRESH_SECONDS = 5.0
#: While the index is made anew for another model, the old one's share of it is brought up to date in between, for at
#: most this share of the time between two looks: enough for the notes of a minute, too little to go on with a first
#: index.
KEEP_UP = 0.2


class Indexer:
    """Loads the model and looks the sources over. `progress` may be read from anywhere, None while at rest."""

    def __init__(self, engine: Engine, log: Log) -> None:
        self.progress: Progress | None = None
        self.problem = ""  # why the last look failed
        # One thread: loading the model and going over the sources exclude each other.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="index")
        self._engine = engine
        self._log = log
        self._stopping = threading.Event()
        self._requested = False
        self._next_refresh = 0.0
        self._team = _Team(engine.paths)

    def look(self) -> "asyncio.Future[Report | None]":
        """Load the model unless that is done, then bring the index up to date; None when it could not be done now."""
        return asyncio.get_running_loop().run_in_executor(self._thread, self._look)

    async def requested(self) -> dict[str, Any]:
        """A person asks for an up-to-date index: the report of a run of their own, or that one is under way already.

        Raises RecallError as the run does.
        """
        if self._requested:
            return {"already_running": True}
        self._requested = True
        try:
            report = await self.look()
        finally:
            self._requested = False
        if report and self._engine.failure and self._engine.ready:
            name = self._engine.ready.model.manifest.name
            raise DaemonRefused(f"{self._engine.failure} The index was brought up to date for {name}, which answers.")
        return asdict(report) if report else {"already_running": True}

    def stop(self) -> None:
        """End a run between two batches; the next one goes on where it stopped."""
        self._stopping.set()

    def close(self) -> None:
        """Wait for the thread."""
        self.stop()
        self._thread.shutdown(cancel_futures=True)

    def _look(self) -> Report | None:
        engine = self._engine
        self.progress = Progress(0, 0, 0, 0, 0.0, None)
        try:
            engine.load()
            if engine.ready is None:
                raise DaemonRefused(engine.failure)
            interval = engine.config.current()["daemon.scan_seconds"]
            report = self._bring_up_to_date(engine.ready.model, KEEP_UP * interval if engine.coming else math.inf)
            while report and engine.coming and not self._stopping.is_set():
                report = self._go_on(engine.ready.model, engine.coming, report)
                if engine.wants_another_model():
                    engine.load()
            return report
        finally:
            self.progress = None
            engine.indexing = False

    def _go_on(self, old: Model, coming: Model, so_far: Report) -> Report | None:
        """Index under the coming model for a while. When all is done it answers, until then the old one keeps up."""
        interval = self._engine.config.current()["daemon.scan_seconds"]
        report = self._bring_up_to_date(coming, interval)
        if report is None:
            return None
        if report.complete:
            self._engine.switch()
        elif not self._stopping.is_set() and not self._engine.wants_another_model():
            self._bring_up_to_date(old, KEEP_UP * interval)
        return replace(
            report,
            chunks_embedded=so_far.chunks_embedded + report.chunks_embedded,
            seconds=so_far.seconds + report.seconds,
        )

    def _bring_up_to_date(self, model: Model, seconds: float) -> Report | None:
        """One run under a model that embeds for so many `seconds` at most; None when another process is at it."""
        engine = self._engine
        assert engine.ready is not None  # noqa: S101  looked at by the caller
        folders = engine.claude_folders()
        projects = discover(folders, engine.ready.projects)
        report = None
        until = math.inf
        self._next_refresh = time.monotonic() + REFRESH_SECONDS

        def show(progress: Progress) -> None:
            nonlocal until
            until = min(until, time.monotonic() + seconds)  # counted from the first call: the look-over takes its time
            self._show(progress, projects)

        def is_over() -> bool:
            return self._stopping.is_set() or time.monotonic() >= until or engine.wants_another_model()

        try:
            with engine.turnstile.indexing(model.embedder.interrupt):
                report = run(
                    engine.paths,
                    [*configured_sources(folders, projects, engine.config.current()), *self._team.sources(model)],
                    model.embedder,
                    model.late,
                    progress=show,
                    pause=engine.turnstile.let_questions_pass,
                    stop=is_over,
                )
            self.problem = ""
            self._team.done = report.complete
        except StoreBusy:
            pass  # another process is at it; its changes are seen at the next look
        except Exception as error:
            name = type(error).__name__
            self.problem = (
                str(error) if isinstance(error, RecallError) else f"the last look failed ({name}); see daemon.log"
            )
            raise
        finally:
            engine.refresh(projects)
        if report and report.chunks_embedded:
            release_free_memory()
            self._log.event("indexed", chunks=report.chunks_embedded, seconds=report.seconds)
        return report

    def _show(self, progress: Progress, projects: Projects) -> None:
        """Tell how far it is, and let questions find what is there already: a first index takes minutes."""
        self.progress = progress
        self._engine.indexing = progress.done < progress.total and self._engine.coming is None
        now = time.monotonic()
        if now >= self._next_refresh:
            self._engine.refresh(projects)
            self._next_refresh = time.monotonic() + REFRESH_SECONDS + 10 * (time.monotonic() - now)


class _Team:
    """The team's records as sources, while they or the index have changed: a hundred thousand take two seconds to look
    over, and change with an exchange only. `done`: whether all that there was is indexed."""

    def __init__(self, paths: StatePaths) -> None:
        self.done = False
        self._paths = paths
        self._seen: tuple[object, ...] = ()

    def sources(self, model: Model) -> list[Source]:
        """Those of one run under this model."""
        records = self._paths.share_records
        files = (records, f"{records}-wal", self._paths.share, self._paths.mutes)
        index = version_of(self._paths.index)  # whether it is another file: what is in it changes with every note
        now = (model.embedder.identity, index and index[-1], *map(version_of, files))
        if self.done and now == self._seen:
            return []
        self.done, self._seen = False, now
        return team_sources(self._paths)
