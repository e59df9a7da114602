"""The daemon's life from lock to exit: `serve` runs it, `Daemon` ties its parts to the event loop."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from recall.core.errors import DaemonError
from recall.core.log import MAX_BYTES, Log, trim
from recall.daemon.answers import Answers
from recall.daemon.engine import Engine
from recall.daemon.handlers import Handlers
from recall.daemon.indexer import Indexer
from recall.daemon.journal import Journal
from recall.daemon.lifecycle import next_event, should_exit, should_look
from recall.daemon.server import Server
from recall.daemon.sharing import Sharing
from recall.version import BUILD, VERSION
from recall.wire.environment import clean_environment, forget_start
from recall.wire.files import NotAFile
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths, make_private_folder
from recall.wire.transport import Listener, Refused, ask, listen

#: Whose place a starting daemon may take: that of an older version, or of whichever runs.
Replace = Literal["older", "any"]

#: Seconds that a replaced daemon gets to end before the new one gives up.
REPLACE_SECONDS = 10.0
#: Seconds that questions in work get to finish when the daemon ends.
DRAIN_SECONDS = 2.0
#: Seconds between two looks (two system calls) whether lock and address are still the daemon's own.
PLACE_SECONDS = 20.0
#: Seconds between two tries to load a model that failed, when somebody asks.
RETRY_SECONDS = 10.0


def serve(paths: StatePaths, *, replace: Replace | None, say: Callable[[str], None] | None) -> int:
    """Run the daemon until it is stopped, idle or replaced; returns the exit code.

    `replace`: which daemon's place may be taken; None: nobody's. `say` prints to the person in front of it, None when
    nobody is. When another daemon keeps the lock this one ends with 0: that is what both wanted.
    """
    os.umask(0o077)
    try:
        make_private_folder(paths.home)
        _settle(paths)
        daemon = Daemon(paths, Log(Path(paths.daemon_log)))
        place = _take_place(paths, daemon, replace)
        if place is None:
            if say:
                say(f"a daemon already serves {paths.home}")
            return 0
        lock, listener = place
        with lock:
            with contextlib.suppress(OSError):  # a full disk
                lock.sign()
            if say:
                say(f"recall {VERSION} serves {paths.home} (process {os.getpid()}); end it with Ctrl-C")
            try:
                asyncio.run(daemon.run(listener, lock))
            finally:
                if lock.is_in_place():
                    listener.remove()
    except NotAFile as error:
        raise DaemonError(str(error)) from None
    except OSError as error:
        raise DaemonError(f"the daemon cannot use {paths.home} ({error}); it must be a folder that you own") from error
    return 0


def _take_place(paths: StatePaths, daemon: "Daemon", replace: Replace | None) -> tuple[HeldLock, Listener] | None:
    """The lock and a listener; None when another daemon keeps the lock.

    A daemon that is to be replaced goes on answering while this one loads; then the address changes hands in one step,
    and who asks meanwhile waits until the old one has let go of the lock.
    """
    if replace is not None and (running := _running(paths)) is not None and may_replace(running, replace):
        daemon.load()
        if daemon.engine.ready is None:
            return None  # the one that runs is better than this one
        # Asked once more: the daemon that answers may be the one that a second replacer has started meanwhile.
        if _running(paths) == running:
            with contextlib.suppress(OSError, Refused):
                ask(paths, "stop", timeout=2.0)
                listener = listen(paths, daemon.transport)
                if lock := HeldLock.wait(paths.daemon_lock, REPLACE_SECONDS):
                    return lock, listener
                listener.remove()
                return None
    lock = HeldLock.acquire(paths.daemon_lock)
    return (lock, listen(paths, daemon.transport)) if lock is not None else None


def _running(paths: StatePaths) -> "tuple[int, int] | None":
    """Build and process id of the daemon that answers, None when none does."""
    try:
        reply, body = ask(paths, "status", timeout=2.0)
        return reply.build, int(json.loads(body)["pid"])
    except (OSError, Refused, ValueError, KeyError, TypeError):
        return None


def may_replace(running: tuple[int, int], replace: Replace) -> bool:
    """Whether the daemon of this (build, process id) may be replaced. A pure decision."""
    return replace == "any" or running[0] < BUILD


def _settle(paths: StatePaths) -> None:
    """Make this process the daemon's own: no foreign environment, and no working folder that somebody may remove."""
    kept = clean_environment(os.environ)
    os.environ.clear()
    os.environ.update(kept)
    forget_start()
    os.chdir(paths.home)


class Daemon:
    """Engine, indexer and server on one event loop, and the watch over time."""

    def __init__(self, paths: StatePaths, log: Log) -> None:
        self.engine = Engine(paths, os.environ, log)
        self._indexer = Indexer(self.engine, log)
        self._sharing = Sharing(paths, log)
        self._answers = Answers(self.engine, Journal(Path(paths.injections)))
        self._log = log
        self._woken = asyncio.Event()
        self._stopping = False
        self._last_asked = 0.0

    @property
    def transport(self) -> str:
        """The transport that the configuration asks for."""
        return str(self.engine.config.current()["daemon.transport"])

    def load(self) -> None:
        """Load the model and the index before `run`, which does it otherwise."""
        self.engine.load()

    async def run(self, listener: Listener, lock: HeldLock) -> None:
        """Serve until told to stop, idle, or displaced: nobody can find a daemon whose lock or address was removed."""
        loop = asyncio.get_running_loop()
        self._last_asked = loop.time()
        for name in (signal.SIGTERM, signal.SIGINT):
            try:
                loop.add_signal_handler(name, self._stop)
            except NotImplementedError:  # Windows
                signal.signal(name, lambda *_: loop.call_soon_threadsafe(self._stop))
        handlers = Handlers(self.engine, self._indexer, self._answers, self._asked, self._stop)
        server = Server(listener, handlers.handle, self._log)
        await server.start()
        self._log.event("started", version=VERSION, pid=os.getpid())
        await self._watch(lambda: lock.is_in_place() and listener.is_in_place())
        await server.drain(DRAIN_SECONDS)
        handlers.close()
        self._indexer.close()
        self.engine.close()
        self._log.event("ended")

    def _asked(self) -> None:
        """Somebody asked: count the idle time from now, and see whether the sources should be looked over."""
        self._last_asked = asyncio.get_running_loop().time()
        self._woken.set()

    def _stop(self) -> None:
        self._stopping = True
        self._indexer.stop()
        self._woken.set()

    async def _watch(self, is_in_place: Callable[[], bool]) -> None:
        """Load, then look at the sources while in use; return when the daemon shall end."""
        clock = asyncio.get_running_loop().time
        looking, last_looked = asyncio.create_task(self._look()), clock()
        while not self._stopping:
            now, config = clock(), self.engine.config.current()
            interval, idle = config["daemon.scan_seconds"], config["daemon.idle_hours"] * 3600
            if self.engine.state == "failed":
                interval = RETRY_SECONDS
            if not is_in_place():
                self._log.event("displaced")
                return
            if should_exit(now, self._last_asked, idle, busy=not looking.done()):
                self._log.event("idle")
                return
            due = should_look(now, self._last_asked, last_looked, interval) or self.engine.wants_another_model()
            if looking.done() and due:
                looking, last_looked = asyncio.create_task(self._look()), now
            # While it looks, only the end of that or a question matters.
            pause = next_event(now, self._last_asked, last_looked, interval, idle) if looking.done() else PLACE_SECONDS
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), min(pause, PLACE_SECONDS))
            self._woken.clear()

    async def _look(self) -> None:
        """Bring the index up to date; whatever a note or a disk does to that, the daemon outlives it."""
        try:
            trim(Path(self.engine.paths.hook_log), MAX_BYTES)  # the hook only appends
            await self._indexer.look()
            self._sharing.look(time.monotonic(), self.engine.config.current())
        except Exception as error:
            self._log.failure("look-failed", error)
        finally:
            self._woken.set()
