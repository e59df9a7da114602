"""Questions go first: the indexer lets those that wait pass between two batches."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: The longest time (seconds) that one batch of the indexer stands back, so that a flood cannot starve it.
PATIENCE_SECONDS = 1.0


class Turnstile:
    """Counts the questions that are present; used from the event loop and the indexer's thread."""

    def __init__(self) -> None:
        self._present = 0
        self._changed = threading.Condition()

    @contextmanager
    def question(self) -> Iterator[None]:
        """A question is present during the block."""
        with self._changed:
            self._present += 1
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
