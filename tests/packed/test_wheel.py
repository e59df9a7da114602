"""The wheel, installed into an environment of its own without a network: it holds the model, setup and hook work."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from support import Sandbox

ROOT = Path(__file__).resolve().parents[2]
BIN = "Scripts" if os.name == "nt" else "bin"
#: A port where nobody listens: what asks the network all the same fails at once.
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of these sources."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `recall` of an environment that holds the wheel alone; its packages are those of this interpreter."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=os.name != "nt")
    python = folder / BIN / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", str(wheel)]
    # pip asks a Rust compiler for its version, and that may write into the home.
    home = {"HOME": str(folder / "home"), "USERPROFILE": str(folder / "home")}
    done = subprocess.run(pip, capture_output=True, encoding="utf-8", env={**os.environ, **home})
    assert done.returncode == 0, done.stderr
    asked = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, encoding="utf-8"
    )
    # A .pth file lists folders that come after the environment's own: this checkout's `recall` is not found by it.
    (Path(asked.stdout.strip()) / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / BIN / "recall"


@pytest.fixture
def person(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """A person with a note and without a network."""
    sandbox.note("staging-port", "The staging database listens on port 6543, not 5432", "It was moved in May.")
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, NOWHERE)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return sandbox


def run(program: Path, person: Sandbox, *words: str) -> str:
    done = subprocess.run(
        [program, *words], cwd=person.project, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_holds_the_model_with_its_licence_and_no_tools(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    assert "recall/_models/multilingual-e5-small/model.onnx.data" in names
    assert "recall/_models/LICENSE-multilingual-e5-small" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"recall"}


def test_from_the_wheel_setup_query_and_the_registered_hook_answer_without_a_network(
    installed: Path, person: Sandbox
) -> None:
    said = run(installed, person, "setup")
    assert "1 files: 1 added" in said or "1 file" in said
    found = json.loads(run(installed, person, "query", "which port does staging use?", "--json"))
    assert [hit["name"] for hit in found["hits"]] == ["staging-port"]

    settings = json.loads((person.claude / "settings.json").read_bytes())
    handler = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    command = [handler["command"], *handler["args"]]
    done = subprocess.run(
        command, input=person.message("which port does the staging database listen on?"), capture_output=True,
        env={**os.environ, "CLAUDE_CODE_ENTRYPOINT": "cli"}, timeout=20,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert "staging-port" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]

    status = json.loads(run(installed, person, "status", "--json"))
    assert status["model"].startswith("multilingual-e5-small@")
    assert str(installed.parent.parent) in run(installed, person, "licenses"), "the code is the wheel's, not this one"
    run(installed, person, "uninstall")
