"""The plugin of this repository, given to a person's client as a marketplace, as `/plugin marketplace add` does."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from claude_code.client import PACKAGE, Client
from claude_code.person import Person
from terminal import PATIENCE, installed

ROOT = Path(__file__).resolve().parents[2]


def claude(client: Client, *words: str) -> str:
    """Run a command of the client, such as `claude plugin install`; what it printed."""
    done = subprocess.run(
        [installed(PACKAGE, "claude"), *words], cwd=client.project, env=client.environment, stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, f"claude {words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install_plugin(client: Client, person: Person) -> None:
    """Install the plugin, with a budget for a loaded machine as `Person.set_up` gives it to the entry in settings."""
    marketplace = Path(person.environment["HOME"]) / "marketplace"
    for name in (".claude-plugin", "plugin"):
        shutil.copytree(ROOT / name, marketplace / name)
    hooks = marketplace / "plugin" / "hooks" / "hooks.json"
    text = hooks.read_text("utf-8")
    assert text.count('"args": ["hook"]') == 2
    hooks.write_text(text.replace('"args": ["hook"]', '"args": ["hook", "--budget", "3000"]'), encoding="utf-8")
    claude(client, "plugin", "marketplace", "add", str(marketplace))
    claude(client, "plugin", "install", "recall@recall")


def install_program(person: Person) -> None:
    """Put `recall` where installers of Python programs put it."""
    link = Path(person.environment["HOME"]) / ".local" / "bin" / "recall"
    link.parent.mkdir(parents=True)
    link.symlink_to(Path(sys.executable).with_name("recall"))


def calls(person: Person) -> list[str]:
    """The reason of each call of the hook that the daemon answered, in order, those of session starts left out."""
    state = Path(person.status()["home"])
    lines = (state / "injections.jsonl").read_text("utf-8").splitlines()
    return [fields["reason"] for fields in map(json.loads, lines) if "event" not in fields]
