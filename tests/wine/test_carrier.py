"""The one file for Windows: it installs itself, sets up, is upgraded while settings.json follows, and goes."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from release.program import write_manifest
from support import wait_until
from wine.machine import ROOT, Done, Machine
from wine.packed import FOLDER, PACK_SECONDS, packed
from wine.person import PATIENCE, QUESTION, Person

pytestmark = pytest.mark.wine

OLD, NEW = "0.1.0", "0.2.0"


@pytest.fixture(scope="module")
def carriers(machine: Machine) -> dict[str, str]:
    """Two files by version. The programs in them are the same but for the version that their program.json names."""
    folder = machine.path(packed(machine)).parent
    found = {}
    for version in (OLD, NEW):
        work = f"C:\\carrier\\{version}"
        here = machine.path(work)
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir(parents=True)
        # What a program is called hangs on its files: a release differs in them.
        (folder / "released").write_text(version)
        (here / "carried.txt").write_text(write_manifest(folder, version, "windows-x86_64"))
        with tarfile.open(here / "recall.tar.xz", "w:xz", preset=0) as archive:
            archive.add(folder, ".")
        words = ["--noconfirm", "--log-level", "WARN", "--distpath", work, "--workpath", f"{work}\\work"]
        spec = machine.named(ROOT / "pyinstaller.spec")
        command = [machine.python, "-m", "PyInstaller", *words, spec, "--", "--carrier", work]
        done = machine.run(command, timeout=PACK_SECONDS)
        assert done.returncode == 0, (done.stdout + done.stderr).decode("utf-8", "replace")
        found[version] = f"{work}\\recall-carrier.exe"
    return found


@pytest.fixture
def person(machine: Machine) -> Person:
    """A person whose local data lie in a folder of their own."""
    shutil.rmtree(machine.path("C:\\人 びと"), ignore_errors=True)
    person = Person(machine, "花子", [f"{FOLDER}\\recall.exe"])
    person.environment["RECALL_HOME"] = None
    person.environment["WIN_PD_OVERRIDE_LOCAL_APPDATA"] = f"{person.home}\\Local"
    person.state = f"{person.home}\\Local\\recall"
    return person


def run(person: Person, program: str, *words: str) -> Done:
    done = person.machine.run([program, *words], cwd=person.project, environment=person.environment, timeout=PATIENCE)
    assert done.returncode == 0, (program, words, (done.stdout + done.stderr).decode("utf-8", "replace"))
    return done


def registered(person: Person) -> list[str]:
    (group,) = json.loads(person.settings.read_bytes())["hooks"]["UserPromptSubmit"]
    (handler,) = group["hooks"]
    return [handler["command"], *handler["args"]]


def versions(person: Person) -> list[str]:
    return sorted(path.name for path in (person.file(person.state) / "versions").iterdir() if path.is_dir())


def test_it_installs_itself_answers_is_upgraded_and_removed(person: Person, carriers: dict[str, str]) -> None:
    person.usual_notes()
    first = run(person, carriers[OLD], "setup", "--yes").stderr.decode("utf-8")
    assert f"recall {OLD} is installed in {person.state}\\versions\\{OLD}-" in first
    assert "call it by its path: " in first
    (old,) = versions(person)
    assert registered(person)[0] == f"{person.state}\\versions\\{old}\\recall.exe"
    assert "is installed" not in run(person, carriers[OLD], "status").stderr.decode("utf-8")

    def answers() -> bool:
        done = person.call([*registered(person), "--budget", "20000"], person.message(QUESTION))
        assert (done.returncode, done.stderr) == (0, b"")
        return b"staging-port" in done.stdout

    wait_until(answers, "the registered program answers", PATIENCE)

    installed = registered(person)[0]
    said = run(person, installed, "upgrade", carriers[NEW]).stderr.decode("utf-8")
    assert f"takes the place of {OLD}" in said
    assert "updated the hook in" in said
    assert [name.partition("-")[0] for name in versions(person)] == [OLD, NEW]
    assert registered(person)[0] == f"{person.state}\\versions\\{versions(person)[1]}\\recall.exe"
    wait_until(answers, "the new version answers", PATIENCE)
    older = run(person, carriers[OLD], "--version").stderr.decode("utf-8")
    assert f"recall {versions(person)[1]} is installed and runs; this file holds {old}" in older

    run(person, registered(person)[0], "uninstall", "--purge")
    assert not person.settings.exists()
    left: Path = person.file(person.state)
    wait_until(lambda: not (left / "versions").exists(), "the program goes when it has ended", PATIENCE)
