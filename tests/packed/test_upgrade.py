"""Upgrades while the program is in use: sessions that go on, hooks that are answered, daemons that change over."""

import sqlite3
import subprocess
import threading

import psutil

from packed.laptop import FOUND, Laptop
from packed.releases import Release
from recall.store.migrations import SCHEMA_VERSION
from support import wait_until

UPGRADES, CALLS = 10, 500


def serving(laptop: Laptop) -> list[psutil.Process]:
    return [process for process in laptop.processes() if "serve" in process.cmdline()]


def test_500_hooks_during_ten_upgrades_back_and_forth_are_answered_and_one_daemon_is_left(
    ready: Laptop, release: Release, later: Release
) -> None:
    changing = threading.Event()
    changing.set()
    command = ready.registered()
    done: list[subprocess.CompletedProcess[bytes]] = []

    def ask() -> None:
        while changing.is_set() or len(done) < CALLS:
            done.append(ready.hook(command))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for number in range(UPGRADES):
            coming = later if number % 2 == 0 else release
            ready.recall("upgrade", str(coming.carrier))
            assert ready.json("status")["serve"]["version"] == coming.version
    finally:
        changing.clear()
        asking.join()
    assert {(each.returncode, each.stderr) for each in done} == {(0, b"")}
    answered = sum(FOUND in each.stdout for each in done)
    assert answered >= 0.95 * len(done), f"{answered} of {len(done)}"
    wait_until(lambda: len(serving(ready)) == 1, "one daemon is left", 30)
    assert ready.json("status")["serve"]["version"] == release.version
    assert ready.no_rubbish()


def test_what_runs_goes_on_while_its_version_is_replaced_and_cleaned_up(
    ready: Laptop, release: Release, later: Release
) -> None:
    """A command of the old version, started before, still finds its own files when the third version has come."""
    with subprocess.Popen(
        [ready.place.program(release.name), "serve", "--home", str(ready.home / "another")],
        env=ready.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as old:  # fmt: skip
        try:
            wait_until((ready.home / "another" / "daemon.lock").exists, "another daemon runs", 30)
            ready.recall("upgrade", str(later.carrier))
            names = {row["name"]: row["in_use"] for row in ready.json("versions")["versions"]}
            assert names[release.name]
            assert ready.run(ready.place.program(release.name), "--version").stdout == f"recall {release.version}\n"
            ready.recall("stop", "--home", str(ready.home / "another"))
        finally:
            old.kill()


def test_a_newer_hook_leaves_a_young_older_daemon_and_is_answered_by_it(
    ready: Laptop, release: Release, later: Release
) -> None:
    """Two installed versions, used in turn within a minute: nobody ends the other's daemon."""
    ready.run(later.carrier, "install")  # makes the later one current and its daemon the one that answers
    pid = ready.json("status")["serve"]["pid"]
    hooks = [[str(ready.place.program(name)), *ready.registered()[1:]] for name in (release.name, later.name)]
    for command in hooks * 3:
        assert FOUND in ready.hook(command).stdout
    assert ready.json("status")["serve"]["pid"] == pid


def test_an_index_of_a_newer_format_stays_as_it_is_and_the_hook_silent(ready: Laptop) -> None:
    ready.recall("stop")
    with sqlite3.connect(ready.paths.index) as index:
        index.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    index.close()
    before = (ready.place.data / "index.sqlite3").read_bytes()
    done = ready.recall("index", check=False)
    assert done.returncode == 1
    assert "was written by a newer recall" in done.stderr
    assert ready.hook().stdout == b""
    wait_until(lambda: ready.json("status")["serve"]["state"] == "ready", "a daemon runs", 60)
    assert ready.hook().stdout == b""
    assert "newer recall" in str(ready.json("status")["problem"])
    assert (ready.place.data / "index.sqlite3").read_bytes() == before
