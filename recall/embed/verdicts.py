"""What the self-test of a device found, remembered in the state folder: a start of the daemon need not repeat it."""

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError
from recall.wire.files import read_file

#: A refusal counts for so many seconds: drivers get mended, and the machine may have been busy.
WEEK = 7 * 86400.0

#: The smallest cosine to the CPU's vectors, and how much faster than the CPU a device must be to be worth its memory.
LEAST_COSINE = 0.99
LEAST_SPEED = 1.2

_KEPT = 20  # verdicts; a new onnxruntime or model makes new ones


@dataclass(frozen=True, slots=True)
class Trial:
    """What a self-test measured: the smallest `cosine` to the CPU's vectors, and how many times as fast as the CPU.

    `error` is the reason why there are no figures, "" when there are. A trial that ends in a refusal is to be repeated
    from `until` on, in seconds since 1970; any other counts for ever.
    """

    cosine: float
    speed: float
    error: str
    until: float

    def objection(self, timed: bool) -> str:
        """Why the device should not be taken, "" when it may; `timed`: whether it has to be faster than the CPU."""
        if self.error:
            return self.error
        if not self.cosine >= LEAST_COSINE:  # also where it is not a number
            return (
                f"its vectors should have a cosine of at least {LEAST_COSINE} to the CPU's, but have {self.cosine:.3f}"
            )
        if timed and self.speed < LEAST_SPEED:
            return (
                f"it should be at least {LEAST_SPEED} times as fast as the CPU, but is {self.speed:.2f} times as fast"
            )
        return ""


class Verdicts:
    """The trials in one file by key. A file that is damaged or cannot be written is as good as none."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time) -> None:
        """`path`: None to remember nothing."""
        self._path = path
        self.now = clock

    def get(self, key: str, timed: bool) -> Trial | None:
        """The trial that still counts for a device that has, or has not, to be faster than the CPU."""
        trial = self._read().get(key)
        if trial is None or not trial.objection(timed):
            return trial
        now = self.now()
        return trial if now < trial.until <= now + WEEK else None  # a clock that was wrong must not block for years

    def put(self, key: str, trial: Trial) -> None:
        """Remember a trial in the place of the one before."""
        self._write([*self._others(key), (key, trial)])

    def forget(self, key: str) -> None:
        """Remember none."""
        self._write(self._others(key))

    def _others(self, key: str) -> list[tuple[str, Trial]]:
        return [(other, trial) for other, trial in self._read().items() if other != key]

    def _write(self, trials: list[tuple[str, Trial]]) -> None:
        if self._path is None:
            return
        text = json.dumps({key: asdict(trial) for key, trial in trials[-_KEPT:]}, indent=1)
        with contextlib.suppress(RecallError):
            replace_bytes(self._path, text.encode("utf-8"), 0o600)

    def _read(self) -> dict[str, Trial]:
        if self._path is None:
            return {}
        try:
            content = json.loads(read_file(self._path))
            return {
                str(key): Trial(
                    float(entry["cosine"]), float(entry["speed"]), str(entry["error"]), float(entry["until"])
                )
                for key, entry in content.items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return {}
