"""Where a model's files come from: the hub, a folder such as a file share, or a web server."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Protocol

from huggingface_hub import constants, get_hf_file_metadata, get_token, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError

from recall.core.errors import ModelError
from recall.embed.manifest import Hub, Manifest, ModelFile, Variant
from recall.models.failures import NETWORK_ERRORS, Refused, host_of, network_error
from recall.models.transfer import Reached, download, fetch_text, session
from recall.text.clean import one_line
from recall.version import VERSION

_AGENT = {"User-Agent": f"recall/{VERSION}"}
_SHA256_DIGITS = 64
_PIECE = 1 << 20


class Source(Protocol):
    """A place that has a model's files."""

    @property
    def words(self) -> str:
        """Where it is, for the person."""

    def facts(self, files: Iterable[ModelFile]) -> dict[Path, ModelFile]:
        """Sizes and, where it knows them, checksums of files whose manifest does not say. Raises ModelError."""

    def offered(self, manifest: Manifest) -> tuple[Variant, ...]:
        """The variants that it can have, as far as can be told without asking it."""

    def check(self, files: Sequence[ModelFile]) -> None:
        """Raises ModelError where it is known to lack one of these, or to have another."""

    def bring(self, file: ModelFile, part: Path, reached: Reached) -> None:
        """Fill `part`, which may hold the beginning already. Raises ModelError and the OSError of the disk."""


class HubSource:
    """A repository of the hub at one commit. HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE and proxies count."""

    def __init__(self, name: str, hub: Hub) -> None:
        self._name = name
        self._hub = hub

    @property
    def words(self) -> str:
        return f"{constants.ENDPOINT}/{self._hub.repository} at {self._hub.revision[:12]}"

    def facts(self, files: Iterable[ModelFile]) -> dict[Path, ModelFile]:
        return {file.path: self._fact(file) for file in files}

    def offered(self, manifest: Manifest) -> tuple[Variant, ...]:
        return manifest.variants

    def check(self, files: Sequence[ModelFile]) -> None:
        pass

    def bring(self, file: ModelFile, part: Path, reached: Reached) -> None:
        try:
            download(self._url(file), part, file.bytes, self._headers(), reached)
        except Refused as refused:
            raise self._refusal(refused.status, file) from None

    def _fact(self, file: ModelFile) -> ModelFile:
        """The checksum is the hub's name for large files; of small ones it only knows git's."""
        url = self._url(file)
        session(url)
        try:
            found = get_hf_file_metadata(url, token=False, library_name="recall", headers=self._headers())
        except HfHubHTTPError as error:
            raise self._refusal(error.response.status_code, file) from None
        except NETWORK_ERRORS as error:
            raise network_error(error, url) from None
        etag = found.etag or ""
        if not found.size:
            raise ModelError(f"{host_of(url)} does not say how large {file.remote} is; it answers unlike the hub.")
        named = etag if len(etag) == _SHA256_DIGITS else ""
        return replace(file, sha256=file.sha256 or named, bytes=file.bytes or found.size)

    def _url(self, file: ModelFile) -> str:
        return hf_hub_url(self._hub.repository, file.remote, revision=self._hub.revision)

    def _headers(self) -> dict[str, str]:
        token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
        if token and not (token.isascii() and token.isprintable()):  # the client's own error would show the token
            raise ModelError(
                "The token of the hub holds characters that no token has; set HF_TOKEN to the whole token."
            )
        return _AGENT | ({"Authorization": f"Bearer {token}"} if token else {})

    def _refusal(self, status: int, file: ModelFile) -> ModelError:
        host, page = host_of(constants.ENDPOINT), f"{constants.ENDPOINT}/{self._hub.repository}"
        if status in (401, 403):
            return ModelError(
                f"{host} does not hand out {self._hub.repository} to you (status {status}); if {page} asks for "
                "consent, log in there and give it, then set HF_TOKEN to a token of that account with read access."
            )
        if status == 404:
            return ModelError(
                f"{host} has no {file.remote} in {self._hub.repository} at {self._hub.revision[:12]} (status 404); it "
                f"was moved or removed there. A newer recall may know the new place; else `recall models add "
                f"{self._name} --from FOLDER`."
            )
        return _unhelpful(status, host, file.remote)


class UrlSource:
    """A web server that has manifest.toml and the files beside it."""

    def __init__(self, base: str) -> None:
        scheme, separator, rest = base.removesuffix("manifest.toml").rstrip("/").partition("://")
        self._base = scheme.lower() + separator + rest

    @property
    def words(self) -> str:
        scheme, _, rest = self._base.partition("://")
        _, slash, path = rest.partition("/")
        return one_line(f"{scheme}://{host_of(self._base)}{slash}{path}")

    def manifest_text(self) -> str:
        """The text of its manifest.toml. Raises ModelError."""
        try:
            return fetch_text(f"{self._base}/manifest.toml", _AGENT)
        except Refused as refused:
            raise self._refusal(refused.status, "manifest.toml") from None

    def facts(self, files: Iterable[ModelFile]) -> dict[Path, ModelFile]:
        return _no_facts(files, self.words)

    def offered(self, manifest: Manifest) -> tuple[Variant, ...]:
        return manifest.variants

    def check(self, files: Sequence[ModelFile]) -> None:
        pass

    def bring(self, file: ModelFile, part: Path, reached: Reached) -> None:
        try:
            download(f"{self._base}/{file.path.name}", part, file.bytes, _AGENT, reached)
        except Refused as refused:
            raise self._refusal(refused.status, file.path.name) from None

    def _refusal(self, status: int, name: str) -> ModelError:
        if status in (401, 403):
            return ModelError(
                f"{self.words} does not hand out {name} to you (status {status}); where it asks for a name and a "
                "password, put them into the address: https://NAME:PASSWORD@host/..."
            )
        if status == 404:
            return ModelError(
                f"{self.words} has no {name} (status 404); expected the address of a folder with manifest.toml and "
                "the model's files."
            )
        return _unhelpful(status, host_of(self._base), name)


class FolderSource:
    """A folder as the export tools write it, or another machine's folder of the installed model."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def words(self) -> str:
        return one_line(str(self._folder))

    def facts(self, files: Iterable[ModelFile]) -> dict[Path, ModelFile]:
        return _no_facts(files, self.words)

    def offered(self, manifest: Manifest) -> tuple[Variant, ...]:
        return tuple(
            variant
            for variant in manifest.variants
            if not self._missing(manifest.files[path] for path in variant.files)
        )

    def check(self, files: Sequence[ModelFile]) -> None:
        if missing := self._missing(files):
            raise ModelError(f"{self._folder} lacks {', '.join(missing)}; the whole folder is needed.")
        for file in files:
            if (size := self._place(file).stat().st_size) != file.bytes:
                raise ModelError(
                    f"{self._place(file)} should have {file.bytes} bytes, but has {size}; it is not the file that the "
                    "manifest means."
                )

    def bring(self, file: ModelFile, part: Path, reached: Reached) -> None:
        pieces = _pieces(self._place(file))
        first = next(pieces, b"")  # a share that is gone leaves no empty file behind
        with part.open("wb") as target:
            part.chmod(0o600)
            for piece in chain([first], pieces):
                target.write(piece)
                reached(target.tell())

    def _missing(self, files: Iterable[ModelFile]) -> list[str]:
        return [file.path.name for file in files if not self._place(file).is_file()]

    def _place(self, file: ModelFile) -> Path:
        """Beside the manifest; or where the hub has it, in a clone of its repository."""
        beside = self._folder / file.path.name
        return beside if beside.is_file() else self._folder / file.remote


def _no_facts(files: Iterable[ModelFile], words: str) -> dict[Path, ModelFile]:
    """Nothing: only the manifest says what the files are. Raises ModelError where it does not."""
    if unknown := ", ".join(file.path.name for file in files):
        raise ModelError(
            f"The manifest of {words} does not state size and SHA-256 of {unknown}; make the folder with the export "
            "tools again."
        )
    return {}


def _pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file of the source. Raises ModelError: the disk that is written to is not at fault."""
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read ({error.strerror or error}); check the folder and try again."
        ) from None


def _unhelpful(status: int, host: str, name: str) -> ModelError:
    if status == 407:
        return ModelError(
            f"The proxy between here and {host} asks for a name and a password (status 407); put them into "
            "HTTPS_PROXY: http://NAME:PASSWORD@proxy:port."
        )
    return ModelError(f"{host} answers with status {status} when asked for {name}; try again later.")
