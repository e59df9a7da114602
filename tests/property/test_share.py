"""Sharing, for any text and any bytes: what is kept is bounded, plain and the same each time."""

import string
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall.core.errors import UsageError
from recall.core.types import Kind
from recall.daemon.sharing import is_due
from recall.replica.membership import plain_name
from recall.replica.pack import MAX_TEXTS, pack, unpack
from recall.replica.record import (
    MAX_BODY,
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_PATH,
    MAX_PROJECT,
    MAX_SUCCESSOR,
    TeamRecord,
    cleaned,
    plain_path,
    plain_project,
)
from recall.replica.team import labels
from recall.share.address import checked, is_protected, shown
from recall.share.outgoing import Wanted, is_called, path_for_others, project_for_others
from recall.sources.projects import encode
from recall.text.clean import one_line, visible

TEXT = st.text(max_size=400) | st.text(alphabet="ab \n\t\u200d\u0301🏽🇯\x1b]", max_size=300).map(lambda t: t * 40)
#: Words that the masker may take for a secret, and what stands around them.
WORDS = st.lists(
    st.sampled_from(
        [
            "password",
            "=",
            "token:",
            " ",
            "AKIA" + "Q7Z4M2X5L5K3J6H2",
            "ghp_" + "a1B2" * 9,
            "x" * 90,
            "\n",
            "[masked: a]",
        ]
    )
).map("".join)
ANY = TEXT | WORDS
RECORDS = st.builds(
    TeamRecord, st.sampled_from([*get_args(Kind), "system", ""]), ANY, ANY, ANY,
    st.none() | st.dates().map(str) | ANY, st.none() | st.sampled_from(["en", "ja", "x"]) | ANY, st.none() | ANY,
)  # fmt: skip
DIGEST = st.binary(min_size=32, max_size=32)
PARTS = st.text(alphabet=string.ascii_letters + "日本.-_ ", min_size=1, max_size=12).filter(
    lambda t: t.strip(". ") != ""
)


@given(RECORDS)
@example(TeamRecord("memory", "0" * 88 + "TOKEN0:" + "0" * 35 + "1" + "0" * 33 + "234" + "0" * 40, "", ""))
def test_a_cleaned_record_is_bounded_visible_and_cleans_to_itself(record: TeamRecord) -> None:
    clean = cleaned(record)
    if clean is None:
        return
    assert 0 < len(clean.name) <= MAX_NAME
    assert len(clean.description) <= MAX_DESCRIPTION
    assert len(clean.body) <= MAX_BODY
    assert len(clean.successor or "") <= MAX_SUCCESSOR
    for line in (clean.name, clean.description, clean.successor or ""):
        assert one_line(line) == line
    assert visible(clean.body) == clean.body
    assert clean.date is None or (len(clean.date) == 10 and clean.date.isascii())
    assert clean.id == cleaned(record).id  # type: ignore[union-attr]
    again = cleaned(clean)
    assert again == clean


@given(RECORDS, RECORDS)
def test_the_number_of_a_record_is_that_of_all_of_it(one: TeamRecord, other: TeamRecord) -> None:
    assert (one.id == other.id) == (one == other)
    assert len(one.id) == 32


@given(st.dictionaries(DIGEST, st.tuples(st.binary(max_size=64), st.binary(max_size=64)), max_size=MAX_TEXTS))
def test_a_pack_unpacks_to_what_it_was(texts: dict[bytes, tuple[bytes, bytes]]) -> None:
    assert unpack(pack(texts)) == texts


@given(st.binary(max_size=2000))
def test_any_bytes_unpack_to_something_bounded(data: bytes) -> None:
    assert sum(len(v) + len(s) for v, s in unpack(data).values()) <= len(data)


@given(st.dictionaries(DIGEST, st.tuples(st.binary(max_size=9), st.binary(max_size=9)), max_size=4), st.data())
def test_a_pack_that_was_changed_somewhere_never_raises(
    texts: dict[bytes, tuple[bytes, bytes]], data: st.DataObject
) -> None:
    packed = bytearray(pack(texts))
    if packed:
        packed[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    assert len(unpack(bytes(packed))) <= MAX_TEXTS


@given(st.text(max_size=500) | st.lists(st.sampled_from(["..", ".", "/", "a", "\\", "C:", "~", " "])).map("".join))
@example("a/../../b")
@example("./..")
@example("./ 0")
@example("./A:")
@example("a//./b")
def test_a_plain_path_never_leaves_its_root(text: str) -> None:
    path = plain_path(text)
    if path is None or path == "":
        return
    assert len(path) <= MAX_PATH
    assert one_line(path) == path
    root = Path("/root/of/it")
    inside = Path(*root.parts, *path.split("/"))
    assert not path.startswith("/")
    assert inside.is_relative_to(root)
    assert ".." not in inside.parts
    assert plain_path(path) == path


@given(ANY)
def test_a_plain_project_is_one_bounded_line(text: str) -> None:
    name = plain_project(text)
    assert len(name) <= MAX_PROJECT
    assert one_line(name) == name


@given(
    st.dictionaries(
        st.text("0123456789abcdef", min_size=32, max_size=32) | st.text("ab", min_size=32, max_size=32),
        st.text("aA-", max_size=3) | st.text(max_size=60),
        max_size=8,
    ),
    st.text("aA-", max_size=3),
)
def test_no_two_machines_are_called_alike(names: dict[str, str], own: str) -> None:
    found = labels(names, own)
    called = [plain_name(own), *found.values()]
    assert len({name.casefold() for name in called}) == len(called)
    for id_, label in found.items():
        assert label.startswith(plain_name(names[id_]))


@given(st.sets(PARTS, max_size=3), st.sets(PARTS, max_size=3), PARTS)
def test_what_stays_at_home_is_never_taken(projects: set[str], not_projects: set[str], name: str) -> None:
    wanted = Wanted({"memory"}, {p.casefold() for p in projects}, {p.casefold() for p in not_projects})
    key = f"/home/anna/work/{name}"
    taken = wanted.takes(key, name)
    if name.casefold() in {p.casefold() for p in not_projects}:
        assert not taken
        assert not wanted.takes(encode(key), "by another name")
    elif not any(is_called(key, p) for p in not_projects):
        assert taken == (not projects or name.casefold() in {p.casefold() for p in projects})


@given(
    st.lists(PARTS, min_size=1, max_size=4),
    st.lists(PARTS, max_size=3),
    st.sampled_from(["note", "rule", "home", "else"]),
)
def test_the_home_folder_never_leaves(below: list[str], project: list[str], kind: str) -> None:
    home = Path.home()
    claude = home / ".claude"
    root = home.joinpath(*project)
    if kind == "note":
        file = claude / "projects" / encode(str(root)) / "memory" / f"{below[-1]}.md"
    elif kind == "rule":
        file = root.joinpath(*below)
    elif kind == "home":
        file = home / below[-1]
    else:
        file = Path("/srv/rules", *below)
    for key in (str(root), encode(str(root)), ""):
        path = path_for_others(str(file), key, [claude])
        assert str(home) not in path
        assert encode(str(home)) not in path
        assert not Path(path).is_absolute()
        assert ".." not in Path(path).parts
        if key:
            name = project_for_others(key, {})
            assert str(home) not in name
            assert encode(str(home)) not in name


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.integers(0, 10_000), st.booleans())
def test_an_exchange_is_due_after_its_time(now: float, passed: float, minutes: int, paused: bool) -> None:
    due = is_due(now + passed, now, minutes, paused=paused)
    if paused or minutes == 0:
        assert not due
    assert not due or (now + passed) - now >= 60 * minutes
    assert is_due(now, -float("inf"), minutes, paused=paused) == (minutes > 0 and not paused)


@given(
    st.text(max_size=60)
    | st.builds(
        "postgresql://{}:{}@{}/{}?{}".format, PARTS, st.just("hunter2hunter2"), PARTS, PARTS, st.text(max_size=9)
    )
)
def test_any_address_is_taken_or_refused_in_one_line_without_its_password(url: str) -> None:
    try:
        assert checked(url) == url
    except UsageError as error:
        assert "hunter2hunter2" not in str(error)
        assert len(str(error).splitlines()) == 1
    assert one_line(shown(url)) == shown(url)
    assert "hunter2hunter2" not in shown(url)
    assert is_protected(url) in (True, False)


def test_the_examples_above_meet_what_they_are_about() -> None:
    assert cleaned(TeamRecord("memory", "AKIA" + "Q7Z4M2X5L5K3J6H2", "", "")) == TeamRecord(
        "memory", "[masked: aws-access-token]", "", ""
    )
    assert plain_path("../x") is None
    with pytest.raises(UsageError):
        checked("postgresql://me:hunter2hunter2@h/db")
