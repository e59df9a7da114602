"""Keeping the index up to date from inside the daemon, in a thread of its own, without making a question wait."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

from recall.core.errors import DaemonRefused, RecallError, StoreBusy
from recall.core.log import Log
from recall.daemon.engine import Engine
from recall.embed.memory import release_free_memory
from recall.index.pipeline import Progress, Report, run
from recall.index.sources import configured_sources
from recall.sources.projects import Projects, discover

#: Seconds between two snapshots of an index that is being built, plus ten times what making one takes.
REFRESH_SECONDS = 5.0


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
            if engine.ready is None:
                engine.load()
            return self._bring_up_to_date(engine)
        finally:
            self.progress = None
            engine.indexing = False

    def _bring_up_to_date(self, engine: Engine) -> Report | None:
        ready = engine.ready
        if ready is None:
            raise DaemonRefused(engine.failure)
        folders = engine.claude_folders()
        projects = discover(folders, ready.projects)
        report = None
        self._next_refresh = time.monotonic() + REFRESH_SECONDS
        try:
            report = run(
                engine.paths,
                configured_sources(folders, projects, engine.config.current()),
                ready.embedder,
                progress=lambda progress: self._show(progress, projects),
                pause=engine.turnstile.let_questions_pass,
                stop=self._stopping.is_set,
            )
            self.problem = ""
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
        self._engine.indexing = progress.done < progress.total
        now = time.monotonic()
        if now >= self._next_refresh:
            self._engine.refresh(projects)
            self._next_refresh = time.monotonic() + REFRESH_SECONDS + 10 * (time.monotonic() - now)
