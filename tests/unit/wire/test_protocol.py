"""Headers of requests and replies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.version import BUILD, PROTOCOL
from recall.wire.protocol import MAX_HEADER, Reply, Request

secrets = st.one_of(st.just(""), st.text("0123456789abcdef", min_size=32, max_size=32))


@given(
    st.sampled_from(["hook", "query", "status", "index", "stop"]), st.integers(0, 10**7), st.integers(0, 10**9), secrets
)
def test_a_request_header_survives_the_wire(verb: str, budget: int, length: int, secret: str) -> None:
    line = Request(verb, budget, length, secret).encode()
    found = Request.decode(line)
    assert (found.verb, found.budget_ms, found.length, found.secret) == (verb, budget, length, secret)
    assert (found.protocol, found.build) == (PROTOCOL, BUILD)
    assert len(line) <= MAX_HEADER
    assert line.count(b"\n") == 1


@given(st.sampled_from(["ok", "none", "warming", "busy", "error"]), st.integers(0, 10**9), secrets)
def test_a_reply_header_survives_the_wire(status: str, length: int, proof: str) -> None:
    found = Reply.decode(Reply(status, length, proof).encode())
    assert (found.status, found.length, found.proof) == (status, length, proof)


def test_the_wire_format_is_the_documented_one() -> None:
    assert Request("hook", 250, 12, "ab").encode() == b"RECALL/%d hook 250 %d 12 ab\n" % (PROTOCOL, BUILD)
    assert Reply("ok", 3).encode() == b"RECALL/%d ok %d 3\n" % (PROTOCOL, BUILD)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_header_or_a_value_error(line: bytes) -> None:
    for header in (Request, Reply):
        try:
            header.decode(line)
        except ValueError:
            continue


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"GET / HTTP/1.1\n",
        b"RECALL/1 stop 0 1\n",
        b"RECALL/1 stop 0 1 0",
        b"RECALL/1 stop 0 1 0\nx",
        b"RECALL/1 stop -1 1 0\n",
    ],
)
def test_what_is_not_a_request_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="not a request"):
        Request.decode(line)
