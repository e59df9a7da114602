"""The whole round on Windows, from source and packed: index, daemon, hook, answer, stop, uninstall."""

import json
from pathlib import Path

import pytest

from wine.person import QUESTION, Person

pytestmark = pytest.mark.wine

SETTINGS = b'{\r\n\t"model": "opus",\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}\r\n}'


def test_notes_are_indexed_and_found_by_their_meaning_in_either_language(person: Person) -> None:
    person.usual_notes()
    assert "3 added" in person.said("index")
    hits = person.json("query", "In which language should you answer me in this project?")["hits"]
    assert hits[0]["name"] == "返信は日本語で"
    assert hits[0]["path"].endswith("返信は日本語で.md")
    assert "返信は日本語で" in person.said("query", "どの言語で返事をする？")


def test_the_hook_starts_the_daemon_and_the_next_message_is_answered_with_its_note(person: Person) -> None:
    person.usual_notes()
    first = person.hook(QUESTION)
    # Its streams were read to their end, so nothing that it started holds them.
    assert first.silent
    status = person.settled()
    assert status["serve"]["counts"]["memory"] > 0
    context = person.context(QUESTION)
    assert context is not None
    assert "[memory] staging-port — The staging database listens on port 6543, not 5432" in context
    japanese = person.context("この案件ではどの言語で返事を書けばよい？")
    assert japanese is not None
    assert "返信は日本語で" in japanese
    assert person.hook("お疲れさまです。今日はいい天気ですね").silent


def test_stop_ends_the_daemon_and_the_next_message_starts_another(ready: Person) -> None:
    pid = ready.settled()["serve"]["pid"]
    assert ready.said("stop") == "stopped\n"
    assert not ready.state_file("endpoint").exists()
    assert ready.said("stop") == "no daemon was running\n"
    assert ready.start()["serve"]["pid"] != pid


def test_a_second_daemon_finds_the_lock_held_and_ends_with_0(ready: Person) -> None:
    pid = ready.settled()["serve"]["pid"]
    assert b"already serves" in ready.run("serve").stderr
    assert ready.settled()["serve"]["pid"] == pid


def test_setup_registers_an_executable_and_uninstall_gives_the_bytes_back(person: Person) -> None:
    person.usual_notes()
    person.settings.write_bytes(SETTINGS)
    assert "registered the hook" in person.said("setup")
    (group,) = json.loads(person.settings.read_bytes())["hooks"]["UserPromptSubmit"]
    (handler,) = group["hooks"]
    command = handler["command"]
    assert command.endswith("\\recall.exe")
    assert person.file(command).is_file()
    assert handler["args"] == ["hook", "--home", person.state]

    assert person.call([command, *handler["args"]], person.message("hello, how are you?")).silent
    person.settled()
    answered = person.call([command, *handler["args"], "--budget", "20000"], person.message(QUESTION))
    assert b"staging-port" in answered.stdout
    bare = person.call([command], person.message(QUESTION))  # clients before 2.1.139 drop the arguments
    assert bare.returncode == 0
    assert person.json("status")["hook"]["registered"] is True

    person.said("uninstall")
    assert person.settings.read_bytes() == SETTINGS
    assert person.said("stop") == "no daemon was running\n"


def test_what_goes_wrong_is_one_sentence_with_a_path_in_utf_8(person: Person) -> None:
    wrong = f"{person.home}\\これは ファイル"
    person.file(wrong).write_bytes(b"")
    done = person.run("status", "--home", wrong, check=False)
    assert done.returncode == 2
    assert wrong in done.stderr.decode("utf-8")


def test_who_must_not_be_answered_wakes_no_daemon(person: Person) -> None:
    assert person.hook(QUESTION, CLAUDE_CODE_ENTRYPOINT="sdk-cli").silent
    assert person.hook(QUESTION, RECALL_OFF="1").silent
    assert not Path(person.file(person.state)).exists()
