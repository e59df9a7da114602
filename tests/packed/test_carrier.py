"""The one file: first starts that race, are killed, or meet a disk that refuses; older and newer files; the hook."""

import os
import random
import shutil
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from namespace import NAMESPACE, needs_namespace
from packed.laptop import FOUND, Laptop
from packed.releases import Release
from support import wait_until


def test_six_first_starts_at_once_make_one_good_installation(laptop: Laptop, release: Release) -> None:
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda _: laptop.run(release.carrier, "versions", check=False), range(6)))
    assert {each.returncode for each in done} == {0}
    assert all(release.name in each.stdout for each in done)
    assert laptop.place.names() == [release.name]
    assert laptop.no_rubbish()
    laptop.run(release.carrier, "install")


def test_a_first_start_killed_at_ten_random_moments_never_leaves_a_broken_one(laptop: Laptop, release: Release) -> None:
    moments = random.Random(6)
    took = _install_and_remove(laptop, release)
    for _ in range(10):
        with subprocess.Popen(
            [release.carrier, "install"], env=laptop.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        ) as start:  # fmt: skip
            time.sleep(moments.uniform(0, took))
            os.killpg(start.pid, 9)
        if laptop.place.current() is not None:
            assert laptop.run(laptop.place.pointer / "recall", "--version").stdout == f"recall {release.version}\n"
            shutil.rmtree(laptop.place.data)
    assert release.name in laptop.run(release.carrier, "versions").stdout
    assert laptop.no_rubbish()


def _install_and_remove(laptop: Laptop, release: Release) -> float:
    began = time.monotonic()
    laptop.run(release.carrier, "install")
    took = time.monotonic() - began
    laptop.recall("uninstall", "--purge")
    return took


def test_a_file_that_was_not_fetched_whole_or_is_damaged_says_so_and_installs_nothing(
    laptop: Laptop, release: Release
) -> None:
    whole = release.carrier.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    for content in (whole[:middle], whole[:-1000], flipped):
        file = laptop.home / "fetched"
        file.write_bytes(content)
        done = laptop.run("/bin/sh", file, "install", check=False)
        assert done.returncode == 1
        assert "damaged or was not fetched whole" in done.stderr or "is not what was packed" in done.stderr
        assert "fetch" in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        assert not (laptop.home / ".local").exists()


def test_a_damaged_installation_is_mended_by_running_the_file_again(laptop: Laptop, release: Release) -> None:
    laptop.run(release.carrier, "install")
    internal = laptop.place.folder(release.name) / "_internal"
    for victim in (internal / "base_library.zip", next(internal.glob("libpython3*")), internal / "recall" / "_models"):
        if victim.is_dir():
            shutil.rmtree(victim)
        else:
            victim.write_bytes(b"gone")
        laptop.run(release.carrier, "install")
        assert laptop.recall("--version").stdout == f"recall {release.version}\n"
    assert laptop.no_rubbish()


def test_a_newer_file_takes_over_and_an_older_one_steps_back_and_both_say_so(
    laptop: Laptop, release: Release, later: Release
) -> None:
    laptop.run(release.carrier, "install")
    done = laptop.run(later.carrier, "--version")
    assert done.stdout == f"recall {later.version}\n"
    assert f"takes the place of {release.version}" in done.stderr
    for _ in range(2):  # used in turn they do not fight
        done = laptop.run(release.carrier, "--version")
        assert done.stdout == f"recall {later.version}\n"
        assert (
            f"recall {later.version} is installed and runs; this file holds the older {release.version}" in done.stderr
        )
        done = laptop.run(later.carrier, "--version")
        assert (done.stdout, done.stderr) == (f"recall {later.version}\n", "")
    laptop.recall("upgrade", str(release.carrier))
    assert laptop.recall("--version").stdout == f"recall {release.version}\n"


def test_named_in_settings_the_file_itself_is_a_hook_that_installs_itself_without_a_word(
    laptop: Laptop, release: Release
) -> None:
    laptop.write_note()
    hook = [str(release.carrier), "hook"]
    first = laptop.hook(hook)
    assert (first.returncode, first.stdout, first.stderr) == (0, b"", b"")
    wait_until(lambda: laptop.place.current() == release.name, "the program is installed", 60)

    def answers() -> bool:
        done = laptop.hook([*hook, "--budget", "3000"])
        assert (done.returncode, done.stderr) == (0, b"")
        return FOUND in done.stdout

    wait_until(answers, "later messages are answered", 90)
    bare = laptop.hook([str(release.carrier)])  # clients that drop the arguments
    assert (bare.returncode, bare.stderr) == (0, b"")


def test_a_folder_for_another_machine_is_refused_by_its_name(laptop: Laptop, release: Release) -> None:
    laptop.bin.mkdir()
    uname = laptop.bin / "uname"
    uname.write_text("#!/bin/sh\necho Plan9\n")
    uname.chmod(0o755)
    done = laptop.run(release.carrier, "install", check=False)
    assert done.returncode == 1
    assert "this machine is Plan9-Plan9" in done.stderr


@pytest.mark.parametrize("what", ["a folder", "a text", "nothing"])
def test_upgrade_takes_releases_alone(laptop: Laptop, release: Release, what: str) -> None:
    laptop.run(release.carrier, "install")
    file = laptop.home / "file"
    if what == "a folder":
        file.mkdir()
    elif what == "a text":
        file.write_text("#!/bin/sh\ntouch $HOME/ran\n")
    done = laptop.recall("upgrade", str(file), check=False)
    assert done.returncode == 1
    assert "expected the file of a recall release" in done.stderr
    assert not (laptop.home / "ran").exists()


def test_the_unpacked_archive_installs_itself_too(laptop: Laptop, release: Release) -> None:
    laptop.run(release.folder / "recall", "install")
    assert laptop.recall("--version").stdout == f"recall {release.version}\n"
    assert laptop.no_rubbish()


@pytest.mark.parametrize("words", [["setup", "--dry-run"], ["setup", "--help"], ["--version"], ["uninstall"]])
def test_what_changes_nothing_installs_nothing(laptop: Laptop, release: Release, words: list[str]) -> None:
    before = laptop.tree()
    done = laptop.run(release.carrier, *words)
    assert laptop.tree() == before
    if "--dry-run" in words:
        assert str(laptop.place.pointer / "recall") in done.stdout


def test_piped_into_sh_it_asks_to_be_saved(laptop: Laptop, release: Release) -> None:
    for command in ('cat "$0" | sh -s setup', 'sh <"$0"'):
        done = laptop.run("/bin/sh", "-c", command, release.carrier, check=False)
        assert done.returncode == 1
        assert "save this file and run it" in done.stderr
    assert not (laptop.home / ".local").exists()


def test_a_home_that_is_no_whole_path_is_refused(laptop: Laptop, release: Release) -> None:
    done = laptop.run(release.carrier, "install", check=False, environment={"HOME": "here"})
    assert done.returncode == 1
    assert "expected HOME to be a whole path" in done.stderr
    assert not (laptop.project / "here").exists()


@pytest.mark.parametrize("name", ["a\\b", "it's 100% $x `y`", "two\nlines"])
def test_a_home_of_any_name_will_do(laptop: Laptop, release: Release, name: str) -> None:
    home = laptop.home / name
    home.mkdir()
    environment = {"HOME": str(home)}
    laptop.run(release.carrier, "install", environment=environment)
    link = home / ".local" / "bin" / "recall"
    assert laptop.run(link, "--version", environment=environment).stdout == f"recall {release.version}\n"
    laptop.run(link, "uninstall", "--purge", environment=environment)
    # A list of one path a line cannot tell which folders had to be made where a name has two lines.
    assert list(home.iterdir()) == [] or "\n" in name


@pytest.mark.parametrize("what", ["a file for ~/.local/bin", "a folder for current"])
def test_what_stands_in_the_way_is_named_and_stays(laptop: Laptop, release: Release, what: str) -> None:
    if what == "a file for ~/.local/bin":
        laptop.link.parent.parent.mkdir()
        laptop.link.parent.write_text("mine")
        done = laptop.run(release.carrier, "versions")
        assert f"{laptop.link} cannot be made" in done.stderr
        assert release.name in done.stdout
        assert laptop.link.parent.read_text() == "mine"
    else:
        laptop.place.pointer.mkdir(parents=True)
        done = laptop.run(release.carrier, "install", check=False)
        assert done.returncode == 1
        assert f"expected {laptop.place.pointer} to be recall's link" in done.stderr
        assert not list(laptop.place.data.glob(".current*"))
        assert (
            "stays" in laptop.run(release.folder / "recall", "uninstall").stdout or not laptop.place.versions.exists()
        )


# Disks that refuse. A namespace of its own gives this test disks of its own.


@needs_namespace
@pytest.mark.parametrize(
    ("disk", "sentence"),
    [
        ('mount -t tmpfs -o size=100m none "$HOME"', "is full; the program needs 300 MB there"),
        ('mount -t tmpfs -o ro none "$HOME"', "cannot be written (Read-only file system)"),
        ('mount -t tmpfs -o noexec,size=400m none "$HOME"', "a folder that programs may be run from"),
    ],
    ids=["full", "read-only", "no programs"],
)
def test_a_disk_that_refuses_gets_one_sentence_and_keeps_nothing(
    laptop: Laptop, release: Release, disk: str, sentence: str
) -> None:
    done = _in_namespace(
        laptop, f'{disk}; "$0" install; code=$?; find "$HOME" -type f >&2; exit $code', release.carrier
    )
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stderr.count("\n") <= 2, done.stderr  # the sentence, and the list of folders that were made
    assert "Traceback" not in done.stderr


@needs_namespace
def test_a_folder_for_temporary_files_that_runs_no_program_does_not_matter(laptop: Laptop, release: Release) -> None:
    temporary = laptop.home / "tmp"
    temporary.mkdir()
    command = 'mount -t tmpfs -o noexec,size=1m none "$TMPDIR" && "$0" versions'
    done = _in_namespace(laptop, command, release.carrier, {"TMPDIR": str(temporary)})
    assert release.name in done.stdout, done.stderr


def _in_namespace(
    laptop: Laptop, command: str, carrier: Path, environment: Mapping[str, str] = {}
) -> "subprocess.CompletedProcess[str]":
    return laptop.run(*NAMESPACE, command, carrier, check=False, environment=environment)


def test_what_killed_installations_left_goes_and_what_a_living_one_fills_stays(
    laptop: Laptop, release: Release
) -> None:
    living, dead = (laptop.place.versions / f".new-{number}" for number in (os.getpid(), 4_999_999))
    living.mkdir(parents=True)
    dead.mkdir()
    laptop.run(release.carrier, "install")
    assert living.exists()
    assert not dead.exists()
