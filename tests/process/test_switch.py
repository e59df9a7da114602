"""Changing the model under a running daemon: the old index answers until the new one is complete."""

import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from recall.embed.catalog import SHIPPED, find_model
from recall.store.reader import Reader
from recall.wire.lock import HeldLock
from recall.wire.transport import ask
from support import Sandbox, wait_until

BUNDLED, OTHER = "multilingual-e5-small", "e5-without-prefixes"
NOTES = 60
SUBJECTS = ("ports", "署名", "backups", "the linter", "日報", "migrations")
QUESTIONS = (
    "which port does service 7 use?",
    "リリースの署名はいつ作る？",
    "how often do we make backups",
    "who may skip the linter",
    "日報は何時までに出す？",
)


@pytest.fixture
def noted(sandbox: Sandbox) -> Sandbox:
    """Notes that take seconds to embed, and a second model: the bundled weights with other prefixes."""
    for number in range(NOTES):
        subject = SUBJECTS[number % len(SUBJECTS)]
        body = (
            f"Rule {number} about {subject}: "
            + f"it was decided in week {number} and holds for service {number}. " * 25
        )
        sandbox.note(f"note-{number}", f"{subject} of service {number}", body)
    install_other(sandbox)
    sandbox.configure("daemon.scan_seconds = 1\n")
    return sandbox


def install_other(sandbox: Sandbox) -> None:
    bundled = find_model(BUNDLED, None)
    folder = Path(sandbox.paths.models) / OTHER
    folder.mkdir(parents=True)
    for file in bundled.files:
        os.link(file, folder / file.name)
    manifest = next(place / f"{BUNDLED}.toml" for place in SHIPPED if (place / f"{BUNDLED}.toml").is_file())
    text = manifest.read_text("utf-8").replace(f'"{BUNDLED}"', f'"{OTHER}"')
    (folder / "manifest.toml").write_text(text.replace('"query: "', '""').replace('"passage: "', '""'), "utf-8")


def choose(sandbox: Sandbox, model: str) -> None:
    sandbox.configure(f'model = "{model}"\ndaemon.scan_seconds = 1\n')


def query(sandbox: Sandbox, question: str) -> dict[str, Any]:
    fields = {"question": question, "cwd": str(sandbox.project)}
    reply, body = ask(sandbox.paths, "query", json.dumps(fields).encode(), timeout=30.0)
    assert reply.status == "ok", body
    found: dict[str, Any] = json.loads(body)
    return found


def ranking(answer: dict[str, Any]) -> list[tuple[str, float]]:
    return [(hit["name"], hit["score"]) for hit in answer["hits"]]


def model_of(sandbox: Sandbox) -> str | None:
    return (sandbox.daemon() or {}).get("model")


class Asker(threading.Thread):
    """Asks 200 questions a minute until it is told to stop, by `query` and by the hook in turns."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__()
        self.sandbox = sandbox
        self.answers: list[tuple[str, dict[str, Any]]] = []
        self.contexts: list[str | None] = []
        self.errors: list[str] = []
        self.enough = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.enough.wait(0.3):
            question = QUESTIONS[number % len(QUESTIONS)]
            number += 1
            try:
                if number % 2:
                    self.answers.append((question, query(self.sandbox, question)))
                else:
                    self.contexts.append(self.sandbox.context(question))
            except Exception as error:
                self.errors.append(repr(error))


def test_every_answer_during_a_switch_is_of_one_model_or_the_other(noted: Sandbox) -> None:
    noted.start()
    pure = {BUNDLED: {question: ranking(query(noted, question)) for question in QUESTIONS}}
    asker = Asker(noted)
    asker.start()
    choose(noted, OTHER)
    wait_until(lambda: model_of(noted) == OTHER, "the other model answers", 300)
    time.sleep(2)
    asker.enough.set()
    asker.join()
    pure[OTHER] = {question: ranking(query(noted, question)) for question in QUESTIONS}
    assert asker.errors == []
    models = [answer["model"] for _, answer in asker.answers]
    assert len(models) > 5
    assert models == sorted(models, key=[BUNDLED, OTHER].index), "first the one, then the other"
    assert set(models) == {BUNDLED, OTHER}
    for question, answer in asker.answers:
        assert ranking(answer) == pure[answer["model"]][question]
    assert pure[BUNDLED] != pure[OTHER]


def test_going_back_embeds_nothing(noted: Sandbox) -> None:
    noted.start()
    choose(noted, OTHER)
    wait_until(lambda: model_of(noted) == OTHER, "the other model answers", 300)
    before = rows(noted)
    choose(noted, BUNDLED)
    wait_until(lambda: model_of(noted) == BUNDLED, "the first model answers again")
    assert rows(noted) == before
    assert len(set(before.values())) == 1


def rows(sandbox: Sandbox) -> dict[str, int]:
    reader = Reader(Path(sandbox.paths.index))
    try:
        return reader.rows_by_model()
    finally:
        reader.close()


def rows_of(sandbox: Sandbox, model: str) -> int:
    return next((count for identity, count in rows(sandbox).items() if identity.startswith(f"{model}@")), 0)


def test_a_killed_switch_goes_on_and_the_old_model_answers_meanwhile(noted: Sandbox) -> None:
    pid = noted.start()["pid"]
    choose(noted, OTHER)
    wait_until(lambda: rows_of(noted, OTHER) > 20, "some vectors of the other model")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not HeldLock.is_held(noted.paths.daemon_lock), "the daemon is gone")
    done = rows_of(noted, OTHER)
    assert done < rows_of(noted, BUNDLED)
    noted.start_without_waiting()
    wait_until(lambda: model_of(noted) is not None, "a model answers")
    found = noted.daemon()
    assert found
    assert (found["model"], found["coming_model"]) == (BUNDLED, OTHER)
    assert query(noted, QUESTIONS[0])["hits"]
    assert f"answers until {OTHER} is there" in noted.run("status").stdout
    refused = noted.run("models", "remove", OTHER, "--yes", check=False)
    assert refused.returncode == 1
    wait_until(lambda: model_of(noted) == OTHER, "the other model answers", 300)
    assert rows_of(noted, OTHER) == rows_of(noted, BUNDLED)


def test_a_note_of_this_minute_is_found_while_the_switch_is_under_way(noted: Sandbox) -> None:
    noted.start()
    choose(noted, OTHER)
    wait_until(lambda: (noted.daemon() or {}).get("coming_model") == OTHER, "the switch is under way")
    noted.note("kiln", "the pottery kiln is fired on Thursdays", "The pottery kiln is fired on Thursdays only.")

    def found() -> bool:
        answer = query(noted, "when is the pottery kiln fired?")
        assert answer["model"] == BUNDLED, "the switch was over too soon for this test"
        return bool(answer["hits"][0]["name"] == "kiln")

    wait_until(found, "the new note is found by the old model")


def test_a_model_that_cannot_be_loaded_is_a_problem_in_status_and_the_old_one_stays(noted: Sandbox) -> None:
    noted.start()
    choose(noted, "bge-m9")
    wait_until(lambda: "bge-m9" in ((noted.daemon() or {}).get("problem") or ""), "status names the model")
    assert query(noted, QUESTIONS[0])["model"] == BUNDLED
    choose(noted, OTHER)
    wait_until(lambda: model_of(noted) == OTHER, "the other model answers", 300)
    assert not (noted.daemon() or {}).get("problem")


def test_the_choice_can_change_again_before_the_switch_is_over(noted: Sandbox) -> None:
    noted.start()
    choose(noted, OTHER)
    wait_until(lambda: rows_of(noted, OTHER) > 5, "some vectors of the other model")
    choose(noted, BUNDLED)

    def settled() -> bool:
        found = noted.daemon() or {}
        return found.get("state") == "ready" and found.get("coming_model") is None

    wait_until(settled, "no switch is under way")
    assert model_of(noted) == BUNDLED
    assert rows_of(noted, OTHER) < rows_of(noted, BUNDLED)


def test_another_model_answers_where_the_chosen_one_is_gone_until_it_is_back(noted: Sandbox) -> None:
    noted.start()
    choose(noted, OTHER)
    wait_until(lambda: model_of(noted) == OTHER, "the other model answers", 300)
    noted.run("stop")
    folder = Path(noted.paths.models) / OTHER
    away = folder.rename(noted.root / "away")
    noted.start()
    assert query(noted, QUESTIONS[0])["model"] == BUNDLED
    said = noted.run("status").stdout
    assert f"answers, in place of {OTHER}" in said
    assert f"no model called {OTHER}" in said
    refused = noted.run("index", check=False)
    assert (refused.returncode, OTHER in refused.stderr) == (1, True)
    away.rename(folder)
    wait_until(lambda: query(noted, QUESTIONS[0])["model"] == OTHER, "the model that came back answers", 60)


def test_a_damaged_model_does_not_silence_the_others(noted: Sandbox) -> None:
    choose(noted, OTHER)
    graph = Path(noted.paths.models) / OTHER / "model.onnx"
    content = graph.read_bytes()
    graph.unlink()  # a link to the bundled model's file
    graph.write_bytes(bytes(len(content)))
    noted.start()
    assert query(noted, QUESTIONS[0])["model"] == BUNDLED
    assert "could not load" in noted.run("status").stdout


def test_another_version_of_the_model_in_use_is_followed(noted: Sandbox) -> None:
    choose(noted, OTHER)
    noted.start()
    before = rows(noted)
    manifest = Path(noted.paths.models) / OTHER / "manifest.toml"
    manifest.write_text(
        manifest.read_text("utf-8").replace('passage_prefix = ""', 'passage_prefix = "note: "'), "utf-8"
    )
    wait_until(lambda: len(rows(noted)) == 2, "the new version embeds")
    (new,) = set(rows(noted)) - set(before)
    wait_until(lambda: (noted.daemon() or {}).get("identity") == new, "the new version answers", 300)


def test_a_device_that_is_not_there_leaves_the_answers_to_the_cpu(noted: Sandbox) -> None:
    noted.configure('device = "cuda"\n')
    noted.start_without_waiting()
    wait_until(lambda: model_of(noted) is not None, "a model answers")
    assert query(noted, QUESTIONS[0])["model"] == BUNDLED
    found = noted.daemon() or {}
    assert "cuda was asked for" in found["problem"]
    assert found["device"].startswith("CPU")


def test_mended_files_of_the_model_in_use_are_taken_up(noted: Sandbox) -> None:
    choose(noted, OTHER)
    noted.start()
    before = ranking(query(noted, QUESTIONS[0]))
    source = noted.root / "source"
    shutil.copytree(Path(noted.paths.models) / OTHER, source)
    noted.run("stop")
    data = Path(noted.paths.models) / OTHER / "model.onnx.data"
    content = bytearray(data.read_bytes())
    content[40_000_000:70_000_000] = bytes(30_000_000)
    data.unlink()  # a link to the bundled model's file
    data.write_bytes(content)
    noted.start()
    assert ranking(query(noted, QUESTIONS[0])) != before
    noted.run("models", "add", OTHER, "--from", str(source), "--yes", "--no-measure")
    wait_until(lambda: ranking(query(noted, QUESTIONS[0])) == before, "the mended model answers", 60)
