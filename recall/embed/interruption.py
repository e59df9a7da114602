"""Work on passages that a question may interrupt: it is begun again afterwards, but not for ever."""

import threading
from collections.abc import Callable
from typing import TypeVar

from recall.embed.session import Interrupted, Stop

#: A batch is interrupted so many times and then runs to its end: a flood of questions must not starve the index.
MOST_INTERRUPTIONS = 2

T = TypeVar("T")


class Interruptible:
    """Keeps the stops of the runs in hand. Used from several threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: set[Stop] = set()

    def run(self, work: Callable[[Stop], T], pause: Callable[[], None]) -> T:
        """The result of `work`, which raises Interrupted when its stop ended it and is then begun again.

        `pause` is called before each beginning.
        """
        for _ in range(MOST_INTERRUPTIONS):
            pause()
            stop = Stop()
            with self._lock:
                self._stops.add(stop)
            try:
                return work(stop)
            except Interrupted:
                continue
            finally:
                with self._lock:
                    self._stops.discard(stop)
        pause()
        return work(Stop())

    def interrupt(self) -> None:
        """End the runs in hand that may still be interrupted."""
        with self._lock:
            for stop in self._stops:
                stop.request()
