"""The pipe's own constants and decisions; what the process does is tested with real daemons in tests/process."""

import subprocess
import sys

import pytest

from recall import version
from recall.hook import pipe
from recall.hook.wake import REPLACE_AFTER, may_replace
from recall.wire import paths, protocol


def test_what_the_pipe_shares_with_the_wire_is_equal() -> None:
    assert (pipe.PROTOCOL, pipe.BUILD) == (version.PROTOCOL, version.BUILD)
    assert (pipe.SOCKET, pipe.ENDPOINT) == (paths.SOCKET, paths.ENDPOINT)
    assert (pipe.MAX_HEADER, pipe.MAX_BODY, pipe.MAX_ANSWER) == (
        protocol.MAX_HEADER, protocol.MAX_BODY, protocol.MAX_ANSWER,
    )  # fmt: skip
    assert paths.StatePaths("/s").hook_log == "/s/" + pipe.HOOK_LOG


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["recall", "hook"], ("", 300)),
        (["recall", "hook", "--home", "/s"], ("/s", 300)),
        (["recall", "hook", "--budget", "120", "--home", "/s p"], ("/s p", 120)),
        (["recall", "hook", "--budget", "soon", "--home"], ("", 300)),
        (["recall", "hook", "--new-option", "x", "--home", "/s"], ("/s", 300)),
    ],
)
def test_arguments_are_read_and_unknown_ones_passed_over(
    words: list[str], expected: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECALL_HOME", raising=False)
    assert pipe.options(words) == expected


def test_the_state_folder_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL_HOME", "/from-environment")
    assert pipe.options(["recall"])[0] == "/from-environment"
    assert pipe.options(["recall", "hook", "--home", "/given"])[0] == "/given"


@pytest.mark.parametrize("entrypoint", ["sdk-cli", "sdk-ts", "sdk-py", "mcp", "claude-code-github-action"])
def test_automated_sessions_are_not_served(entrypoint: str) -> None:
    assert pipe.silenced({"CLAUDE_CODE_ENTRYPOINT": entrypoint})


@pytest.mark.parametrize("entrypoint", ["cli", "claude-vscode", "claude-desktop", ""])
def test_people_are_served(entrypoint: str) -> None:
    assert not pipe.silenced({"CLAUDE_CODE_ENTRYPOINT": entrypoint})
    assert not pipe.silenced({})


def test_the_off_switch_in_the_environment() -> None:
    assert pipe.silenced({"RECALL_OFF": "1"})
    assert not pipe.silenced({"RECALL_OFF": "0"})
    assert not pipe.silenced({"RECALL_OFF": ""})


def test_an_older_daemon_is_replaced_at_most_once_a_minute() -> None:
    assert not may_replace(0.0, 1e9)
    assert not may_replace(REPLACE_AFTER - 1, 1e9)
    assert not may_replace(1e9, REPLACE_AFTER - 1)
    assert may_replace(REPLACE_AFTER, REPLACE_AFTER)


def test_a_fresh_hook_process_loads_only_the_allow_list() -> None:
    """The hook's speed is what it does not import; compare with DESIGN.md's rings."""
    code = "import sys; before = set(sys.modules); from recall.hook import pipe; print(*set(sys.modules) - before)"
    root = pipe.__file__.rsplit("/recall/", 1)[0]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {root!r}); {code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    allowed = {"recall", "recall.hook", "recall.hook.pipe", "_socket"}
    base = {
        "os",
        "os.path",
        "stat",
        "_stat",
        "posixpath",
        "genericpath",
        "_collections_abc",
        "abc",
        "_abc",
        "io",
        "codecs",
    }
    assert set(done.stdout.split()) <= allowed | base
