"""Whatever stands in another agent's session file, reading it neither fails nor shows anything that nobody typed."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recall.core.types import FoundFile
from recall.sources import sessions
from recall.sources.sessions import READERS, follow_session, scan_sessions

words = st.sampled_from(
    "session_meta event_msg response_item message user_message item_completed UserMessage user assistant system gemini "
    "custom_title custom-title chat_compression cli exec /srv/app x".split()
)
names = st.sampled_from(
    "type payload id cwd source message content text item role parts subtype $set sessionId kind displayContent "
    "systemPayload uiEvent prompt_id customTitle summary uuid".split()
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | words | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
PLACES = (
    "sessions/2026/01/02/rollout-1.jsonl",
    "projects/-srv-app/chats/1.jsonl",
    "tmp/app/chats/session-1.jsonl",
)


@given(
    st.sampled_from(PLACES),
    st.lists(st.dictionaries(names, values, max_size=6) | values, max_size=6),
    st.binary(max_size=9),
)
def test_any_lines_are_read_without_an_error(place: str, lines: list[Any], rest: bytes) -> None:
    sessions._FOLDERS.clear()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / place
        path.parent.mkdir(parents=True)
        path.parent.with_name(".project_root").write_text("/srv/app")
        path.parent.with_name("logs.json").write_text(json.dumps(["x", "cli"]))
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines) + rest)
        _, skipped = scan_sessions([Path(folder)])
        assert skipped == []
        steps = list(follow_session(FoundFile("conversation", str(path), "/srv/app", 0, 0), None))
        assert steps[-1].ending


@given(st.sampled_from(READERS), st.dictionaries(names, values, max_size=6))
def test_a_line_without_a_type_is_nobodys_message(reader: sessions.Reader, line: dict[str, Any]) -> None:
    line.pop("type", None)
    assert reader.record(line).get("type") in (None, "ai-title")
