"""What the network refuses, as sentences."""

import os
import ssl

import httpx2
import pytest
from huggingface_hub.errors import OfflineModeIsEnabled

from recall.models.failures import host_of, network_error

URL = "https://me:secret@hub.example:8443/people/model"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.casefold().endswith("_proxy"):
            monkeypatch.delenv(name)


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OfflineModeIsEnabled("no"), "Offline mode is on, so hub.example:8443 was not asked"),
        (httpx2.ProxyError("407 Proxy Authentication Required"), "The proxy of this machine refused"),
        (httpx2.ReadTimeout("timed out"), "did not answer in time; check the network and try again"),
        (httpx2.ConnectTimeout(""), "did not answer in time"),
        (caused(httpx2.ConnectError("bad"), ssl.SSLCertVerificationError("self-signed")), "name its certificates in"),
        (httpx2.UnsupportedProtocol("no such scheme"), "expected an address like https://host/folder"),
        (httpx2.RemoteProtocolError("closed"), "hub.example:8443 cannot be reached (closed)"),
    ],
)
def test_each_cause_has_its_sentence(error: Exception, sentence: str) -> None:
    text = str(network_error(error, URL))
    assert sentence in text
    assert text.endswith(".")
    assert "\n" not in text


def test_the_proxy_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.example:3128")
    text = str(network_error(httpx2.ProxyError("403 Forbidden"), "https://hub.example/x"))
    assert "The proxy http://proxy.example:3128 refused the connection to hub.example (403 Forbidden)" in text
    assert "secret" not in text
    monkeypatch.setenv("NO_PROXY", "hub.example")
    assert "proxy" not in str(network_error(httpx2.ConnectError("x"), "https://hub.example/x"))


@pytest.mark.parametrize(
    ("proxy", "shown"),
    [("proxy.example:3128", "http://proxy.example:3128"), ("http://[broken", "http://[broken"), ("http://", "http://")],
)
def test_any_proxy_gives_a_sentence(monkeypatch: pytest.MonkeyPatch, proxy: str, shown: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    text = str(network_error(httpx2.ConnectError("refused"), "https://hub.example/x"))
    assert f"cannot be reached through the proxy {shown} (refused)" in text


def test_a_host_is_shown_without_name_and_password() -> None:
    assert host_of(URL) == "hub.example:8443"
