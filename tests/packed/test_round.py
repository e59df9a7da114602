"""The whole round on a machine without Python: one file is run, set up, used, upgraded, removed."""

import stat

import pytest

from packed.laptop import FOUND, Laptop
from packed.releases import Release

SETTINGS = b'{\n  "model": "opus",\n  "permissions": {"allow": ["Bash(git status)"]}\n}\n'
CRONTAB = "# mine\n*/5 * * * * /usr/bin/true\n"


def test_from_one_file_to_headlines_to_the_next_version_to_nothing(
    laptop: Laptop, release: Release, later: Release
) -> None:
    laptop.write_note()
    laptop.settings.write_bytes(SETTINGS)
    laptop.keep_crontab(CRONTAB)
    before = laptop.tree()

    said = laptop.run(release.carrier, "setup", "--yes")
    assert f"recall {release.version} is installed in" in said.stderr
    assert "which your PATH does not name" in said.stderr
    assert laptop.registered()[0] == str(laptop.place.pointer / "recall")
    assert FOUND in laptop.hook().stdout
    laptop.recall("schedule", "--every", "15m", "--using", "cron", "--yes")
    assert str(laptop.place.pointer / "recall") in laptop.crontab.read_text()

    said = laptop.recall("upgrade", str(later.carrier))
    assert "takes the place of" in said.stderr
    assert "the daemon has changed over too" in said.stderr
    assert laptop.recall("--version").stdout == f"recall {later.version}\n"
    assert laptop.json("status")["serve"]["version"] == later.version
    assert FOUND in laptop.hook().stdout
    assert [row["current"] for row in laptop.json("versions")["versions"]] == [False, True]

    laptop.recall("uninstall", "--purge")
    assert laptop.crontab.read_text() == CRONTAB
    assert laptop.tree() == before
    assert laptop.processes() == []


def test_uninstall_alone_keeps_the_index_and_the_settings_of_recall(ready: Laptop) -> None:
    index = (ready.place.data / "index.sqlite3").stat().st_size
    said = ready.recall("uninstall").stdout
    assert f"removed {ready.link}" in said
    assert f"removed {ready.place.versions}" in said
    left = {path.name for path in ready.place.data.iterdir()}
    assert {"config.toml", "index.sqlite3"} <= left
    assert not left & {"versions", "current", "install.lock", "made.txt", "bin"}
    assert (ready.place.data / "index.sqlite3").stat().st_size == index
    assert not ready.link.parent.exists()  # it had to be made for the link
    assert ready.processes() == []


def test_what_is_installed_is_readable_by_its_owner_alone(ready: Laptop) -> None:
    for path in (ready.place.data, ready.place.versions, *ready.place.versions.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_the_link_makes_way_for_another_program_called_recall(laptop: Laptop, release: Release) -> None:
    laptop.link.parent.mkdir(parents=True)
    laptop.link.write_text("#!/bin/sh\necho another\n")
    said = laptop.run(release.carrier, "install").stderr
    assert f"{laptop.link} is another program and stays" in said
    laptop.run(laptop.place.pointer / "recall", "uninstall", "--purge")
    assert laptop.link.read_text() == "#!/bin/sh\necho another\n"


def test_the_program_stays_while_a_settings_file_calls_it_with_another_state_folder(
    laptop: Laptop, release: Release
) -> None:
    laptop.write_note()
    other = str(laptop.home / "another state")
    laptop.run(release.carrier, "setup", "--yes", "--home", other)
    done = laptop.recall("uninstall", check=False)
    assert done.returncode == 1
    assert f"recall uninstall --home {other}" in done.stdout
    assert f"the program stays, for {laptop.settings} still calls it" in done.stderr
    assert laptop.hook().returncode == 0
    laptop.recall("uninstall", "--home", other, "--purge")
    assert not laptop.place.versions.exists()
    assert laptop.processes() == []


def test_uninstall_removes_nothing_that_recall_did_not_make(laptop: Laptop, release: Release) -> None:
    laptop.run(release.carrier, "install")
    mine = laptop.place.versions / "mine"
    mine.mkdir()
    (mine / "file").write_text("mine")
    empty = laptop.home / "empty"
    empty.mkdir()
    with (laptop.place.data / "made.txt").open("a") as file:
        file.write(f"{empty}\n")
    said = laptop.recall("uninstall", "--purge").stdout
    assert "what is not recall's stays in" in said
    assert [path.name for path in laptop.place.versions.iterdir()] == ["mine"]
    assert (mine / "file").read_text() == "mine"
    assert empty.exists()


@pytest.mark.parametrize("refusal", ["you are not allowed to use this program", "bailing out."])
def test_where_crontab_refuses_the_rest_goes_all_the_same(laptop: Laptop, release: Release, refusal: str) -> None:
    laptop.write_note()
    laptop.bin.mkdir()
    program = laptop.bin / "crontab"
    program.write_text(f"#!/bin/sh\necho {refusal} >&2\nexit 1\n")
    program.chmod(0o755)
    laptop.run(release.carrier, "setup", "--yes")
    laptop.recall("uninstall", "--purge")
    assert not laptop.place.data.exists()
    assert laptop.processes() == []


def test_unpacked_by_hand_it_removes_what_it_has_installed(laptop: Laptop, release: Release) -> None:
    before = laptop.tree()
    laptop.run(release.folder / "recall", "install")
    laptop.run(release.folder / "recall", "uninstall", "--purge")
    assert laptop.tree() == before
