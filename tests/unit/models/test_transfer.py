"""Downloads from a real server: whatever stops them, the next one asks for the rest, and the bytes are the same."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session
from hypothesis import given
from hypothesis import strategies as st

from hub import Hub, serving
from recall.core.errors import ModelError
from recall.models.failures import Refused
from recall.models.transfer import download, fetch_text

FILE = "weights.bin"
CONTENT = random.Random(4).randbytes(300_000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    path = tmp_path_factory.mktemp("served") / FILE
    path.write_bytes(CONTENT)
    with serving({FILE: path}) as hub:
        yield hub


@pytest.fixture(autouse=True)
def well_behaved(server: Hub) -> None:
    server.behaviours.clear()
    server.log.clear()


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "part"


def fetch(server: Hub, part: Path, waits: tuple[float, ...] = ()) -> list[int]:
    """Download to `part`; the sizes that were reported."""
    sizes: list[int] = []
    download(f"{server.endpoint}/plain/{FILE}", part, len(CONTENT), {}, sizes.append, waits=waits)
    return sizes


def test_a_file_comes_whole_for_its_owner_only_and_reports_how_far_it_is(server: Hub, part: Path) -> None:
    sizes = fetch(server, part)
    assert part.read_bytes() == CONTENT
    assert part.stat().st_mode & 0o777 == 0o600
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (0, len(CONTENT))


def test_what_broke_off_goes_on_at_its_last_byte(server: Hub, part: Path) -> None:
    server.behaviour(FILE).cut = 123_457
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:\d+ cannot be reached \(.*\); .*what has come so far stays"):
        fetch(server, part)
    assert part.read_bytes() == CONTENT[:123_457]
    server.behaviour(FILE).cut = None
    assert fetch(server, part)[0] == 123_457
    assert server.parts(FILE) == [None, "bytes=123457-"]
    assert part.read_bytes() == CONTENT


def test_a_file_that_is_there_is_not_asked_for(server: Hub, part: Path) -> None:
    part.write_bytes(CONTENT)
    assert fetch(server, part) == [len(CONTENT)]
    assert server.log == []


def test_breaks_are_bridged_as_long_as_something_comes(server: Hub, part: Path) -> None:
    server.behaviour(FILE).cut = 70_000
    fetch(server, part, waits=(0.0,))
    assert part.read_bytes() == CONTENT
    assert len(server.parts(FILE)) == 5


def test_a_server_that_sends_nothing_more_is_given_up_after_the_waits(server: Hub, part: Path) -> None:
    part.write_bytes(CONTENT[:10])
    server.behaviour(FILE).cut = 0
    with pytest.raises(ModelError, match="cannot be reached"):
        fetch(server, part, waits=(0.0, 0.0))
    assert len(server.parts(FILE)) == 1  # nothing came in this run at all, so it is no break


def test_a_server_that_knows_no_parts_sends_all_again(server: Hub, part: Path) -> None:
    part.write_bytes(b"other bytes")
    server.behaviour(FILE).ranges = False
    fetch(server, part)
    assert server.parts(FILE) == ["bytes=11-"]
    assert part.read_bytes() == CONTENT


def test_a_partial_file_that_is_too_long_is_begun_anew(server: Hub, part: Path) -> None:
    part.write_bytes(CONTENT + b"more")
    fetch(server, part)
    assert server.parts(FILE) == [None]
    assert part.read_bytes() == CONTENT


@pytest.mark.parametrize("size", [1000, len(CONTENT) + 1])
def test_a_file_of_another_size_is_refused_before_it_comes(server: Hub, part: Path, size: int) -> None:
    server.behaviour(FILE).content = bytes(size)
    with pytest.raises(ModelError, match=f"{FILE} should have 300000 bytes, but has {size} bytes at"):
        fetch(server, part)
    assert not part.exists()


def test_a_partial_file_longer_than_the_servers_is_dropped(server: Hub, part: Path) -> None:
    part.write_bytes(CONTENT[:2000])
    server.behaviour(FILE).content = bytes(1000)  # answers that the part asked for does not exist
    with pytest.raises(ModelError, match="has another size"):
        fetch(server, part)
    assert not part.exists()


@pytest.mark.parametrize("status", [404, 503])
def test_a_refusal_keeps_what_has_come(server: Hub, part: Path, status: int) -> None:
    part.write_bytes(CONTENT[:2000])
    server.behaviour(FILE).status = status
    with pytest.raises(Refused, match=f"status {status}"):
        fetch(server, part, waits=(0.0,))
    assert part.read_bytes() == CONTENT[:2000]


@given(have=st.integers(0, len(CONTENT)), cut=st.integers(1, len(CONTENT)), ranges=st.booleans())
def test_any_beginning_and_any_break_give_the_same_bytes(
    server: Hub, tmp_path_factory: pytest.TempPathFactory, have: int, cut: int, ranges: bool
) -> None:
    part = tmp_path_factory.mktemp("any") / "part"
    part.write_bytes(CONTENT[:have])
    server.behaviour(FILE).ranges = ranges
    server.behaviour(FILE).cut = cut
    try:
        fetch(server, part)
    except ModelError:
        # A cut in the middle: what is there is a beginning.
        assert part.read_bytes() == CONTENT[: part.stat().st_size]
    server.behaviour(FILE).cut = None
    fetch(server, part)
    assert part.read_bytes() == CONTENT


def test_text_that_is_none_is_refused(server: Hub) -> None:
    with pytest.raises(ModelError, match=r"What 127\.0\.0\.1:\d+ sent as weights\.bin is no text in UTF-8"):
        fetch_text(f"{server.endpoint}/plain/{FILE}", {})


def test_no_more_of_a_manifest_is_read_than_one_can_have(server: Hub) -> None:
    server.behaviour(FILE).content = b"#" * 3_000_000
    server.behaviour(FILE).hold = 1_100_000  # who waits for the rest waits for a minute
    with pytest.raises(ModelError, match="has more than 1 MB, so it is not a model's manifest"):
        fetch_text(f"{server.endpoint}/plain/{FILE}", {})
    assert not server.let_go.is_set()


def test_a_web_page_is_no_manifest(server: Hub) -> None:
    server.behaviour(FILE).content = b"\r\n<html><title>Login \xe9</title>" + b" " * 2_000_000
    with pytest.raises(ModelError, match=r"sent as weights\.bin is a web page and not a model's manifest"):
        fetch_text(f"{server.endpoint}/plain/{FILE}", {})


@pytest.mark.parametrize(
    "proxy", ["::::", "http://me:sec/ret@p:1", "http://p:abc", "ftp://me:secret@p:1", "http://\x01"]
)
def test_a_proxy_that_is_no_address_is_named_as_the_fault(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    close_session()
    try:
        with pytest.raises(
            ModelError, match=r"through the proxy that the environment names .* correct HTTPS_PROXY"
        ) as found:
            fetch_text("https://hub.invalid/x", {})
    finally:
        monkeypatch.undo()
        close_session()
    assert "sec" not in str(found.value)


@pytest.mark.parametrize("url", ["http://[broken/x", "http://127.0.0.1:9/x", "http:///x"])
def test_an_address_that_leads_nowhere_is_one_sentence(url: str) -> None:
    with pytest.raises(ModelError, match=r"\.$") as found:
        fetch_text(url, {})
    assert "\n" not in str(found.value)
