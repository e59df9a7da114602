"""Lookup: which message of the transcripts a decision was made on, and when none is better than a neighbour."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from recall.core.errors import RecallError
from recall.insight.lookup import last_asked
from recall.wire.paths import StatePaths

NOW = datetime(2026, 8, 14, 9, 30)


def asked(root: Path, decision: dict[str, object], *prompts: tuple[int, str, str | None]) -> str | None:
    """The message of one decision at NOW; prompts are (seconds after NOW, text, id)."""
    row = {"time": NOW.isoformat(), "session": "s-1", "reason": "likely", "ms": 5.0} | decision
    (root / "injections.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    folder = root / "claude" / "projects" / "-p"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {
            "type": "user",
            "sessionId": "s-1",
            "entrypoint": "cli",
            "timestamp": (NOW + timedelta(seconds=after)).astimezone().isoformat(),
            "message": {"role": "user", "content": text},
        }
        | ({"promptId": prompt} if prompt else {})
        for after, text, prompt in prompts
    ]
    (folder / "s-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = last_asked(StatePaths(str(root)), {"CLAUDE_CONFIG_DIR": str(root / "claude")})
    return found.typed.text if found.typed else None


def test_the_id_of_a_prompt_goes_before_its_time(tmp_path: Path) -> None:
    prompts = ((1, "the near one", "p-1"), (50, "the right one", "p-2"))
    assert asked(tmp_path, {"prompt": "p-2"}, *prompts) == "the right one"
    assert asked(tmp_path, {"prompt": "p-3"}, *prompts) is None
    assert asked(tmp_path, {}, *prompts) == "the near one"


def test_without_ids_the_nearest_in_time_is_taken_and_none_far_away(tmp_path: Path) -> None:
    assert asked(tmp_path, {"prompt": "p-2"}, (-30, "before", None), (2, "this", None)) == "this"
    assert asked(tmp_path, {}, (-300, "long before", None)) is None


@pytest.mark.parametrize("reason", ["command", "machine", "event", "subagent"])
def test_what_no_person_typed_is_not_taken_for_a_neighbour(tmp_path: Path, reason: str) -> None:
    assert asked(tmp_path, {"reason": reason}, (2, "typed a moment later", "p-1")) is None


def test_no_journal_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RecallError, match=r"no message is in .*none was typed"):
        last_asked(StatePaths(str(tmp_path)), {})
