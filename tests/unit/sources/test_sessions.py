"""What is read out of other agents' session files: those of tests/golden/agents/sessions, of which the newer ones were
written by the clients themselves (Codex 0.171, Qwen Code 0.15.10, Gemini CLI 0.61)."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recall.core.config import Config
from recall.core.errors import ConfigError
from recall.core.types import FoundFile
from recall.index.sources import agent_folders
from recall.sources import sessions
from recall.sources.agent_memory import read_memory, scan_memory
from recall.sources.agents import agent_folder, record_folders
from recall.sources.others import follow, scan_conversations, scan_notes
from recall.sources.projects import Projects
from recall.sources.sessions import asked_by_program, follow_session, is_session, scan_sessions

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "agents" / "sessions"
FOLDERS = [GOLDEN / "codex", GOLDEN / "qwen", GOLDEN / "gemini"]
OLD_CODEX, NEW_CODEX = "01995a10-0000-7000-8000-000000000001", "01a22cef-0f35-7443-a2f9-ebc00ec31353"
QWEN, MORE_QWEN = "575cfb1d-6f97-4304-84b3-636e4306275d", "11111111-2222-4333-8444-555555555555"
GEMINI = "ba57bf1f-0c9e-489d-85f4-bec27ec48c1e"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Dates are the person's, who lives in Reykjavik; nothing is known of any file."""
    if not hasattr(time, "tzset"):
        pytest.skip("the time zone cannot be set here")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    sessions._FOLDERS.clear()
    yield
    monkeypatch.undo()
    time.tzset()


def read(found: FoundFile, state: str | None = None) -> dict[str, Any]:
    steps = list(follow(found, state))
    assert steps[-1].ending
    return {
        "title": steps[-1].ending.title,
        "left_out": steps[-1].ending.left_out,
        "damaged": steps[-1].ending.damaged_lines,
        "exchanges": [(d.session, d.date, d.project, d.body) for step in steps if (d := step.document)],
    }


def shown() -> dict[str, dict[str, Any]]:
    """What is read of all golden sessions that show anything, by their identifier."""
    files, skipped = scan_sessions(FOLDERS)
    assert skipped == []
    found = [read(file) for file in files]
    return {one["exchanges"][0][0]: one for one in found if one["exchanges"]}


def test_exactly_what_persons_typed_and_its_answers_are_read() -> None:
    found = shown()
    assert set(found) == {OLD_CODEX, NEW_CODEX, QWEN, MORE_QWEN, GEMINI}
    assert found[NEW_CODEX]["exchanges"] == [
        (NEW_CODEX, "2026-11-30", "/srv/app", "Which bird do we keep in the shed?\n\nThis is answer 0.")
    ]
    assert found[OLD_CODEX]["exchanges"] == [
        (
            OLD_CODEX,
            "2026-03-02",
            "/srv/app",
            "ゲートの閾値はどこで決めている？\n\ngates.toml で決めている。\n\n測り直すには calibrate を使う。",
        ),
        (OLD_CODEX, "2026-03-02", "/srv/app", "Write that into the README.\n\nDone."),
    ]
    assert found[QWEN]["exchanges"] == [
        (QWEN, "2026-11-30", "/srv/app", "Which bird do we keep in the shed\n\nThis is answer 22.")
    ]
    assert found[MORE_QWEN]["exchanges"] == [
        (
            MORE_QWEN,
            "2026-05-04",
            "/srv/app",
            "Read @notes.md and tell me where backups go\n\nTo the NAS in the cellar.",
        ),
        (MORE_QWEN, "2026-05-04", "/srv/app", "And the restore?\n\nIt takes an hour."),
    ]
    assert found[GEMINI]["exchanges"] == [
        (GEMINI, "2026-11-30", "/srv/app", "Which bird do we keep in the shed\n\nThis is answer 25.")
    ]
    assert "DROP" not in json.dumps(found, ensure_ascii=False)


def test_sessions_are_called_as_their_agent_calls_them() -> None:
    found = shown()
    assert {session: one["title"] for session, one in found.items()} == {
        OLD_CODEX: "Threshold of the gate",
        NEW_CODEX: "Find the bird in the shed",
        QWEN: "Which bird do we keep in the shed",
        MORE_QWEN: "Where backups go",
        GEMINI: "Find out which bird lives in the shed",
    }
    assert [one["damaged"] for one in found.values()].count(1) == 1


def test_sessions_of_programs_and_subagents_say_why_they_are_left_out() -> None:
    files, _ = scan_sessions(FOLDERS)
    reasons = [read(file)["left_out"] for file in files]
    # A subagent's of Codex, with its parent's first line behind its own, and one of Gemini; exec, and `-p` twice.
    # Nobody has answered the empty one, so that nothing tells who asked.
    assert sorted(map(str, reasons)) == ["None"] * 5 + ["automated"] * 5 + ["empty"]


@pytest.mark.parametrize("name", ["codex", "qwen", "gemini"])
def test_a_session_that_grows_is_gone_on_with(name: str, tmp_path: Path) -> None:
    home = tmp_path / name
    shutil.copytree(GOLDEN / name, home)
    whole = {file.path: read(file) for file in scan_sessions([home])[0]}
    for path, expected in whole.items():
        lines = Path(path).read_bytes().splitlines(keepends=True)
        bodies: dict[str, str] = {}
        state, last = None, None
        for count in range(1, len(lines) + 1):
            Path(path).write_bytes(b"".join(lines[:count]))
            file = FoundFile("conversation", path, "/srv/app", 0, count)
            for step in follow_session(file, state):
                assert not step.anew
                state = step.state()
                if step.document:
                    bodies[step.document.key] = step.document.body
                last = step.ending or last
        assert list(bodies.values()) == [body for *_, body in expected["exchanges"]]
        assert last
        assert (last.title, last.left_out) == (expected["title"], expected["left_out"])


def test_a_session_is_known_by_its_place() -> None:
    for file in scan_sessions(FOLDERS)[0]:
        assert is_session(file.path)
    for path in (
        "/h/.claude/projects/-srv-app/x.jsonl",
        "/h/.codex/history.jsonl",
        "/h/.claude/projects/a/rollout-1.jsonl",
    ):
        assert not is_session(path)


def test_a_program_that_asks_is_told_by_the_file_that_its_hook_names() -> None:
    asking = {Path(file.path).stem[-12:] for file in scan_sessions(FOLDERS)[0] if asked_by_program(file.path)}
    assert len(asking) == 5
    shown_ones = {one["exchanges"][0][0][-12:] for one in shown().values()}
    assert not asking & shown_ones
    assert not asked_by_program("/h/.claude/projects/-srv-app/x.jsonl")
    assert not asked_by_program("/nowhere/sessions/2026/01/01/rollout-1.jsonl")


def test_what_is_no_session_is_passed_over_or_named(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "01" / "01"
    day.mkdir(parents=True)
    (day / "rollout-empty.jsonl").write_bytes(b"")
    (day / "rollout-other.jsonl").write_bytes(
        b'{"type": "session_meta", "payload": {"id": 7, "cwd": ["x"]}}\n[]\n\xff\n'
    )
    (day / "rollout-list.jsonl").write_bytes(b'{"type": "session_meta", "payload": []}\n')
    (day / "rollout-relative.jsonl").write_bytes(b'{"type": "session_meta", "payload": {"id": "a", "cwd": "x"}}\n')
    (day / "rollout-folder.jsonl").mkdir()
    (day / "rollout-gone.jsonl").symlink_to(day / "nowhere")
    (day / "notes.jsonl").write_bytes(b"x")
    files, skipped = scan_sessions([tmp_path, tmp_path / "missing"])
    assert files == []
    assert [(Path(item.path).name, item.reason.split()[1]) for item in skipped] == [
        ("rollout-folder.jsonl", "a"),
        ("rollout-gone.jsonl", "be"),
    ]


def test_a_long_first_line_is_read_to_its_end(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "01" / "01"
    day.mkdir(parents=True)
    meta = {"base_instructions": {"text": "x" * 200_000}, "id": "a", "cwd": "/srv/app", "source": "cli"}
    (day / "rollout-1.jsonl").write_text(json.dumps({"type": "session_meta", "payload": meta}) + "\n")
    assert [file.project for file in scan_sessions([tmp_path])[0]] == ["/srv/app"]


def test_memory_notes_of_codex_and_qwen_are_read_as_notes_and_their_indexes_are_not() -> None:
    files, skipped = scan_memory(FOLDERS, Projects())
    assert skipped == []
    notes = [read_memory(file) for file in files]
    assert [(note.project, note.name, note.description) for note in notes] == [
        ("/srv/app", "gate threshold", "The threshold of the gate is calibrated per model"),
        ("/srv/app", "Backups go to the NAS", "Nightly backups are written to the NAS in the cellar"),
    ]
    assert "gates.toml" in notes[0].body
    assert "DROP" not in "".join(note.body for note in notes)


def test_a_folder_of_qwen_without_sessions_belongs_to_the_project_that_is_known(tmp_path: Path) -> None:
    (tmp_path / "projects" / "-srv-app" / "memory").mkdir(parents=True)
    (tmp_path / "projects" / "-srv-app" / "memory" / "a.md").write_text("A note\n")
    known = Projects().with_roots(["/srv/app"])
    assert [file.project for file in scan_memory([tmp_path], known)[0]] == ["/srv/app"]
    assert [file.project for file in scan_memory([tmp_path], Projects())[0]] == ["-srv-app"]


def test_repositories_of_other_agents_get_short_names_beside_the_known_ones() -> None:
    for scan in (scan_conversations(Projects(), FOLDERS), scan_notes([], Projects(), FOLDERS)):
        assert [(project.key, project.name) for project in scan.projects] == [("/srv/app", "app")]
    known = Projects().with_roots(["/srv/app"])
    assert known.with_roots(["/srv/app"]) is known
    assert [project.name for project in known.with_roots(["/home/mia/app"])] == ["srv/app", "mia/app"]
    assert [project.key for project in known.named("app")] == ["/srv/app"]


def test_the_configuration_names_other_folders_or_none() -> None:
    def configured(**values: object) -> list[Path]:
        return agent_folders(Config({**Config().values, **values}), {"CODEX_HOME": "/c"})

    assert configured()[0] == Path("/c")
    assert configured(**{"agents.folders": ["/x", "/y"]}) == [Path("/x"), Path("/y")]
    assert configured(**{"agents.sources": False}) == []
    with pytest.raises(ConfigError, match="a user who does not exist"):
        configured(**{"agents.folders": ["~nobody-of-this-name/x"]})


def test_the_environment_moves_the_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert record_folders({}) == [tmp_path / ".codex", tmp_path / ".qwen", tmp_path / ".gemini"]
    moved = {"CODEX_HOME": "/c", "QWEN_HOME": "~/q", "GEMINI_CLI_HOME": "/g", "QWEN_RUNTIME_DIR": "/r"}
    assert record_folders(moved) == [Path("/c"), tmp_path / "q", Path("/g/.gemini"), Path("/r")]
    assert agent_folder("claude", {}) == tmp_path / ".claude"
