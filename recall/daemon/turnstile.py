"""Questions go first: the indexer lets those that wait pass between two batches, and gives up the batch in hand."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: The longest time (seconds) that one batch of the indexer stands back, so that a flood cannot starve it.
PATIENCE_SECONDS = 1.0


class Turnstile:
    """Counts the questions that are present; used from the event loop and the indexer's thread."""

    def __init__(self) -> None:
        self._present = 0
        self._changed = threading.Condition()
        self._interrupt: Callable[[], None] | None = None

    @contextmanager
    def indexing(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """During the block `interrupt` is called whenever a question comes; it must return at once."""
        self._interrupt = interrupt
        try:
            yield
        finally:
            self._interrupt = None

    @contextmanager
    def question(self) -> Iterator[None]:
        """A question is present during the block."""
        with self._changed:
            self._present += 1
        interrupt = self._interrupt
        if interrupt is not None:
            interrupt()
        try:
            yield
        finally:
            with self._changed:
                self._present -= 1
                self._changed.notify_all()

    def let_questions_pass(self) -> None:
        """Return when no question is present, or patience is spent."""
        with self._changed:
            self._changed.wait_for(lambda: self._present == 0, PATIENCE_SECONDS)
