"""Addresses: what is one, how it is shown, and whether somebody can listen."""

import pytest

from recall.core.errors import UsageError
from recall.share.address import checked, fields_of, is_encrypted, is_protected, shown


@pytest.mark.parametrize(
    ("url", "short"),
    [
        ("postgresql://me@db.example.com/team", "db.example.com:5432/team"),
        ("postgres://me@db.example.com:6543/team?sslmode=require", "db.example.com:6543/team"),
        ("postgresql:///team", "localhost:5432/team"),
        ("postgresql:///team?host=db.example.com&port=7", "db.example.com:7/team"),
        ("postgresql://me@[::1]:5433/team", "::1:5433/team"),
        ("postgresql://%E6%97%A5@host/%E6%9C%AC", "host:5432/%E6%9C%AC"),
        ("postgresql://h:99999/db", "(the address is broken)"),
    ],
)
def test_an_address_is_shown_in_short(url: str, short: str) -> None:
    assert shown(url) == short


@pytest.mark.parametrize(
    "url",
    ["", "team", "http://h/db", "postgresql://", "postgresql://h", "postgresql://h:99999/db", "postgresql://h:x/db",
     "postgresql://[::1/db", "postgresql://h/db?nonsense=1", "postgresql://h/db?sslmode", "host=h dbname=d"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        checked(url)


def test_a_setting_that_postgresql_does_not_know_is_named() -> None:
    with pytest.raises(UsageError, match=r"expected settings of PostgreSQL .*, found bogus, which is none"):
        checked("postgresql://h/db?sslmode=require&bogus=1")
    assert checked("postgresql://h/db?ssl=true")


@pytest.mark.parametrize(
    "url", ["postgresql://me:a/?hunter=2@h/db", "postgresql://h/db?hun%74er=2", "postgresql://h/db?h-2=3"]
)
def test_a_piece_of_a_password_is_not_named(url: str) -> None:
    with pytest.raises(UsageError, match="found a broken one") as raised:
        checked(url)
    assert "hun" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "protected"),
    [
        ("postgresql://h/db", False),
        ("postgresql://h/db?sslmode=require", False),
        ("postgresql://h/db?sslmode=verify-ca", False),
        ("postgresql://h/db?sslmode=verify-full", True),
        ("postgresql://h/db?sslmode=verify-full&sslmode=disable", False),
        ("postgresql://127.0.0.1/db", True),
        ("postgresql://localhost:5/db", True),
        ("postgresql://[::1]/db", True),
        ("postgresql:///db", True),
        ("postgresql:///db?host=h", False),
        ("postgresql://localhost/db?host=h", False),
        ("postgresql://localhost/db?hostaddr=10.0.0.5", False),
        ("postgresql:///db?host=localhost", True),
        ("postgresql://[::1/db", False),
    ],
)
def test_only_a_proved_server_or_this_machine_is_protected(url: str, protected: bool) -> None:
    assert is_protected(url) is protected


@pytest.mark.parametrize(
    ("url", "encrypted"),
    [
        ("postgresql://h/db", False),
        ("postgresql://h/db?sslmode=prefer", False),
        ("postgresql://h/db?sslmode=require", True),
        ("postgresql://h/db?sslmode=verify-ca", True),
        ("postgresql://h/db?sslmode=verify-full", True),
        ("postgresql://h/db?sslmode=require&sslmode=disable", False),
        ("postgresql://localhost/db?hostaddr=10.0.0.5", False),
        ("postgresql://127.0.0.1/db", True),
        ("postgresql://[::1/db", False),
    ],
)
def test_tls_of_any_kind_or_this_machine_is_encrypted(url: str, encrypted: bool) -> None:
    assert is_encrypted(url) is encrypted


def test_of_a_setting_given_twice_libpq_takes_the_last_one_as_we_do() -> None:
    url = "postgresql://h/db?sslmode=disable&sslmode=verify-full"
    assert fields_of(url)["sslmode"] == "verify-full"
    assert is_protected(url)
