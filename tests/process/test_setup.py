"""setup, uninstall, index and the other commands, as a person runs them."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from recall.cli.main import COMMANDS
from recall.core.config import load_config
from recall.wire.lock import HeldLock
from support import Sandbox

QUESTION = "which port does the staging database listen on?"
SETTINGS = (
    '{\r\n\t"model": "opus",\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\r\n}'
)


@pytest.fixture
def noted(sandbox: Sandbox) -> Sandbox:
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    sandbox.note("no-friday-deploys", "Never deploy on a Friday afternoon", "Nobody is there when it breaks.")
    return sandbox


def entry(sandbox: Sandbox) -> dict[str, object]:
    settings = json.loads((sandbox.claude / "settings.json").read_bytes())
    (group,) = settings["hooks"]["UserPromptSubmit"]
    (handler,) = group["hooks"]
    assert isinstance(handler, dict)
    return handler


def test_after_setup_the_registered_command_answers_and_uninstall_gives_the_bytes_back(noted: Sandbox) -> None:
    settings = noted.claude / "settings.json"
    settings.write_bytes(SETTINGS.encode())
    said = noted.run("setup").stdout
    assert "2 files: 2 added" in said
    assert "CPU" in said
    assert "ms" in said
    handler = entry(noted)
    assert handler["timeout"] == 5
    command = [str(handler["command"]), *map(str, handler["args"])]  # type: ignore[call-overload]
    done = subprocess.run(command, input=noted.message(QUESTION), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"staging-port" in done.stdout
    bare = subprocess.run(command[:1], input=noted.message(QUESTION), capture_output=True)
    assert b"staging-port" in bare.stdout  # clients before 2.1.139 drop the arguments
    assert noted.json("status")["hook"]["registered"] is True

    before = settings.read_bytes()
    assert "the hook stands in" in noted.run("setup").stdout
    assert settings.read_bytes() == before

    noted.run("uninstall")
    assert settings.read_bytes() == SETTINGS.encode()
    assert not HeldLock.is_held(noted.paths.daemon_lock)
    assert not (noted.state / "bin").exists()
    assert noted.json("status")["hook"]["registered"] is False


def test_setup_names_other_programs_and_hooks_and_touches_neither(
    noted: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = noted.root / "bin" / "recall"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(other.parent), prepend=os.pathsep)
    theirs = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "node /x/cmem/recall.js"}]}]}}
    settings = noted.claude / "settings.json"
    settings.write_text(json.dumps({**theirs, "enabledPlugins": {"claude-mem@thedotmack": True}}))
    before = settings.read_bytes()
    for options in (["--dry-run"], ["--yes"]):
        said = noted.run("setup", *options).stdout
        assert f"starts another program, {other}" in said
        assert said.count("cmem answers the same messages") == 1
        assert said.count("claude-mem answers the same messages") == 1
    noted.run("uninstall")
    assert settings.read_bytes() == before
    assert other.read_text() == "#!/bin/sh\n"


def test_uninstall_leaves_no_settings_file_where_there_was_none_and_a_second_one_says_so(noted: Sandbox) -> None:
    noted.run("setup")
    noted.run("uninstall")
    assert not (noted.claude / "settings.json").exists()
    assert "no settings.json called recall" in noted.run("uninstall").stdout


def test_a_settings_file_that_cannot_be_edited_keeps_the_hook_in_no_other(noted: Sandbox) -> None:
    noted.run("setup")
    noted.run("setup", "--scope", "project")
    (noted.claude / "settings.json").write_text('{"command": "recall-hook",,}')
    done = noted.run("uninstall", check=False)
    assert done.returncode == 1
    assert str(noted.claude / "settings.json") in done.stderr
    assert not (noted.project / ".claude" / "settings.local.json").exists()
    assert (noted.state / "bin" / "recall-hook").exists()  # the broken file may still call it


def test_setup_for_one_project_is_undone_from_anywhere(noted: Sandbox) -> None:
    noted.run("setup", "--scope", "project")
    settings = noted.project / ".claude" / "settings.local.json"
    assert b"recall-hook" in settings.read_bytes()
    done = subprocess.run([sys.executable, "-m", "recall", "uninstall"], cwd=noted.home, capture_output=True, text=True)
    assert done.returncode == 0
    assert not settings.exists()


@pytest.mark.parametrize("content", ['{"hooks": {},}', "// mine\n{}", '{"hooks": []}', "\x00", "[]"])
def test_a_settings_file_that_cannot_be_edited_stays_and_nothing_else_is_done(noted: Sandbox, content: str) -> None:
    settings = noted.claude / "settings.json"
    settings.write_text(content)
    done = noted.run("setup", check=False)
    assert done.returncode == 1
    assert str(settings) in done.stderr
    assert '"UserPromptSubmit"' in done.stderr  # the snippet to paste
    assert settings.read_text() == content
    assert (noted.state / "bin" / "recall-hook").exists()  # so that the pasted snippet works
    assert not Path(noted.paths.index).exists()
    noted.run("uninstall")
    assert settings.read_text() == content


def test_a_machine_too_slow_for_the_cut_off_is_asked_before_it_is_raised(noted: Sandbox) -> None:
    noted.configure("hook.budget_ms = 60\n")
    said = noted.run("setup").stdout
    assert "too slow for 60 ms" in said
    assert "kept 60 ms" in said
    assert entry(noted)["args"] == ["hook", "--home", str(noted.state), "--budget", "60"]
    assert "set hook.budget_ms to" in noted.run("setup", "--yes").stdout
    budget = load_config(Path(noted.paths.config))["hook.budget_ms"]
    assert budget >= 200
    assert entry(noted)["args"] == ["hook", "--home", str(noted.state), *(["--budget", str(budget)] * (budget != 300))]


def test_a_dry_run_changes_nothing(noted: Sandbox) -> None:
    before = sorted(noted.home.rglob("*"))
    assert "would add this" in noted.run("setup", "--dry-run").stdout
    assert sorted(noted.home.rglob("*")) == before
    assert not noted.state.exists()


def test_setup_reads_the_claude_folder_of_the_shell_also_when_the_daemon_starts_elsewhere(
    noted: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = noted.home / ".claude-work"
    shutil.copytree(noted.claude, other)
    shutil.rmtree(noted.claude)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(other))
    noted.run("setup")
    noted.run("stop")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert noted.json("query", QUESTION)["hits"][0]["name"] == "staging-port"


def test_index_without_a_daemon_and_with_one_gives_the_same_report(noted: Sandbox) -> None:
    alone = noted.json("index")
    assert (alone["scanned"], alone["added"], alone["chunks_embedded"], alone["skipped"]) == (2, 2, 4, [])
    noted.start()
    noted.note("tabs", "Indent Makefiles with tabs", "make refuses spaces.")
    by_daemon = noted.json("index")
    assert (by_daemon["scanned"], by_daemon["added"], by_daemon["chunks_embedded"]) == (3, 1, 2)
    assert set(alone) == set(by_daemon)
    assert noted.json("query", "tabs or spaces in Makefiles?")["hits"][0]["name"] == "tabs"


def test_what_an_index_run_beside_the_daemon_wrote_is_seen_by_it(noted: Sandbox) -> None:
    """A run that began before the daemon did, or a cron job of another version."""
    noted.configure("daemon.scan_seconds = 1\n")
    noted.start()
    code = "import recall.cli.index as i; i.HeldLock.is_held = staticmethod(lambda path: False); "
    code += "from recall.wire.paths import StatePaths; print(i._here(StatePaths(%r), i.ProgressLine()))"
    noted.note("tabs", "Indent Makefiles with tabs", "make refuses spaces.")
    subprocess.run([sys.executable, "-c", code % str(noted.state)], check=True, stdout=subprocess.DEVNULL)
    assert noted.json("index")["unchanged"] == 3
    assert "tabs" in [hit["name"] for hit in noted.json("query", "tabs or spaces in Makefiles?")["hits"]]


def test_a_second_index_run_at_the_same_time_says_so_and_exits_0(noted: Sandbox) -> None:
    with HeldLock.acquire(_state(noted)) as lock:  # type: ignore[union-attr]
        assert lock
        done = noted.run("index")
    assert "another run is under way" in done.stdout


def _state(sandbox: Sandbox) -> str:
    sandbox.state.mkdir(mode=0o700)
    return sandbox.paths.index_lock


def test_two_index_commands_at_once_leave_a_whole_index(noted: Sandbox) -> None:
    for number in range(10):
        noted.note(f"note-{number}", f"Service {number} listens on port {7000 + number}", "x" * 300)
    runs = [threading.Thread(target=noted.run, args=("index",)) for _ in range(3)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert noted.json("index")["unchanged"] == 12
    assert noted.json("status")["index"]["documents"]["memory"] == 12


def test_query_shows_what_the_hook_would_hand_over(noted: Sandbox) -> None:
    noted.start()
    found = noted.json("query", QUESTION)
    usual = {"tier", "gap", "top", "reason", "project", "hits", "model", "indexing", "ms"}
    assert set(found) == usual | {"probability", "signs"}
    assert found["project"] == "project"
    shown = {"rank", "score", "kind", "name", "description", "path", "project", "date", "signs"}
    assert set(found["hits"][0]) == shown
    assert noted.run("query", "--auto", QUESTION).stdout.rstrip("\n") == noted.context(QUESTION)
    assert noted.json("query", "--auto", QUESTION)["additional_context"] == noted.context(QUESTION)
    silent = noted.run("query", "--auto", "ok").stdout
    assert silent.startswith("(nothing shown: the message is shorter than hook.min_characters")
    assert silent.endswith("; tier=none gap=0.000 top=0.000)\n")
    assert len(noted.json("query", QUESTION, "--limit", "1")["hits"]) == 1
    assert noted.json("query", QUESTION, "--kind", "knowledge")["hits"] == []


def test_another_projects_notes_are_found_only_when_it_is_named(noted: Sandbox) -> None:
    other = noted.home / "other-shop"
    (other / ".git").mkdir(parents=True)
    noted.note("backup-time", "Backups of the shop run at three in the morning", "x", project=other)
    transcript = noted.claude_folder(other) / "s.jsonl"
    transcript.write_text(json.dumps({"type": "user", "cwd": str(other)}) + "\n")
    noted.start()
    question = "when do the backups run?"
    assert "backup-time" not in [hit["name"] for hit in noted.json("query", question)["hits"]]
    named = noted.json("query", question, "--repo", "other-shop")
    assert [hit["name"] for hit in named["hits"]] == ["backup-time"]
    assert named["project"] == "other-shop"
    for name in ("nowhere", ""):
        unknown = noted.run("query", question, "--repo", name, check=False)
        assert unknown.returncode == 2
        assert "other-shop" in unknown.stderr


def test_a_project_that_no_transcript_tells_the_path_of_can_be_named_as_it_is_listed(noted: Sandbox) -> None:
    listed = noted.run("query", "x y z", "--repo", "nowhere", check=False).stderr
    name = listed.rpartition("known are: ")[2].strip()
    assert noted.json("query", QUESTION, "--repo", name)["hits"][0]["name"] == "staging-port"


def test_skipped_files_are_listed_with_their_reasons(noted: Sandbox) -> None:
    bad = noted.note("bad", "x", "y")
    bad.write_bytes(b"\x00\x01\x02" * 100)
    noted.run("index")
    (skipped,) = noted.json("status")["index"]["skipped"]
    assert skipped["path"] == str(bad)
    assert skipped["reason"]
    assert str(bad) in noted.run("status").stdout


def test_status_works_before_anything_is_set_up_and_starts_nothing(sandbox: Sandbox) -> None:
    found = sandbox.json("status")
    assert (found["setup"], found["serve"]["ok"], found["serve"]["state"]) == (False, False, "stopped")
    assert not sandbox.state.exists()


def test_the_demo_ends_with_headlines_and_leaves_nothing(sandbox: Sandbox) -> None:
    done = sandbox.run("demo")
    assert done.stdout.count("[memory]") >= 3
    assert "  | (nothing)" in done.stdout
    assert not sandbox.state.exists()
    assert list(sandbox.claude.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(sandbox: Sandbox, command: str) -> None:
    done = sandbox.run(command, "--help")
    assert "usage: recall " + command in done.stdout
    assert not sandbox.state.exists()


def test_names_cannot_forge_lines_or_control_the_terminal(noted: Sandbox) -> None:
    bad = noted.claude_folder(noted.project) / "memory" / "a\nhook     registered\n\033[2J\u202e.md"
    bad.write_text("", encoding="utf-8")
    noted.run("index")
    assert noted.json("status")["index"]["skipped"][0]["path"] == str(bad)
    said = noted.run("status").stdout
    assert "\033" not in said
    assert "\u202e" not in said
    assert "\nhook     registered\n" not in said
    bad.write_text("The staging database is on port 6543", encoding="utf-8")
    assert "\033" not in noted.run("query", QUESTION).stdout


def test_two_state_folders_on_one_settings_file_do_not_undo_each_other(noted: Sandbox) -> None:
    noted.run("setup")
    other = noted.root / "other-state"
    assert str(noted.state) in noted.run("setup", "--home", str(other)).stdout
    assert str(other) in noted.run("uninstall").stdout
    assert entry(noted)["args"] == ["hook", "--home", str(other)]
    noted.run("uninstall", "--home", str(other))
    assert b"recall" not in (noted.claude / "settings.json").read_bytes()


def test_status_says_why_nothing_comes(noted: Sandbox) -> None:
    assert "not registered" in noted.run("status").stdout
    noted.run("setup")
    shutil.rmtree(noted.state / "bin")
    assert "recall-hook is missing" in noted.run("status").stdout
    noted.run("setup")
    noted.configure("enabled = false\n")
    assert "switched off" in noted.run("status").stdout
    (noted.claude / "settings.json").write_text('{"disableAllHooks": true}')
    noted.configure("")
    assert noted.json("status")["hook"]["disabled"] is True


@pytest.mark.parametrize("name", ["settings.json", "config.toml"])
def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(noted: Sandbox, name: str) -> None:
    noted.state.mkdir(mode=0o700)
    os.mkfifo((noted.claude if name == "settings.json" else noted.state) / name)
    done = noted.run("setup", check=False, timeout=60)
    assert done.returncode == 1
    assert name in done.stderr
    noted.run("status")


@pytest.mark.parametrize(
    "config",
    ['claude_folders = ["~nobody-of-this-name/x"]', r'claude_folders = ["/a\u0000b"]', "x = " + "[" * 5000],
    ids=["unknown user", "NUL", "nested"],
)
def test_a_bad_configuration_is_one_sentence_for_every_command(noted: Sandbox, config: str) -> None:
    noted.configure(config)
    done = noted.run("index", check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "claude_folders" in noted.json("status")["problem"] or "lists" in noted.json("status")["problem"]


def test_closed_streams_and_a_deleted_folder_are_no_reason_to_fail(noted: Sandbox) -> None:
    command = f"{sys.executable} -m recall"
    assert subprocess.run(f"{command} status >&-", shell=True).returncode == 0
    gone = "mkdir gone; cd gone; rmdir ../gone; "
    done = subprocess.run(
        f"{gone} {command} status && {command} query x", shell=True, cwd=noted.home, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_an_interrupted_demo_leaves_no_daemon_and_no_folder(noted: Sandbox) -> None:
    before = set(Path(tempfile.gettempdir()).glob("recall-demo-*"))
    with subprocess.Popen([sys.executable, "-m", "recall", "demo"], stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout
        for line in demo.stdout:
            if line.startswith("daemon started"):
                demo.terminate()
        assert demo.wait(timeout=30) == 1
    assert set(Path(tempfile.gettempdir()).glob("recall-demo-*")) <= before


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("query",),
        ("query", "x", "--limit", "1.5"),
        ("query", "x", "--limit", "0"),
        ("setup", "--scope", "x"),
    ],
)
def test_wrong_usage_ends_with_code_2(sandbox: Sandbox, words: tuple[str, ...]) -> None:
    done = sandbox.run(*words, check=False)
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_a_state_folder_that_is_a_file_is_said_in_one_sentence(sandbox: Sandbox) -> None:
    Path(sandbox.state).write_text("x")
    for words in (("index",), ("serve",), ("query", QUESTION)):
        done = sandbox.run(*words, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("recall: expected a folder")
        assert "Traceback" not in done.stderr
    Path(sandbox.state).unlink()
