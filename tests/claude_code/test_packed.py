"""The packed program under the real client, on a machine without Python: from one file to nothing left."""

from collections.abc import Iterator

import pytest

from claude_code.client import Client
from claude_code.messages_api import MessagesApi
from packed.laptop import Laptop, borrowed
from packed.releases import LATER, build
from terminal import missing

pytestmark = [pytest.mark.claude_code, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

SETTINGS = b'{\n  "spinnerTipsEnabled": false,\n  "permissions": {"allow": ["Bash(git status)"]}\n}\n'
CRONTAB = "# mine\n*/5 * * * * /usr/bin/true\n"
PORT, TABS = "which port does the staging database listen on?", "should Makefiles be indented with tabs or spaces?"


@pytest.fixture
def laptop() -> Iterator[Laptop]:
    with borrowed() as laptop:
        yield laptop


def test_one_file_is_run_sessions_go_on_through_an_upgrade_and_uninstall_leaves_nothing(laptop: Laptop) -> None:
    release, later = build(), build(LATER)
    laptop.write_note()
    laptop.settings.write_bytes(SETTINGS)
    laptop.keep_crontab(CRONTAB)
    with MessagesApi() as api:
        client = Client(api, laptop.environment, laptop.project)
        laptop.run(release.carrier, "install")
        (laptop.place.data / "config.toml").write_text("hook.budget_ms = 3000\n", encoding="utf-8")
        laptop.run(release.carrier, "setup", "--yes")
        laptop.recall("schedule", "--using", "cron", "--yes")
        with client.terminal() as terminal:
            assert "[memory] staging-port — " in (terminal.type(PORT) or "")
            laptop.recall("upgrade", str(later.carrier))
            assert laptop.json("status")["serve"]["version"] == later.version
            assert "[memory] tabs — " in (terminal.type(TABS) or "")
            laptop.recall("uninstall", "--purge")
            assert terminal.type(PORT) is None
            assert terminal.notices() == []
    assert laptop.settings.read_bytes() == SETTINGS
    assert laptop.crontab.read_text() == CRONTAB
    assert laptop.processes() == []
    left = [path for path in laptop.home.rglob("*") if "recall" in path.name]
    assert left == []
