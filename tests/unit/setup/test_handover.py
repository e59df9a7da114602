"""After an upgrade the settings of all agents that named one version name the lasting path, in their own shape."""

from pathlib import Path

import pytest

from recall.cli.handover import renew_entries
from recall.install.place import PROGRAM, WINDOWS, Place
from recall.setup.agents import AGENTS, CLAUDE
from recall.setup.registration import entry_in, register, unregister
from recall.setup.settings import HookEntry, starts
from recall.sources.agents import HOMES
from recall.wire.paths import StatePaths

OLD, NEW = "0.1.0-3fa9c2d1", "0.2.0-3fa9c2d1"


@pytest.mark.skipif(WINDOWS, reason="there the packed program's own tests do this")
def test_the_entries_of_all_agents_are_renewed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place, state = Place(tmp_path / "the data"), tmp_path / "state"
    for name in (OLD, NEW):
        place.folder(name).mkdir(parents=True)
        place.program(name).touch()
    place.make_current(NEW)
    for name, home in HOMES.items():
        monkeypatch.setenv(home.variable, str(tmp_path / name))
    environment = {home.variable: str(tmp_path / name) for name, home in HOMES.items()}
    old = HookEntry(str(place.program(OLD)), ("hook", "--home", str(state)), 5)
    files = {agent.settings(environment): agent for agent in AGENTS.values()}
    for path, agent in files.items():
        path.parent.mkdir(parents=True)
        path.write_bytes(b'{"theirs": 1}')
        register(path, old, state, agent, start=agent is not CLAUDE)
    broken = tmp_path / "qwen" / "settings.json"
    whole = broken.read_bytes()
    broken.write_bytes(b"// mine\n" + whole)

    renew_entries(StatePaths(str(state)), place)
    said = capsys.readouterr().err
    assert said.count("updated the hook in") == 3
    assert said.count("open /hooks there") == 1  # Codex asks about a changed command again
    assert f"recall: {broken}" in said
    broken.write_bytes(whole)
    renew_entries(StatePaths(str(state)), place)
    for path, agent in files.items():
        renewed = entry_in(path, agent)
        assert renewed == HookEntry(str(place.pointer / PROGRAM), old.args, 5)
        assert starts(path.read_bytes(), agent) is (agent is not CLAUDE)
        assert OLD.encode() not in path.read_bytes()
        unregister(path, state, agent)
        assert path.read_bytes() == b'{"theirs": 1}'
