"""Which manifest counts when a model is added, and the source that its files come from."""

from pathlib import Path

from recall.core.errors import ModelError
from recall.embed.catalog import shipped_manifest
from recall.embed.manifest import Manifest
from recall.embed.manifest_file import read_manifest
from recall.models.sources import FolderSource, HubSource, Source, UrlSource


def find_source(name: str, where: str | None, models: Path) -> tuple[str, Source]:
    """The text of the manifest, and the source. Only an address is asked for something. Raises ModelError.

    `where`: "hub", an http or https address, a folder; None for the hub if the manifest names a place there. `models`
    is the folder `models` of the state folder.
    """
    if where is None or where == "hub":
        return _on_the_hub(name, models, said=where == "hub")
    if where.startswith(("http://", "https://")):
        source = UrlSource(where)
        return source.manifest_text(), source
    return _in_folder(name, Path(where).expanduser().absolute())


def own_manifest(name: str, models: Path) -> tuple[Path, Manifest] | None:
    """The person's own manifest of a model, None where there is none that can be used."""
    folder = models.absolute() / name
    file = folder / "manifest.toml"
    try:
        return (file, read_manifest(file, folder, complete=False)) if file.is_file() else None
    except ModelError:
        return None  # adding it anew is the repair


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
        f"{known[1].origin}, then run `recall models add {name} --from FOLDER`."
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
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{file} cannot be read ({error}); expected a model's manifest.") from None
