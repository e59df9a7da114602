"""Which manifest counts when a model is added, and the source that its files come from."""

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from recall.core.errors import ModelError
from recall.embed.catalog import shipped_manifest
from recall.embed.manifest import Manifest
from recall.embed.manifest_file import read_manifest
from recall.models.sources import FolderSource, HubSource, Source, UrlSource
from recall.models.transfer import LONGEST_TEXT, manifest_text
from recall.text.clean import one_line
from recall.wire.paths import state_home

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def find_source(name: str, where: str | None, models: Path) -> tuple[str, Source]:
    """The text of the manifest, and the source. Only an address is asked for something. Raises ModelError.

    `where`: "hub", an http or https address, a folder; None for the hub if the manifest names a place there. `models`
    is the folder `models` of the state folder.
    """
    if where is None or where == "hub":
        return _on_the_hub(name, models, said=where == "hub")
    if is_address(where):
        _check_address(where)
        source = UrlSource(where)
        return source.manifest_text(), source
    return _in_folder(name, Path(where).expanduser().absolute())


def is_address(where: str) -> bool:
    """Whether a source is an address of any kind and not a folder."""
    return _ADDRESS.match(where) is not None


def command(name: str, source: str | None, variants: Sequence[str], home: str) -> str:
    """The command line that adds a model, to be shown. A name and password in an address are left for the person."""
    words = ["recall", "models", "add", name]
    if source == "hub":
        words += ["--from", source]
    elif source is not None and is_address(source):
        scheme, _, rest = source.partition("://")
        authority, slash, path = rest.partition("/")
        _, at, host = authority.rpartition("@")
        words += ["--from", f"{scheme}://NAME:PASSWORD@{host}{slash}{path}" if at else source]
    elif source is not None:
        words += ["--from", str(Path(source).expanduser().absolute())]
    words += [word for variant in variants for word in ("--variant", variant)]
    words += ["--home", home] if home != state_home() else []
    return one_line(subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words))


def _check_address(where: str) -> None:
    """Raises ModelError, which shows nothing of the address: any part of it may be a secret."""
    scheme = where.partition("://")[0].lower()
    if scheme not in ("http", "https"):
        raise ModelError(f"An address for `--from` should begin with http:// or https://, not with {scheme}://.")
    if "?" in where or "#" in where:
        raise ModelError(
            "An address for `--from` should be that of a folder, to which the files' names are added, so it can have "
            "no `?` and no `#`; in a password write %3F and %23 for them."
        )
    try:
        whole = bool(urlsplit(where).hostname) and urlsplit(where).port != 0
    except ValueError:
        whole = False
    if not whole:
        raise ModelError(
            "The address for `--from` is not like https://host/folder or https://host:port/folder; in a password write "
            "%2F for `/`, %40 for `@` and %5B for `[`."
        )


def own_manifest(name: str, models: Path) -> tuple[Path, Manifest] | None:
    """The person's own manifest of a model, None where there is none that can be used."""
    folder = models.absolute() / name
    file = folder / "manifest.toml"
    try:
        manifest = read_manifest(file, folder, complete=False) if file.is_file() else None
    except ModelError:
        return None  # adding it anew is the repair
    return (file, manifest) if manifest and manifest.name == name else None


def _on_the_hub(name: str, models: Path, *, said: bool) -> tuple[str, Source]:
    """The own manifest counts, as everywhere; who says `--from hub` means the one that recall comes with."""
    own, shipped = own_manifest(name, models), _shipped(name)
    if own and own[1].installed and not own[1].hub and not said:
        raise ModelError(
            f"{name} on this machine did not come from the hub; name its source with `--from FOLDER`, `--from URL` or "
            "`--from hub`."
        )
    for file, manifest in filter(None, (shipped, own) if said else (own, shipped)):
        if manifest.hub:
            return _text(file), HubSource(name, manifest.hub)
    known = own or shipped
    if known is None:
        raise ModelError(
            f"recall knows no model called {name}; `recall models` lists those that it knows, `--from` a folder or an "
            "address brings another."
        )
    raise ModelError(
        f"recall knows no place on the hub that has {name} ready to use; get the folder that the export tool makes of "
        f"{one_line(known[1].origin)}, then run `recall models add {name} --from FOLDER`."
    )


def _in_folder(name: str, folder: Path) -> tuple[str, Source]:
    if not folder.is_dir():
        raise ModelError(
            f"{folder} is not a folder; `--from` takes `hub`, a folder with manifest.toml and the model's files, or "
            "the http address of one."
        )
    file = folder / "manifest.toml"
    if not file.is_file():
        shipped = _shipped(name)
        if shipped is None:
            raise ModelError(f"{folder} has no manifest.toml, and recall comes with none for {name}.")
        if not all(entry.sha256 for entry in shipped[1].files.values()):
            raise ModelError(
                f"{folder} has no manifest.toml, and the one that recall comes with has no checksums of {name}; copy "
                "the whole folder of a machine that has the model, its manifest too."
            )
        file = shipped[0]
    return _text(file), FolderSource(folder)


def _shipped(name: str) -> tuple[Path, Manifest] | None:
    """The manifest that recall comes with. Raises ModelError."""
    place = shipped_manifest(name)
    return (place[0], read_manifest(*place, complete=False)) if place else None


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(LONGEST_TEXT + 1)
    except OSError as error:
        raise ModelError(f"{file} cannot be read ({error.strerror or error}); expected a model's manifest.") from None
    return manifest_text(content, str(file))
