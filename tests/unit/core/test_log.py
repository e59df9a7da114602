"""The log cannot hold a person's text."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recall.core.log import Log, trim


def test_events_are_one_line_of_plain_words(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    Log(path).event("indexed", chunks=3, seconds=1.23456, model="e5-small", ok=True)
    _, line = path.read_text().split(" ", 1)
    assert line == "indexed chunks=3 seconds=1.235 model=e5-small ok=True\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_text_with_spaces_or_other_letters_becomes_a_question_mark(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    Log(path).event("asked", text="where is the key?", name="鍵", long="x" * 65)
    assert path.read_text().endswith(" asked text=? name=? long=?\n")


def test_a_failure_is_written_by_class_and_place_never_by_message(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    try:
        raise ValueError("the message that a person typed")
    except ValueError as error:
        Log(path).failure("look-failed", error)
    text = path.read_text()
    assert "look-failed error=ValueError at=test_log.py:" in text
    assert "typed" not in text


def test_a_log_that_cannot_be_written_harms_nobody(tmp_path: Path) -> None:
    Log(tmp_path / "nowhere" / "daemon.log").event("started")


@given(st.lists(st.text("abc", min_size=1, max_size=30), max_size=80), st.integers(20, 400))
def test_trimming_keeps_the_newest_whole_lines(lines: list[str], limit: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        text = "".join(f"{line}\n" for line in lines)
        path.write_text(text)
        trim(path, limit)
        kept = path.read_text()
        assert text.endswith(kept)
        assert len(kept) <= max(limit, 0)
        assert kept == text or len(kept) < len(text)
        assert not kept or kept.splitlines() == lines[-len(kept.splitlines()) :]
