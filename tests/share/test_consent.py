"""What leaves a machine leaves it because its owner wants that: projects, notes, passwords, the first exchange."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from postgres import Database
from recall.core.errors import ShareError
from recall.replica.membership import read_membership
from recall.share.address import keep_password
from recall.share.at_home import stays_at_home
from recall.share.membership import leave
from recall.share.outgoing import is_called
from share.machines import Machine
from support import wait_until


@pytest.mark.parametrize(
    "line",
    [
        "share: false", "share: False  # private", "share: !!bool false", "share: &a false", "share: n", "share:false",
        "- share: false", "share: false.", "share: none", "share: only me", "share: ~", "share:", "share: いいえ",
        "share：ｆａｌｓｅ", "'share': 'no'", "  share: false", "SHARE: OFF", "private: true",
        "share: false\nshare: true", "share: true\nshare: false", "share = false", "ｓｈａｒｅ: false",
        "{share: false}", "{name: y, share: no}", '{"share": false}', "? share\n: false", "share\t:\tfalse",
    ],
)  # fmt: skip
def test_whatever_is_no_yes_keeps_a_note_at_home(tmp_path: Path, line: str) -> None:
    note = tmp_path / "note.md"
    note.write_text(f"\ufeff---\r\nname: x\r\n{line}\r\n---\r\n\r\nbody\r\n", encoding="utf-8", newline="")
    assert stays_at_home(str(note))


@pytest.mark.parametrize("line", ["share: true", "share: yes # for all", "private: false", "shared: false", "x: share"])
def test_a_yes_and_other_words_do_not(tmp_path: Path, line: str) -> None:
    note = tmp_path / "note.md"
    note.write_text(f"---\nname: x\n{line}\n---\n\nshare: false\n", encoding="utf-8")
    assert not stays_at_home(str(note))


@pytest.mark.parametrize(
    "text",
    [
        "+++\nname = 'x'\nshare = false\n+++\nbody", "----\nshare: false\n----\nbody", "share: false\n\nbody",
        "<!-- of ann -->\n\n---\nname: x\nshare: false\n---\nbody", "# Title\n\nshare: no\n\nbody",
        "<!-- a\nb --> <!-- c -->\n---\nshare: nobody\n---\n", "private: true\nbody", "---\nshare: false\nno end",
    ],
)  # fmt: skip
def test_whatever_stands_around_it_keeps_a_note_at_home(tmp_path: Path, text: str) -> None:
    note = tmp_path / "note.md"
    note.write_text(text, encoding="utf-8")
    assert stays_at_home(str(note))


@pytest.mark.parametrize(
    "text",
    [
        "share: the port\nbody", "# What we share: ports\n", "---\nname: x\n---\nshare: false\n", "", "---", "<!-- ",
        "---\ndescription: what we share: ports\n---\n", "a\n" * 20 + "share: false\n",
    ],
)  # fmt: skip
def test_a_sentence_does_not(tmp_path: Path, text: str) -> None:
    note = tmp_path / "note.md"
    note.write_text(text, encoding="utf-8")
    assert not stays_at_home(str(note))


def test_a_project_that_stays_at_home_does_so_by_every_name(tmp_path: Path, database: Database) -> None:
    machine = Machine(tmp_path, "desk")
    secret = machine.home / "src" / "acme-merger"
    (secret / ".git").mkdir(parents=True)
    transcript = machine.open_session(secret, "there")
    machine.note("c", "what nobody may know", "They buy them.", project=secret)
    machine.note("d", "what everybody may know", "The port.")
    machine.join(database.url, database.password, make=True)
    for name in ("acme-merger", "src/acme-merger", "src-acme-merger", str(secret), "ACME-Merger"):
        machine.configure(f"[share]\nnot_projects = ['{name}']\n")
        transcript.touch()
        for there in (True, False):
            if not there:
                transcript.rename(transcript.with_suffix(".away"))
            assert machine.sync(identity="").sent <= 1
            assert b"what nobody may know" not in database.dump(), (name, there)
            if not there:
                transcript.with_suffix(".away").rename(transcript)
    assert b"what everybody may know" in database.dump()
    assert "nosuch" in machine_preview(machine, "nosuch")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_what_is_left_of_an_excluded_project_stays_at_home_with_it(tmp_path: Path, database: Database) -> None:
    machine = Machine(tmp_path, "desk")
    source = machine.home / "src"
    main = source / "nightowl"
    below = main / "backend"
    below.mkdir(parents=True)
    git(main, "init")
    git(main, "commit", "--allow-empty", "-m", "x")
    trees = [source / name for name in ("fix-login", "fix-logout", "fix-both")]
    for tree in trees:
        git(main, "worktree", "add", "-b", tree.name, str(tree))
    for number, project in enumerate([main, below, *trees]):
        machine.open_session(project, f"s{number}", title="nightowl owns a title")
        machine.note("n", f"nightowl knows {number}", "Of nobody's business.", project=project)
    machine.note("d", "what everybody may know", "The port.")
    machine.configure("[share]\nnot_projects = ['nightowl']\n")
    machine.join(database.url, database.password, make=True)
    machine.index()

    def nothing_leaves(when: str) -> None:
        machine.sync(identity="")
        machine.index()
        machine.sync(identity="")
        assert b"nightowl" not in database.dump(), when
        assert b"what everybody may know" in database.dump(), when

    nothing_leaves("all is there")
    git(main, "worktree", "remove", "--force", str(trees[0]))
    nothing_leaves("a worktree is removed")
    (machine.folder(trees[1]) / "s3.jsonl").unlink()
    nothing_leaves("a worktree's transcript is deleted")
    shutil.rmtree(trees[1])
    nothing_leaves("that worktree is gone too")
    main.rename(source / "nightowl-old")
    nothing_leaves("the repository is moved")
    shutil.rmtree(source)
    nothing_leaves("nothing is left")
    for transcript in machine.claude.rglob("*.jsonl"):
        transcript.unlink()
    nothing_leaves("and no transcript")
    told = machine.command("share", "preview").stderr
    assert "fix-both stays here: nobody can tell which project it belongs to" in told


def test_what_is_shared_of_a_project_stays_so_when_its_folder_is_gone(tmp_path: Path, database: Database) -> None:
    machine = Machine(tmp_path, "desk")
    project = machine.home / "src" / "old"
    (project / ".git").mkdir(parents=True)
    machine.open_session(project, "there")
    machine.note("n", "what the old one knew", "Much.", project=project)
    machine.configure("[share]\nnot_projects = ['nightowl']\n")
    machine.join(database.url, database.password, make=True)
    assert machine.sync(identity="").sent == 1
    shutil.rmtree(project)
    machine.note("m", "what it knows since", "More.", project=project)
    done = machine.sync(identity="")
    assert (done.sent, done.taken_back) == (0, 0)
    assert b"what it knows since" not in database.dump()


def test_a_project_without_a_transcript_goes_by_its_name_and_not_by_its_path(
    tmp_path: Path, database: Database
) -> None:
    machine = Machine(tmp_path, "desk")
    project = machine.home / "very" / "hidden.place" / "on-the-disk"
    (project / ".git").mkdir(parents=True)
    machine.note("n", "what it knows", "Much.", project=project)
    gone = machine.home / "quite" / "gone"
    machine.note("g", "what nobody can place", "Much.", project=gone)
    machine.join(database.url, database.password, make=True)
    machine.sync(identity="")
    dump = database.dump()
    assert b"what it knows" in dump
    assert b"on-the-disk" in dump
    for word in (b"hidden", b"very", b"what nobody can place", b"quite"):
        assert word not in dump


def machine_preview(machine: Machine, name: str) -> str:
    machine.configure(f"[share]\nnot_projects = ['{name}']\n")
    return machine.command("share", "preview").stderr


def test_a_name_is_that_of_the_end_of_a_path() -> None:
    assert is_called("/home/a/src/acme-merger", "acme-merger")
    assert is_called("-home-a-src-acme-merger", "src/acme-merger")
    assert not is_called("/home/a/src/acme-merger-2", "acme-merger")
    assert not is_called("/home/a/src/other", "acme-merger")
    assert is_called("", "shared")


def test_nothing_leaves_before_the_owner_has_exchanged_records_once(tmp_path: Path, database: Database) -> None:
    machine = Machine(tmp_path, "desk")
    machine.note("real-database", "Integration tests use a real database", "Always.")
    machine.configure("[daemon]\nscan_seconds = 1\n[share]\nminutes = 1\n")
    said = machine.command("share", "init", database.url, "--keep-password", PGPASSWORD=database.password).stdout
    assert "nothing has left this machine" in said
    machine.serve()
    try:
        assert machine.command("share", "sync", "--quiet").stdout == ""
        assert "exchange" not in Path(machine.paths.daemon_log).read_text()
        assert b"Integration tests" not in database.dump()
        machine.command("share", "sync")
        assert b"Integration tests" in database.dump()
        machine.serve()
        wait_until(lambda: "exchange" in Path(machine.paths.daemon_log).read_text(), "the daemon goes on with it")
    finally:
        machine.command("stop")


def test_a_kept_password_goes_to_its_own_server_alone(tmp_path: Path) -> None:
    file = tmp_path / "share.pass"
    keep_password(file, "postgresql://anna@db.office:5433/te%3Aam?sslmode=verify-full", "a:b\\c")
    assert file.read_text() == "db.office:5433:te\\:am:anna:a\\:b\\\\c\n"


def test_a_server_that_was_set_up_anew_takes_its_machines_back(tmp_path: Path, database: Database) -> None:
    one, two = Machine(tmp_path, "one"), Machine(tmp_path, "two")
    for number, machine in enumerate((one, two)):
        machine.note(machine.name, f"What {machine.name} knows", "Text.")
        machine.join(database.url, database.password, make=number == 0)
        machine.sync(identity="")
    with database.server.connect(database.name) as connection:
        connection.execute("DROP SCHEMA recall CASCADE")
    number_before = one.member.machine
    one.join(database.url, database.password, make=True)
    assert one.member.machine == number_before
    with pytest.raises(ShareError, match="share join"):
        two.sync(identity="")
    two.join(database.url, database.password)
    for machine in (one, two, one):
        machine.sync(identity="")
        machine.index()
    assert (one.team_names(), two.team_names()) == (["two: two"], ["one: one"])


def test_leaving_says_what_stays_and_works_without_a_readable_membership(tmp_path: Path, database: Database) -> None:
    machine = Machine(tmp_path, "desk")
    machine.join(database.url, database.password, make=True)
    refused = machine.command("share", "leave", check=False)
    assert refused.returncode == 2
    assert "--delete-mine" in refused.stderr
    Path(machine.paths.share).write_text("{broken")
    with pytest.raises(ShareError):
        leave(machine.paths, delete=True, password=database.password)
    machine.command("share", "leave", "--yes")
    assert read_membership(Path(machine.paths.share)) is None
    assert json.loads(machine.command("share", "status", "--json").stdout) is None
