"""A file over HTTP into a partial file, going on at its end where an earlier try was cut off."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path

import httpx2
from huggingface_hub import constants, get_session

from recall.core.errors import ModelError
from recall.models.failures import NETWORK_ERRORS, Refused, host_of, network_error

#: Called with the size that the partial file has reached.
Reached = Callable[[int], None]

#: Seconds before each further try after a connection that broke in the middle; whatever comes starts them anew.
WAITS = (1.0, 2.0, 4.0, 8.0)

#: A manifest has 2 kB; a login page of a hotel may be larger.
_LONGEST_TEXT = 1 << 20


def session(url: str) -> httpx2.Client:
    """The hub's own client, for other addresses too: proxies, certificates and offline mode are the same.

    Raises ModelError where the environment makes it impossible.
    """
    try:
        return get_session()
    except (ImportError, ValueError) as error:  # the environment names a proxy that the client cannot use
        reason = str(error).partition(". ")[0]
        raise ModelError(
            f"{host_of(url)} cannot be asked through the proxy that the environment names ({reason}); correct "
            "HTTPS_PROXY or ALL_PROXY."
        ) from None


def fetch_text(url: str, headers: Mapping[str, str]) -> str:
    """A small UTF-8 file. Raises Refused and ModelError."""
    try:
        response = session(url).get(url, headers=dict(headers), timeout=constants.HF_HUB_DOWNLOAD_TIMEOUT)
    except NETWORK_ERRORS as error:
        raise network_error(error, url) from None
    _check(response, url)
    try:
        return response.content[:_LONGEST_TEXT].decode("utf-8")
    except UnicodeDecodeError:
        raise ModelError(
            f"What {host_of(url)} sent as {url.rpartition('/')[2]} is no text; check the address."
        ) from None


def download(
    url: str, part: Path, size: int, headers: Mapping[str, str], reached: Reached, *, waits: Sequence[float] = WAITS
) -> None:
    """Bring `part` to `size` bytes. What it holds already is not asked for again.

    A connection that breaks after something came is taken up again, up to len(waits) times in a row. Raises Refused,
    ModelError and the OSError of the disk; the partial file stays, unless the source's file has another size.
    """
    left: Iterator[float] = iter(())
    while True:
        before = _size(part)
        try:
            return _stream(url, part, size, headers, reached)
        except (Refused, *NETWORK_ERRORS) as error:
            if isinstance(error, Refused) and not _passing(error.status):
                raise
            if _size(part) > before:
                left = iter(waits)
            if (pause := next(left, None)) is None:
                if isinstance(error, Refused):
                    raise
                raise network_error(error, url) from None
            time.sleep(pause)


def _stream(url: str, part: Path, size: int, headers: Mapping[str, str], reached: Reached) -> None:
    """One request for what is missing. A body that ends early is an error like a connection that breaks."""
    have = _size(part)
    if have > size:
        part.unlink()
        have = 0
    reached(have)
    if have == size:
        return
    asked = {**headers, "Accept-Encoding": "identity"}  # a packed body would have other byte positions
    if have:
        asked["Range"] = f"bytes={have}-"
    timeout = constants.HF_HUB_DOWNLOAD_TIMEOUT
    with session(url).stream("GET", url, headers=asked, timeout=timeout) as response:
        if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink()
            raise _other_size(url, size, None)
        _check(response, url)
        if have and response.status_code != HTTPStatus.PARTIAL_CONTENT:
            have = 0  # the server knows no ranges and sends the file from its beginning
            part.unlink()
        announced = response.headers.get("Content-Length")
        if announced and have + int(announced) != size:
            part.unlink(missing_ok=True)
            raise _other_size(url, size, have + int(announced))
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(handle, "wb", buffering=0) as file:  # so that what has come stays, however this process ends
            file.seek(have)
            for piece in response.iter_bytes():
                have += len(piece)
                if have > size:
                    break
                rest = memoryview(piece)
                while rest:
                    rest = rest[file.write(rest) :]
                reached(have)
    if have > size:
        part.unlink()
        raise _other_size(url, size, None)
    if have < size:
        raise httpx2.RemoteProtocolError(f"the connection ended after {have} of {size} bytes")


def _check(response: httpx2.Response, url: str) -> None:
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        raise Refused(response.status_code, url)


def _passing(status: int) -> bool:
    """Whether a refusal may be over in a moment: too many requests, or something behind the server is down."""
    return status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _other_size(url: str, size: int, found: int | None) -> ModelError:
    has = "another size" if found is None else f"{found} bytes"
    return ModelError(
        f"{url.rpartition('/')[2]} should have {size} bytes, but has {has} at {host_of(url)}; it is not the file that "
        "the manifest means, and nothing of it was kept."
    )


def _size(part: Path) -> int:
    try:
        return part.stat().st_size
    except FileNotFoundError:
        return 0
