"""How fast a model is on this machine: measured once it is there, kept in <state>/models/speeds.json."""

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError
from recall.wire.files import read_file
from recall.wire.paths import StatePaths, make_private_folder

#: Messages as people type them, from 5 to about 200 tokens, in three languages; all differ, so that no cache helps.
QUESTIONS = tuple(
    question
    for number in range(5)
    for question in (
        f"which port does service {number} use?",
        f"サービス{number}の認証トークンはどこに保存されますか？前回の障害のあとに決めた手順も知りたいです。",
        f"Why did we decide against caching the answers of service {number}, and what has to be done to change that?",
        f"서비스 {number}의 데이터베이스를 어떻게 마이그레이션합니까?",
        f"Error in service {number}:\n" + "  at handler (/srv/app/handlers.py:17)\n" * 12 + "what is wrong?",
    )
)

_SENTENCES = (
    "The nightly export writes to a temporary table first, because readers saw half of the rows when it failed. ",
    "We keep access logs for ninety days and personal data for thirty; longer needs the consent of the legal team. ",
    "アクセスログは90日で消す。個人情報を含むログは30日で消し、延ばすには法務の承認がいる。 ",
    "Retries happen with a growing pause and a limit, since a burst of them once brought the payment service down. ",
)
#: Pieces of notes, about 200 words each.
CHUNKS = tuple(f"Decision {number}. " + "".join(_SENTENCES) * 3 for number in range(8))

#: The first runs load pages of the file and make buffers.
_WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Speed:
    """Milliseconds for a question alone (median and the slowest of twenty), and chunks a second, on one device."""

    device: str
    query_ms_p50: float
    query_ms_p95: float
    chunks_per_second: float
    when: str  # UTC, ISO 8601

    def words(self) -> str:
        """For the person."""
        return (
            f"{self.query_ms_p50:.0f} ms a question (p95 {self.query_ms_p95:.0f} ms), "
            f"{self.chunks_per_second:.1f} chunks a second on {self.device}"
        )


class Measurable(Protocol):
    """The part of an embedder that is measured."""

    @property
    def device(self) -> str: ...

    def embed_query(self, text: str) -> Any: ...

    def embed_passages(self, texts: Sequence[str]) -> Any: ...


def measure(embedder: Measurable) -> Speed:
    """Ask a loaded model questions one by one and have it embed chunks: a second or two for a small model."""
    for question in QUESTIONS[:_WARM_UP]:
        embedder.embed_query(question)
    times = []
    for question in QUESTIONS[_WARM_UP:]:
        start = time.perf_counter()
        embedder.embed_query(question)
        times.append((time.perf_counter() - start) * 1000)
    start = time.perf_counter()
    embedder.embed_passages(CHUNKS)
    seconds = time.perf_counter() - start
    return Speed(
        device=embedder.device,
        query_ms_p50=round(statistics.median(times), 2),
        query_ms_p95=round(statistics.quantiles(times, n=20)[-1], 2),
        chunks_per_second=round(len(CHUNKS) / seconds, 2),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def load_speeds(paths: StatePaths) -> dict[str, Speed]:
    """What was measured, by the models' identities. An unreadable file counts as nothing measured."""
    try:
        found: dict[str, dict[str, Any]] = json.loads(read_file(_file(paths)))
        return {identity: Speed(**values) for identity, values in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def save_speed(paths: StatePaths, identity: str, speed: Speed) -> None:
    """Keep a measurement in place of an older one of the same model. Raises RecallError."""
    _write(paths, load_speeds(paths) | {identity: speed})


def forget_speeds(paths: StatePaths, name: str, keep: str = "") -> None:
    """Drop what was measured of a model under any identity but `keep`. Raises RecallError."""
    speeds = load_speeds(paths)
    kept = {
        identity: speed for identity, speed in speeds.items() if identity == keep or identity.rpartition("@")[0] != name
    }
    if kept != speeds:
        _write(paths, kept)


def _write(paths: StatePaths, speeds: dict[str, Speed]) -> None:
    try:
        make_private_folder(paths.models)
    except OSError as error:
        raise RecallError(f"{paths.models} cannot be made ({error.strerror}); it should be yours to write.") from None
    text = json.dumps({identity: asdict(speed) for identity, speed in speeds.items()}, indent=1)
    replace_bytes(_file(paths), text.encode(), 0o600)


def _file(paths: StatePaths) -> Path:
    return Path(paths.models) / "speeds.json"
