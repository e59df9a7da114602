"""What was measured is kept for each model, and a damaged file of it harms nothing."""

from pathlib import Path

import pytest

from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import BUNDLED
from recall.models.speeds import CHUNKS, QUESTIONS, Speed, forget_speeds, load_speeds, measure, save_speed
from recall.wire.paths import StatePaths

SPEED = Speed("CPU, 2 threads", 5.1, 9.9, 25.0, "2026-01-01T00:00:00+00:00")


@pytest.fixture
def paths(tmp_path: Path) -> StatePaths:
    return StatePaths(str(tmp_path / "state"))


def test_the_bundled_model_is_measured(paths: StatePaths) -> None:
    embedder = Embedder(find_model(BUNDLED, None))
    speed = measure(embedder)
    assert 0 < speed.query_ms_p50 <= speed.query_ms_p95
    assert speed.chunks_per_second > 0
    assert speed.device == embedder.device
    assert "ms a question (p95 " in speed.words()
    save_speed(paths, embedder.identity, speed)
    assert load_speeds(paths) == {embedder.identity: speed}


def test_enough_is_asked_for_a_p95_and_no_text_twice() -> None:
    assert len(set(QUESTIONS)) == len(QUESTIONS) >= 23
    assert len(set(CHUNKS)) == 8
    assert all(len(chunk) > 1000 for chunk in CHUNKS)


def test_speeds_are_kept_by_identity_and_forgotten_by_name(paths: StatePaths) -> None:
    for identity in ("small@1", "small@2", "smaller@1"):
        save_speed(paths, identity, SPEED)
    assert load_speeds(paths) == dict.fromkeys(("small@1", "small@2", "smaller@1"), SPEED)
    assert (Path(paths.models) / "speeds.json").stat().st_mode & 0o777 == 0o600
    forget_speeds(paths, "small")
    assert load_speeds(paths) == {"smaller@1": SPEED}


@pytest.mark.parametrize("content", [b"", b"\xff", b"[1]", b'{"a": 1}', b'{"a": {"device": "CPU"}}', b"null"])
def test_a_damaged_file_counts_as_nothing_measured(paths: StatePaths, content: bytes) -> None:
    Path(paths.models).mkdir(parents=True)
    (Path(paths.models) / "speeds.json").write_bytes(content)
    assert load_speeds(paths) == {}
    save_speed(paths, "small@1", SPEED)
    assert load_speeds(paths) == {"small@1": SPEED}
