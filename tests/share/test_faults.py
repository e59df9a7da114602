"""What a member or a setting can spoil: a clock set by hand, a wrong password, a server that lets nobody in."""

from pathlib import Path

import pytest
from psycopg import sql

from postgres import Database, Server, authority_of_somebody_else
from recall.core.errors import ShareError, ShareUnreachable
from recall.share.connection import NeedsPassword
from recall.share.membership import keep
from recall.share.schema import MOST_CHANGES
from share.holdings import agree, ask, received
from share.machines import Machine, exchanged

PASSWORD = "pass-of-a-colleague"
LATER = "the next sync catches up"


@pytest.fixture
def role(pair: list[Machine], database: Database) -> str:
    """A colleague's role, let in."""
    name = database.server.create_role(f"{database.name}_colleague", PASSWORD)
    pair[0].join(database.url, database.password, make=True, grant=name)
    return name


def clock(database: Database) -> int:
    return int(ask(database, "SELECT seq FROM clock")[0][0])


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("ahead", [2, 1000, MOST_CHANGES])
def test_a_clock_that_was_set_by_hand_and_back_hides_nothing(
    pair: list[Machine], database: Database, ahead: int, forget: bool
) -> None:
    laptop, tower = pair
    true = clock(database)
    ask(database, "UPDATE clock SET seq = %s", min(true + ahead, MOST_CHANGES))
    tower.sync(identity="")
    ask(database, "UPDATE clock SET seq = %s", true)
    if forget:
        ask(database, "DELETE FROM past")
    laptop.note("second", "laptop knows more", "")
    laptop.sync(identity="")
    assert tower.sync(identity="").received.taken >= 1
    assert (laptop.member.machine, "laptop knows more") in received(tower)
    exchanged(pair)
    agree(database, pair)


def test_a_clock_set_back_below_numbers_that_were_given_is_gone_on_with(
    pair: list[Machine], database: Database
) -> None:
    ask(database, "UPDATE clock SET seq = 0")
    for machine in pair:
        machine.note("second", f"{machine.name} knows more", "")
    exchanged(pair)
    exchanged(pair)
    agree(database, pair)


@pytest.mark.parametrize("seq", [MOST_CHANGES + 1, 2**63 - 1, -1])
def test_a_number_that_no_team_can_have_reached_is_refused_and_changes_nothing(
    pair: list[Machine], database: Database, seq: int
) -> None:
    laptop, tower = pair
    true = clock(database)
    before = received(tower)
    laptop.note("second", "laptop knows more", "")
    ask(database, "UPDATE clock SET seq = %s", seq)
    for machine in pair:
        with pytest.raises(ShareError, match=rf"found {seq}, which no team can have reached; .* set it back .*"):
            machine.sync(identity="")
    assert received(tower) == before
    assert clock(database) == seq
    ask(database, "UPDATE clock SET seq = %s", true)
    exchanged(pair)
    agree(database, pair)


@pytest.mark.parametrize("seq", [MOST_CHANGES, 2**63 - 1])
def test_leaving_tells_of_such_a_number_too(pair: list[Machine], database: Database, seq: int) -> None:
    ask(database, "UPDATE clock SET seq = %s", seq)
    done = pair[0].command("share", "leave", "--delete-mine", "--yes", check=False, PGPASSWORD=database.password)
    assert done.returncode == 1
    assert "which no team can have reached" in done.stderr
    assert clock(database) == seq


def test_a_wrong_password_is_told_with_the_place_it_came_from(
    pair: list[Machine], database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop = pair[0]
    wrong = "wrong-and-never-shown"

    def told() -> str:
        with pytest.raises(NeedsPassword) as raised:
            laptop.sync(identity="")
        assert wrong not in str(raised.value)
        return str(raised.value)

    laptop.password = wrong
    assert "refused the password that was given" in told()
    laptop.password = None  # type: ignore[assignment]
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    assert "wants a password" in told()
    pgpass = tmp_path / "pgpass"
    pgpass.write_text(f"*:*:*:*:{wrong}\n", encoding="utf-8")
    pgpass.chmod(0o600)
    assert "refused the password in your pgpass file" in told()
    keep(laptop.paths, wrong)
    said = told()
    assert f"refused the password that is kept in {laptop.paths.share_password}" in said
    assert "--keep-password` puts another one there" in said
    Path(laptop.paths.share_password).write_text(f"elsewhere:*:*:*:{wrong}\n", encoding="utf-8")
    assert "share.pass holds none for this server, database and user): set PGPASSWORD" in told()
    monkeypatch.setenv("PGPASSWORD", wrong)
    said = told()
    assert "refused the password in PGPASSWORD (wrong, or out of date); put the right one there, or unset it" in said
    assert f"the one that is kept in {laptop.paths.share_password} is used then" in said
    done = laptop.command(
        "share", "join", database.url, "--keep-password", PGPASSWORD=database.password, PGPASSFILE=str(pgpass)
    )
    assert done.returncode == 0
    monkeypatch.delenv("PGPASSWORD")
    laptop.sync(identity="")


def test_a_database_called_password_is_no_password(pair: list[Machine], database: Database) -> None:
    with pytest.raises(ShareError, match=r'has no database of this name .*"password"') as raised:
        pair[0].sync(url=database.server.url(database.owner, "password"), identity="")
    assert not isinstance(raised.value, NeedsPassword)


@pytest.mark.parametrize("sslmode", ["require", "verify-full"])
def test_a_server_without_tls_is_told(database: Database, pair: list[Machine], sslmode: str) -> None:
    url = database.server.url(database.owner, database.name, sslmode=sslmode)
    with pytest.raises(ShareError, match=r"speaks no TLS, .*`ssl = on`") as raised:
        pair[0].sync(url=url, identity="")
    assert LATER not in str(raised.value)


def test_certificates_that_prove_nothing_are_told(with_tls: Server, tmp_path: Path) -> None:
    laptop = Machine(tmp_path, "laptop")
    with authority_of_somebody_else() as authority:
        for root in (authority, tmp_path / "missing.pem"):
            url = with_tls.url(sslmode="verify-full", sslrootcert=root)
            with pytest.raises(ShareError, match=r"not proved to be the right one .*\(sslrootcert=FILE\)") as raised:
                laptop.join(url, with_tls.password, make=True)
            assert not isinstance(raised.value, ShareUnreachable)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("ALTER ROLE {role} NOLOGIN", r"may not log in .*ALTER ROLE name LOGIN"),
        ("ALTER ROLE {role} VALID UNTIL '2001-01-01'", r"refused the password .*out of date"),
        ("REVOKE CONNECT ON DATABASE {database} FROM PUBLIC", r"GRANT CONNECT ON DATABASE"),
    ],
)
def test_what_keeps_a_role_out_is_told(
    pair: list[Machine], database: Database, role: str, change: str, told: str
) -> None:
    url = database.server.url(role, database.name)
    laptop = pair[0]
    laptop.password = PASSWORD
    laptop.sync(url=url, identity="")
    statement = sql.SQL(change).format(role=sql.Identifier(role), database=sql.Identifier(database.name))
    with database.server.connect() as superuser:
        superuser.execute(statement)
    with pytest.raises(ShareError, match=told) as raised:
        laptop.sync(url=url, identity="")
    assert "does not answer" not in str(raised.value)
    assert LATER not in str(raised.value)


def test_no_free_connection_passes_by_itself(pair: list[Machine], database: Database, role: str) -> None:
    url = database.server.url(role, database.name)
    laptop = pair[0]
    laptop.password = PASSWORD
    with database.server.connect() as superuser:
        superuser.execute(sql.SQL("ALTER ROLE {} CONNECTION LIMIT 0").format(sql.Identifier(role)))
    with pytest.raises(ShareUnreachable, match=rf"no connection free .*; .*{LATER}"):
        laptop.sync(url=url, identity="")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"service": "nobody-wrote-it"}, r"pg_service\.conf"),
        ({"sslmode": "bogus"}, r"cannot be asked with these settings .*bogus.*; correct this part"),
    ],
)
def test_a_setting_that_leads_nowhere_is_told(
    pair: list[Machine], database: Database, words: dict[str, str], told: str
) -> None:
    with pytest.raises(ShareError, match=told) as raised:
        pair[0].sync(url=database.server.url(database.owner, database.name, **words), identity="")
    assert not isinstance(raised.value, ShareUnreachable)


def test_a_server_that_lets_nobody_in_from_here_is_told(tmp_path: Path) -> None:
    with Server() as strict:
        rules = strict.root / "data" / "pg_hba.conf"
        rules.write_text("host all all 10.0.0.1/32 scram-sha-256\n", encoding="utf-8")
        strict.restart()
        with pytest.raises(ShareError, match=r"lets nobody in .* add a line for them to pg_hba.conf"):
            Machine(tmp_path, "laptop").join(strict.url(), strict.password, make=True)


def test_a_password_goes_over_no_open_network_in_clear_text(tmp_path: Path) -> None:
    with Server() as trusting:
        rules = trusting.root / "data" / "pg_hba.conf"
        rules.write_text("host all all 127.0.0.1/32 password\n", encoding="utf-8")
        trusting.restart()
        near = trusting.url()
        far = f"{near.replace('@127.0.0.1:', '@db.office:')}?hostaddr=127.0.0.1"
        laptop = Machine(tmp_path, "laptop")
        with pytest.raises(ShareError, match=r"clear text .* did not get it .*sslmode=verify-full") as raised:
            laptop.join(far, trusting.password, make=True)
        assert not isinstance(raised.value, ShareUnreachable)
        with pytest.raises(ShareError, match="speaks no TLS"):
            laptop.join(f"{far}&sslmode=require", trusting.password, make=True)
        laptop.join(near, trusting.password, make=True)


@pytest.mark.parametrize("make", [False, True])
def test_who_joins_is_promised_no_later_sync(tmp_path: Path, make: bool) -> None:
    with pytest.raises(ShareUnreachable, match=r"does not answer .*; see that it runs") as raised:
        Machine(tmp_path, "laptop").join("postgresql://me@127.0.0.1:1/team", "x", make=make)
    assert LATER not in str(raised.value)


@pytest.mark.parametrize("name", ["nobodyrole", "none", "", "bad\x1b[2J"])
def test_a_role_that_is_not_there_is_named_and_nothing_is_made(database: Database, tmp_path: Path, name: str) -> None:
    laptop = Machine(tmp_path, "laptop")
    with pytest.raises(ShareError, match=r'found none named ".*"; nothing was changed: .* CREATE ROLE') as raised:
        laptop.join(database.url, database.password, make=True, grant=name)
    assert "\x1b" not in str(raised.value)
    schemas = ask(database, "SELECT 1 FROM information_schema.schemata WHERE schema_name = 'recall'")
    assert schemas == []
