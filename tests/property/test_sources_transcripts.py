"""No line of a transcript hides the directories in later lines."""

import json
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from recall.sources.projects import discover, encode, short_names

BAD_LINES = st.one_of(
    st.binary(max_size=60).map(lambda data: data.replace(b"\n", b"")),
    st.sampled_from(
        [b'{"cwd":', b'{"cwd": 1}', b'"cwd"', b'{"cwd": "\\ud800"}', b'{"cwd": "a\\u0000"}', b'[{"cwd": "/x"}]']
    ),
)


@given(st.lists(BAD_LINES, max_size=8))
def test_a_project_is_found_behind_any_lines(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cwd = str(Path(folder).resolve() / "app")
        sessions = Path(folder, "projects", encode(cwd))
        sessions.mkdir(parents=True)
        (sessions / "s.jsonl").write_bytes(b"\n".join([*lines, json.dumps({"cwd": cwd}).encode(), b'{"cwd": "/ha']))
        assert discover([Path(folder)]).of_folder(str(sessions)).key == cwd


@example({"/b", "-/b", "b"})
@given(st.sets(st.text("ab/-", min_size=1, max_size=12), max_size=12))
def test_short_names_are_all_different(keys: set[str]) -> None:
    names = short_names(keys)
    assert set(names) == keys
    assert len(set(names.values())) == len(keys)
    assert all(names.values())
