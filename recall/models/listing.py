"""What is known of each model, for the table and for JSON; and whether the files of the installed ones are whole."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recall.core.errors import ModelError
from recall.embed.catalog import find_model, known_models
from recall.embed.manifest import BUNDLED, Manifest
from recall.models.places import interrupted, staging_folder
from recall.models.speeds import Speed, load_speeds
from recall.models.variants import choose
from recall.text.clean import one_line
from recall.wire.paths import StatePaths


@dataclass(frozen=True, slots=True)
class Entry:
    """A model as the list shows it. With a `problem`, the reason why its manifest cannot be used, it has only a name.

    `installed` are variants; `bytes` is the size of these, else of what `add` would bring for a CPU, 0 if not known.
    `interrupted`: an `add` has begun and can go on; `arrived` is how many bytes of it lie here.
    """

    name: str
    in_use: bool
    problem: str | None = None
    variants: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    interrupted: bool = False
    arrived: int = 0
    bytes: int = 0
    languages: str = ""
    licence: str = ""
    terms: str = ""
    gate_measured: bool = False
    speed: Speed | None = None

    def json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def entries(paths: StatePaths, in_use: str) -> Iterator[Entry]:
    """Every known model in order of the names, then those of which only an interrupted `add` has left something.

    Texts of manifests are single lines of visible characters here. Raises nothing for a model that is broken.
    """
    speeds = load_speeds(paths)
    models = Path(paths.models)
    partial = {name: _arrived(models, name) for name in interrupted(models)}
    for name, manifest in known_models(models):
        arrived = partial.pop(name, None)
        if isinstance(manifest, ModelError):
            overridden = name == BUNDLED and (models / name).is_dir()
            own = f" `recall models remove {name}` deletes that folder." if overridden else ""
            yield Entry(
                name,
                name == in_use,
                one_line(f"{manifest}{own}"),
                interrupted=arrived is not None,
                arrived=arrived or 0,
            )
            continue
        installed = manifest.installed
        shown = installed or choose(manifest, (), ("cpu",), manifest.variants)
        sizes = [file.bytes for file in manifest.needed(shown)]
        yield Entry(
            name=name,
            in_use=name == in_use,
            variants=tuple(variant.name for variant in manifest.variants),
            installed=tuple(variant.name for variant in installed),
            interrupted=arrived is not None,
            arrived=arrived or 0,
            bytes=sum(sizes) if all(sizes) else 0,
            languages=one_line(manifest.languages),
            licence=one_line(manifest.licence),
            terms=one_line(manifest.terms),
            gate_measured=manifest.gate.measured,
            speed=speeds.get(manifest.identity),
        )
    for name, size in partial.items():
        yield Entry(name, name == in_use, interrupted=True, arrived=size)


def verify(paths: StatePaths, name: str | None) -> Iterator[tuple[str, str | None]]:
    """Read all files of the model, or of every one that should be here; what is wrong, None where nothing is.

    A model whose manifest lies here without any file is only known, not installed. Raises ModelError for a `name`
    that is not installed.
    """
    models = Path(paths.models)
    for known, manifest in known_models(models):
        if name not in (None, known):
            continue
        if isinstance(manifest, ModelError):
            yield known, one_line(str(manifest))
        elif manifest.installed:
            yield known, _wrong(known, models)
        elif any(path.is_file() for path in manifest.files):
            yield known, f"{_missing(manifest)} of the model {known} is missing: {manifest.repair}."
        elif name is not None:
            raise ModelError(f"The model {known} is not on this machine; `recall models add {known}` brings it.")
        else:
            continue
        if name is not None:
            return
    if name is not None:
        raise ModelError(f"There is no model called {name}; `recall models` lists those that are known.")


def _wrong(name: str, models: Path) -> str | None:
    try:
        find_model(name, models).verify()
    except (ModelError, OSError) as error:
        return one_line(str(error))
    return None


def _arrived(models: Path, name: str) -> int:
    return sum(file.stat().st_size for file in staging_folder(models, name).iterdir() if file.is_file())


def _missing(manifest: Manifest) -> str:
    """The first file that keeps the first variant from being there."""
    return next(str(file.path) for file in manifest.needed(manifest.variants) if not file.path.is_file())
