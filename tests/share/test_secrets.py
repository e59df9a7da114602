"""The password stays out of sight, and nothing leaves a machine but what its preview shows."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from postgres import Database
from recall.core.errors import ShareError, UsageError
from recall.share.address import checked, keep_password
from recall.share.connection import NeedsPassword
from recall.share.membership import keep
from recall.text.clean import one_line
from share.holdings import ask
from share.machines import Machine
from support import wait_until

#: Looks like a key of Amazon's; in two pieces, so that no scanner takes it for one.
KEY = "AKIA" + "Q7Z4M2X5L5K3J6H2"


@pytest.fixture
def laptop(tmp_path: Path, database: Database) -> Machine:
    machine = Machine(tmp_path, "laptop")
    machine.note("first", "laptop knows something", "")
    machine.join(database.url, database.password, make=True)
    return machine


def test_the_password_is_in_no_process_list_file_or_sentence(laptop: Machine, database: Database) -> None:
    keep(laptop.paths, database.password)
    secret = database.password
    with psycopg.connect(database.url, password=secret) as other:
        other.execute("UPDATE recall.clock SET seq = seq")
        command = [sys.executable, "-m", "recall", "share", "sync"]
        running = subprocess.Popen(
            command, env=laptop.environment(), cwd=laptop.project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        wait_until(lambda: ask(database, waiting) != [], "the exchange waits")
        lists = [" ".join(one.info["cmdline"] or []) for one in psutil.process_iter(["cmdline"])]
        other.rollback()
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 0, said
    assert any("share sync" in line for line in lists)
    assert not [line for line in lists if secret in line]
    said += (
        laptop.command("share", "status").stdout.encode() + laptop.command("share", "status", "--json").stdout.encode()
    )
    assert secret.encode() not in said
    holders = [path for path in laptop.home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert holders == [Path(laptop.paths.share_password)]
    assert secret.encode() not in database.dump()
    log = database.server.log()
    assert "pg_stat_activity" in log
    assert secret not in log.replace(f"PASSWORD '{secret}'", ""), "made with the role, and never sent since"


@pytest.mark.skipif(sys.platform == "win32", reason="libpq looks at no permissions there")
def test_a_kept_password_is_for_its_owner_alone(laptop: Machine, database: Database) -> None:
    keep(laptop.paths, database.password)
    file = Path(laptop.paths.share_password)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    laptop.password = None  # type: ignore[assignment]
    assert laptop.sync(identity="").sent == 1
    file.chmod(0o644)
    with pytest.raises(NeedsPassword, match=r"share\.pass is not used, for others can read it; `chmod 600`") as raised:
        laptop.sync(identity="")
    assert database.password not in str(raised.value)
    file.chmod(0o600)
    laptop.sync(identity="")


@pytest.mark.parametrize(
    "password", ["plain", "with:colon", "with\\backslash", "\\:", "日本語", " blank ", "#", "'\"$(x)"]
)
def test_any_password_is_kept_so_that_it_is_found_again(laptop: Machine, database: Database, password: str) -> None:
    role = database.server.create_role(f"{database.name}_{os.urandom(3).hex()}", password)
    laptop.join(database.url, database.password, make=True, grant=role)
    keep_password(Path(laptop.paths.share_password), database.server.url(role, database.name), password)
    laptop.password = None  # type: ignore[assignment]
    laptop.sync(url=database.server.url(role, database.name), identity="")
    laptop.password = "wrong one"
    with pytest.raises(ShareError):
        laptop.sync(url=database.server.url(role, database.name), identity="")


@pytest.mark.parametrize(
    "form",
    ["postgresql://me:{}@host/db", "postgresql://me@host/db?password={}", "postgresql://me@host/db?sslpassword={}",
     "postgresql://me:{}@ho st/db", "postgres://me:{}@[::1/db", "mysql://me:{}@host/db", "postgresql://me:{}@host:x/db",
     "host=h password={} dbname=x"],
)  # fmt: skip
def test_an_address_with_a_password_is_refused_without_a_word_of_it(laptop: Machine, form: str) -> None:
    secret = "hunter2hunter2"
    with pytest.raises(UsageError, match="expected an address") as raised:
        checked(form.format(secret))
    assert secret not in str(raised.value)
    if form == "postgresql://me:{}@host/db":
        done = laptop.command("share", "join", form.format(secret), check=False)
        assert done.returncode == 2
        assert secret not in done.stdout + done.stderr
        assert "PGPASSWORD" in done.stderr


def test_what_arrives_is_what_the_preview_shows_and_not_a_word_more(laptop: Machine, database: Database) -> None:
    laptop.note("key", f"Where the key {KEY} is", f"It is {KEY}.\nAnd this is the second line.")
    laptop.note("home", "stays at home", "a word that stays", extra="share: false\n")
    laptop.note(KEY, "has a key for a name", "body of it")
    laptop.rule("retries", "---\nname: retries\ndescription: Retry three times\n---\n\nNever retry a payment.\n")
    laptop.open_session(laptop.project, "talk", "Why the import stalls", "why does the import stall, asked in private?")
    laptop.open_session(laptop.project, "untitled", "", "a question that stays")
    laptop.index()
    shown = json.loads(laptop.command("share", "preview", "--json").stdout)["records"]
    laptop.sync()
    columns = ("kind", "project", "path", "name", "description", "date", "language", "successor", "body")
    rows = ask(database, f"SELECT {', '.join(columns)} FROM holding JOIN content ON content.id = content")
    arrived = [dict(zip(columns, row, strict=True)) for row in rows]
    assert sorted(arrived, key=json.dumps) == sorted(({c: r[c] for c in columns} for r in shown), key=json.dumps)
    assert {row["name"] for row in arrived} >= {"first", "key", "retries"}
    assert any("[masked" in row["description"] for row in arrived)

    # All text in all tables: what was shown, and by whom and what it was sent.
    allowed = {str(value) for row in shown for value in row.values()}
    member = laptop.member
    allowed |= {member.machine, member.name, member.person, member.team, member.computer}
    texts = ask(
        database,
        """SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'recall' AND data_type = 'text'""",
    )
    assert len(texts) > 10
    for table, column in texts:
        for (value,) in ask(database, f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"):
            if (table, column) not in (("past", "mark"), ("embedding", "model")):
                assert value in allowed, f"{table}.{column} holds {one_line(value)}"
    dump = database.dump()
    for word in (
        KEY,
        "a word that stays",
        "stays at home",
        "asked in private",
        "a question that stays",
        str(laptop.home),
    ):
        assert word.encode() not in dump, word
        assert word.encode("utf-16-le") not in dump
