"""Where models are: the person's own in the state folder, those that recall comes with, and those it only knows of."""

import os
from collections.abc import Iterator
from pathlib import Path

from recall.core.errors import ModelError
from recall.embed.manifest import BUNDLED, Manifest
from recall.embed.manifest_file import NAME, read_manifest

#: In a wheel and in the executable; in a checkout the folder `models`.
_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = (_PACKAGE / "_models", _PACKAGE.parent / "models")


def find_model(name: str, state_models: Path | None) -> Manifest:
    """The model called `name` that can be used: first among the person's own, then those that recall comes with.

    `state_models` is the folder `models` of the state folder, None to leave it out. Raises ModelError when there is
    no such model, its manifest is wrong, or a file is missing or has the wrong size.
    """
    if not NAME.fullmatch(name):
        raise ModelError(
            f"A model's name should be letters, digits, dots, dashes and underscores, not {name!r}; "
            "correct `model` in config.toml."
        )
    known = None
    for file, folder in _places(name, state_models):
        if os.path.lexists(file):
            known = _read(file, folder, name, complete=False)
            if known.installed:
                manifest = _read(file, folder, name)
                manifest.check_sizes()
                return manifest
    if known is None:
        raise ModelError(f"There is no model called {name}; `recall models` lists those that can be used.")
    missing = f"run `recall models add {name}`" if name != BUNDLED else known.repair
    raise ModelError(f"The model {name} is not on this machine: {missing}.")


def known_models(state_models: Path | None) -> Iterator[tuple[str, Manifest | ModelError]]:
    """Every model by its name, in order; an error in the place of one whose manifest cannot be used.

    One that the person has stands for the one of the same name that recall only knows of.
    """
    names = {file.stem for folder in SHIPPED for file in folder.glob("*.toml")}
    if state_models is not None:
        names |= {file.parent.name for file in state_models.glob("*/manifest.toml") if NAME.fullmatch(file.parent.name)}
    for name in sorted(names):
        file, folder = next(place for place in _places(name, state_models) if os.path.lexists(place[0]))
        try:
            yield name, _read(file, folder, name, complete=False)
        except ModelError as error:
            yield name, error


def shipped_manifest(name: str) -> tuple[Path, Path] | None:
    """The manifest file that recall comes with for a name, and the folder of its files; None for an unknown name."""
    return next((place for place in _places(name, None) if place[0].is_file()), None)


def _read(file: Path, folder: Path, name: str, *, complete: bool = True) -> Manifest:
    """The manifest of the model called `name`. Raises ModelError, also where it is of another model."""
    if not file.is_file():  # a pipe would keep us waiting for ever
        raise ModelError(f"{file} should be the manifest of the model {name}, but is no file; remove that folder.")
    manifest = read_manifest(file, folder, complete=complete)
    if manifest.name != name:
        raise ModelError(
            f"{file} should be the manifest of the model {name}, but its name is {manifest.name}; "
            "give the folder that name, or correct the manifest."
        )
    return manifest


def _places(name: str, state_models: Path | None) -> list[tuple[Path, Path]]:
    """Manifest file and folder of the model's files, the first that counts first."""
    shipped = [(folder / f"{name}.toml", folder / name) for folder in SHIPPED]
    if state_models is None:
        return shipped
    own = state_models.absolute() / name
    return [(own / "manifest.toml", own), *shipped]
