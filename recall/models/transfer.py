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

#: Bytes that a manifest may have at most; usual ones have 2,000.
LONGEST_TEXT = 1_000_000

_CHECK = "check what `--from` names"


def session(url: str) -> httpx2.Client:
    """The hub's own client, for other addresses too: proxies, certificates and offline mode are the same.

    Raises ModelError where the environment makes it impossible.
    """
    try:
        return get_session()
    except (ImportError, ValueError, httpx2.InvalidURL) as error:  # of the proxy: no address was given to it yet
        # Its words about an address quote what stands there, which may be a part of the password.
        reason = str(error).partition(". ")[0] if isinstance(error, ImportError) else "it is not http://host:port"
        raise ModelError(
            f"{host_of(url)} cannot be asked through the proxy that the environment names ({reason}); correct "
            "HTTPS_PROXY or ALL_PROXY."
        ) from None


def fetch_text(url: str, headers: Mapping[str, str]) -> str:
    """A manifest. No more than its largest size is read. Raises Refused and ModelError."""
    asked, timeout = {**headers, "Accept-Encoding": "identity"}, constants.HF_HUB_DOWNLOAD_TIMEOUT
    content = bytearray()
    client = session(url)
    try:
        with client.stream("GET", url, headers=asked, timeout=timeout) as response:
            _check(response, url)
            for piece in response.iter_bytes():
                content += piece
                if len(content) > LONGEST_TEXT:
                    break
    except NETWORK_ERRORS as error:
        raise network_error(error, url) from None
    return manifest_text(bytes(content), f"What {host_of(url)} sent as {url.rpartition('/')[2]}")


def manifest_text(content: bytes, what: str) -> str:
    """The text of a manifest's first bytes. Raises ModelError, which calls them `what`, where they are none."""
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        raise ModelError(f"{what} is a web page and not a model's manifest; {_CHECK}, and whether it wants a login.")
    if len(content) > LONGEST_TEXT:
        raise ModelError(
            f"{what} has more than {LONGEST_TEXT / 1e6:.0f} MB, so it is not a model's manifest; {_CHECK}."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{what} is no text in UTF-8 and so not a model's manifest; {_CHECK}.") from None


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
