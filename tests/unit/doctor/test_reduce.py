"""What a bug report keeps of a person's values: never a word that is not ours."""

import json
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import recall
from recall.core.config import SETTINGS, Config
from recall.doctor.reduce import _EVENTS, Reducer, kept, newest

REDUCER = Reducer(Path("/home/ann"), b"salt")
#: A word that nothing of ours holds, in all that a person may put around it.
MARK = "quokka"
WORDS = st.tuples(st.text(max_size=20), st.text(max_size=20)).map(lambda around: f"{around[0]}{MARK}{around[1]}")
PARTS = WORDS.filter(lambda word: not {"/", "\\", "\0"} & set(word))
LINES = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20).map(lambda rest: f"{MARK}{rest}")


@given(PARTS)
def test_a_part_of_a_path_that_a_person_named_becomes_a_hash(word: str) -> None:
    for path in (f"/home/ann/{word}/.claude", f"/srv/{word}", word):
        assert MARK not in REDUCER.path(path)
    assert REDUCER.path(f"/home/ann/{word}/.claude").startswith("~/")


def test_paths_keep_their_shape() -> None:
    assert REDUCER.path("/home/ann/.claude") == "~/.claude"
    assert REDUCER.path("/home/ann") == "~"
    assert REDUCER.path("/opt/recall/bin") == "/opt/recall/bin"
    assert REDUCER.path("/home/anna/.claude").count("/") == 3
    assert "anna" not in REDUCER.path("/home/anna/.claude")


def test_equal_names_look_equal_within_a_report_and_differ_between_two() -> None:
    assert REDUCER.name("secret") == REDUCER.name("secret") != REDUCER.name("secreu")
    assert Reducer(Path("/")).name("secret") != Reducer(Path("/")).name("secret")


@given(LINES | WORDS)
def test_no_line_of_a_log_brings_a_text_along(text: str) -> None:
    time = "2026-08-14T09:30:00"
    for line in (
        f"{time} {text} 300",
        f"{time} timeout {text}",
        f"{time} loaded model={text}",
        f"{time} look-failed error={text} at={text}.py:3/{text}",
        f"{time} refused verb={text}",
        f"{time} started {text}={text}",
        f"{time} {text}",
        text,
    ):
        for reduce in (REDUCER.hook_line, REDUCER.daemon_line, REDUCER.index_line):
            assert MARK not in (reduce(line) or "")
    assert REDUCER.index_line(f"{time} failed: {text}") == f"{time} failed"


def test_lines_of_ours_stay_readable() -> None:
    for line in (
        "2026-08-14T09:30:00 started version=0.1.0 pid=17",
        "2026-08-14T09:30:00 loaded model=multilingual-e5-small",
        "2026-08-14T09:30:00 look-failed error=StoreBusy at=engine.py:114/work.py:7",
        "2026-08-14T09:30:00 look-failed error=OSError at=indexer.py:14",
        "2026-08-14T09:30:00 indexed chunks=12 seconds=3.250",
        "2026-08-14T09:30:00 ended",
    ):
        assert REDUCER.daemon_line(line) == line
    assert REDUCER.hook_line("2026-08-14T09:30:00 timeout 300") == "2026-08-14T09:30:00 timeout 300"
    found = REDUCER.daemon_line("2026-08-14T09:30:00 look-failed error=KumquatError at=kumquat.py:3/engine.py:4")
    assert found == "2026-08-14T09:30:00 look-failed error=? at=?:3/engine.py:4"
    assert REDUCER.daemon_line("2026-08-14T09:30:00 refused verb=kumquat") == "2026-08-14T09:30:00 refused verb=?"


@given(WORDS)
def test_the_configuration_shows_numbers_and_our_words_alone(word: str) -> None:
    values = dict(Config().values)
    for setting in SETTINGS:
        if isinstance(setting.default, list) and not setting.table:
            values[setting.key] = [word, f"/home/ann/{word}"]
        elif isinstance(setting.default, str):
            values[setting.key] = word
    values["knowledge"] = [{"path": f"/srv/{word}", "scope": word, "include": [word], "exclude": []}]
    shown = REDUCER.configuration(values)
    assert set(shown) == {setting.key for setting in SETTINGS}
    assert MARK not in json.dumps(shown, ensure_ascii=False)


def test_the_usual_configuration_is_shown_as_it_is() -> None:
    assert REDUCER.configuration(Config().values) == dict(Config().values)


def test_every_event_that_the_daemon_writes_is_known() -> None:
    package = Path(recall.__file__).parent
    written = {
        name
        for file in package.rglob("*.py")
        for name in re.findall(r"\b_?log\.(?:event|failure)\(\s*\"([a-z-]+)\"", file.read_text("utf-8"))
    }
    assert len(written) >= 10
    assert written <= _EVENTS


def test_counts_of_unknown_words_are_summed_up() -> None:
    assert kept({"short": 2, "kumquat": 3, "x": 1}, {"short"}) == {"short": 2, "other": 4}
    assert kept({}, {"short"}) == {}


def test_the_newest_lines_are_kept() -> None:
    assert newest(["a", None, "b", "c"], 2) == (["b", "c"], 1)
