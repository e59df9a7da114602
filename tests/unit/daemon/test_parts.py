"""Live files and the turnstile."""

import threading
from pathlib import Path

from recall.core.config import Config, load_config
from recall.daemon.live import Live
from recall.daemon.turnstile import Turnstile


def test_the_configuration_is_read_again_when_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    live = Live(str(path), load_config, Config())
    assert live.current()["enabled"] is True
    path.write_text("enabled = false\n")
    assert live.current()["enabled"] is False
    path.unlink()
    assert live.current()["enabled"] is True


def test_the_last_good_configuration_stays_while_the_file_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("hook.min_characters = 3\n")
    live = Live(str(path), load_config, Config())
    assert live.current()["hook.min_characters"] == 3
    path.write_text("hook.min_characters = 'three'\n")
    assert live.current()["hook.min_characters"] == 3
    assert "hook.min_characters" in live.problem
    path.write_text("hook.min_characters = 4\n")
    assert live.current()["hook.min_characters"] == 4
    assert live.problem == ""


def test_the_indexer_waits_while_a_question_is_present() -> None:
    turnstile, passed = Turnstile(), threading.Event()

    def index() -> None:
        turnstile.let_questions_pass()
        passed.set()

    with turnstile.question():
        thread = threading.Thread(target=index)
        thread.start()
        assert not passed.is_set()
    thread.join()
    assert passed.is_set()


def test_without_questions_nothing_waits_and_a_question_for_ever_cannot_starve_the_indexer() -> None:
    turnstile = Turnstile()
    turnstile.let_questions_pass()
    with turnstile.question():
        turnstile.let_questions_pass()  # returns when patience is spent
