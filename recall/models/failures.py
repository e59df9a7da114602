"""What goes wrong between here and where a model comes from, as one sentence with what to do."""

import socket
import ssl
import urllib.request
from urllib.parse import urlsplit

import httpx2
from huggingface_hub.errors import OfflineModeIsEnabled

from recall.core.errors import ModelError
from recall.text.clean import one_line

#: What a request can raise before an answer is there, besides the statuses of `Refused`.
NETWORK_ERRORS = (httpx2.HTTPError, httpx2.InvalidURL, OfflineModeIsEnabled)


class CutOff(ModelError):
    """The other side cannot be reached any more; what has come so far stays."""


class Refused(Exception):
    """The server answered with a status of 400 or more; the source of the model knows what that means."""

    def __init__(self, status: int, url: str) -> None:
        super().__init__(f"HTTP status {status} of {host_of(url)}")
        self.status = status


def host_of(url: str) -> str:
    """Host and port of an address, without the person's name and password."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2]  # urlsplit refuses what a person may mistype


def network_error(error: Exception, url: str) -> ModelError:
    """Why nothing came from `url`, which may be one of many reasons between here and there."""
    host, proxy = host_of(url), _proxy(url)
    through = f" through the proxy {proxy}" if proxy else ""
    if isinstance(error, OfflineModeIsEnabled):
        return ModelError(
            f"Offline mode is on, so {host} was not asked; unset HF_HUB_OFFLINE, or add the model from a folder with "
            "`--from FOLDER`."
        )
    if isinstance(error, httpx2.ProxyError):
        return ModelError(
            f"The proxy {proxy or 'of this machine'} refused the connection to {host} ({_reason(error)}); correct "
            "HTTPS_PROXY, or name the host in NO_PROXY when it is reached without one."
        )
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return ModelError(f"{host!r} cannot be asked ({_reason(error)}); expected an address like https://host/folder.")
    if isinstance(error, httpx2.TimeoutException):
        return CutOff(
            f"{host} did not answer in time{through}; check the network and try again, what has come so far stays "
            "(HF_HUB_DOWNLOAD_TIMEOUT is the patience in seconds)."
        )
    if _caused_by(error, socket.gaierror):
        name = host_of(proxy or url).partition(":")[0]
        whose = " of the proxy" if proxy else ""
        return ModelError(f"The name {name}{whose} cannot be resolved; check the network and the address.")
    if _caused_by(error, ssl.SSLError):
        return ModelError(
            f"The certificate of {host} is not trusted ({_reason(error)}); where a company's proxy signs anew, name "
            "its certificates in SSL_CERT_FILE."
        )
    return CutOff(
        f"{host} cannot be reached{through} ({_reason(error)}); check the network and try again, what has come so far "
        "stays."
    )


def _proxy(url: str) -> str:
    """The proxy that the environment names for this address, without its password; "" for none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return ""
    proxies = urllib.request.getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all") or ""
    if found and "://" not in found:
        found = f"http://{found}"  # as the client reads it
    return f"{found.partition('://')[0]}://{host_of(found)}" if found else ""


def _caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error is not None


def _reason(error: Exception) -> str:
    return one_line(str(error)) or type(error).__name__
