"""The plugin's launcher: which program it finds, and that the hook is silent whatever is wrong."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).resolve().parents[3] / "plugin" / "bin" / "recall"
MESSAGE = b'{"prompt": "$(touch canary) `touch canary`; which port?", "hook_event_name": "UserPromptSubmit"}'

#: Prints its place, its arguments and what it was sent.
_PROGRAM = """#!/bin/sh
folder=${0%/*}
echo "${folder##*/}/${0##*/} $*" && cat
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the plugin's hooks are for Linux and macOS")


class Person:
    """A home with programs in it, each of which prints its name, its arguments and what it was sent."""

    def __init__(self, home: Path) -> None:
        self.home = home
        where = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
        self.data = home / where / "recall"
        self.bin = home / "bin"
        self.bin.mkdir()
        self.environment = {"HOME": str(home), "PATH": f"{self.bin}:/usr/bin:/bin"}

    def program(self, path: Path, script: str = "") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script or _PROGRAM, encoding="utf-8")
        path.chmod(0o755)
        return path

    def installed(self, script: str = "") -> Path:
        version = self.data / "versions" / "0.1.0-3fa9c2d1"
        program = self.program(version / "recall", script)
        (self.data / "current").symlink_to(Path("versions") / version.name)
        return program

    def launch(
        self, *words: str, launcher: Path = LAUNCHER, **environment: str
    ) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [launcher, *words], input=MESSAGE, capture_output=True, cwd=self.home, timeout=30,
            env=self.environment | environment,
        )  # fmt: skip


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_without_a_program_the_hook_is_silent_and_a_command_says_what_to_do(person: Person) -> None:
    for words in ((), ("hook",)):
        done = person.launch(*words)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    done = person.launch("query", "which port?")
    assert (done.returncode, done.stdout) == (127, b"")
    assert done.stderr.count(b"\n") == 1
    assert str(person.data).encode() in done.stderr
    assert not (person.home / "canary").exists()


@pytest.mark.parametrize("words", [(), ("hook",)])
def test_the_hook_gets_the_message_and_the_usual_state_folder(person: Person, words: tuple[str, ...]) -> None:
    person.installed()
    done = person.launch(*words)
    assert done.stdout == f"current/recall hook --home {person.data}\n".encode() + MESSAGE
    assert (done.returncode, done.stderr) == (0, b"")
    elsewhere = person.launch(*words, RECALL_HOME="/state")
    assert elsewhere.stdout == b"current/recall hook\n" + MESSAGE
    assert not (person.home / "canary").exists()


def test_programs_are_looked_for_where_they_are_installed_then_on_the_path(person: Person) -> None:
    person.program(person.bin / "recall")
    assert person.launch("hook").stdout.startswith(b"bin/recall hook")
    person.program(person.home / ".local" / "bin" / "recall")
    assert person.launch("hook", PATH="/usr/bin:/bin").stdout.startswith(b"bin/recall hook")
    person.program(person.data / "bin" / "recall-hook")
    assert person.launch("hook").stdout.startswith(b"bin/recall-hook hook --home ")
    person.installed()
    assert person.launch("hook").stdout.startswith(b"current/recall hook --home ")
    assert person.launch("query", "a b").stdout.startswith(b"current/recall query a b\n")


def test_the_state_folder_of_the_environment_names_its_launcher(person: Person) -> None:
    person.program(person.home / "state" / "bin" / "recall-hook")
    done = person.launch("hook", RECALL_HOME=str(person.home / "state"))
    assert done.stdout.startswith(b"bin/recall-hook hook\n")


def test_xdg_data_home_moves_the_program(person: Person) -> None:
    person.program(person.home / "x y" / "recall" / "current" / "recall")
    assert person.launch("hook", XDG_DATA_HOME=str(person.home / "x y")).stdout.startswith(b"current/recall hook")


def test_a_program_that_cannot_be_started_gives_way_to_the_next(person: Person) -> None:
    person.installed("#!/no/such/interpreter\n")
    person.program(person.bin / "recall")
    done = person.launch("hook")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"bin/recall hook")


@pytest.mark.parametrize("script", ["#!/bin/sh\necho wrong >&2\nexit 2\n", "#!/bin/sh\nkill -9 $$\n"])
def test_a_program_that_fails_is_silent_too(person: Person, script: str) -> None:
    person.installed(script)
    done = person.launch("hook")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert person.launch("query", "x").returncode not in (0, 127)


def test_the_launcher_on_the_path_never_calls_itself_or_a_copy(person: Person) -> None:
    for folder in ("a", "b"):
        (person.home / folder).mkdir()
        shutil.copy2(LAUNCHER, person.home / folder / "recall")
    path = f"{person.home / 'a'}:{person.home / 'b'}:/usr/bin:/bin"
    done = person.launch("hook", launcher=person.home / "a" / "recall", PATH=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert person.launch("query", "x", launcher=person.home / "a" / "recall", PATH=path).returncode == 127


def test_on_windows_the_text_file_names_the_version(person: Person) -> None:
    """Git's shell runs it there, when Claude types a command of the skill."""
    data = person.home / "AppData" / "recall"
    person.program(data / "versions" / "0.1.0-3fa9c2d1" / "recall.exe")
    (data / "current").write_text("0.1.0-3fa9c2d1", encoding="utf-8")
    done = person.launch("query", "x", OS="Windows_NT", LOCALAPPDATA=str(data.parent))
    assert done.stdout.startswith(b"0.1.0-3fa9c2d1/recall.exe query x\n")
    gone = person.launch("query", "x", OS="Windows_NT", LOCALAPPDATA="/nowhere")
    assert gone.returncode == 127
