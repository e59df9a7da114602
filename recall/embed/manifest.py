"""What a model is: its files, how text goes in, how a vector comes out, and the scores that its gate works with."""

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from recall.core.errors import ModelError

_PACKAGE = Path(__file__).resolve().parents[1]
Value = TypeVar("Value")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_REPAIR = "install recall again, or in a checkout run `python tools/build_e5_small.py`"


@dataclass(frozen=True, slots=True)
class Gate:
    """Scores of this model (cosines) that decide how much is handed over.

    `floor`: a lower top score hands over nothing. `weak`, `strong`: bounds of the gap between the top score and the
    mean of the ranks after it. `near`: how far below the top a note may score in the strong tier.
    """

    floor: float
    weak: float
    strong: float
    near: float


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of the model, with the checksum and size that it must have."""

    path: Path
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """A model that is there. `weights` and `tokenizer` are absolute paths and are among `files`."""

    name: str
    licence: str
    origin: str
    languages: str
    weights: Path
    tokenizer: Path
    dimension: int
    pooling: str
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    gate: Gate
    files: tuple[ModelFile, ...]

    @property
    def identity(self) -> str:
        """The name and a digest of all that shapes a vector: another identity means that texts are embedded again."""
        shape = [self.pooling, self.query_prefix, self.passage_prefix, str(self.max_tokens)]
        parts = [*shape, *(f"{file.path.name} {file.sha256}" for file in self.files)]
        digest = hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()
        return f"{self.name}@{digest[:12]}"

    def verify(self) -> None:
        """Read every file and compare its checksum (takes a second for 100 MB). Raises ModelError."""
        for file in self.files:
            with file.path.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
            if found != file.sha256:
                raise ModelError(
                    f"{file.path} of the model {self.name} should have the SHA-256 {file.sha256[:12]}..., but has "
                    f"{found[:12]}...; it is damaged: {_REPAIR}."
                )


def find_model(name: str, state_models: Path | None) -> Manifest:
    """The model called `name`: first among the person's own models, then the bundled one, then the checkout's.

    `state_models` is the folder `models` of the state folder, None to leave it out. Raises ModelError when there is
    no such model, or its manifest is wrong, or a file is missing or has the wrong size.
    """
    if not _NAME.fullmatch(name):
        raise ModelError(
            f"A model's name should be letters, digits, dots, dashes and underscores, not {name!r}; "
            "correct `model` in config.toml."
        )
    places = [
        (_PACKAGE / "_models" / f"{name}.toml", _PACKAGE / "_models" / name),
        (_PACKAGE.parent / "models" / f"{name}.toml", _PACKAGE.parent / "models" / name),
    ]
    if state_models is not None:
        own = state_models.absolute() / name
        places.insert(0, (own / "manifest.toml", own))
    for file, folder in places:
        if file.is_file():
            return load_manifest(file, folder)
    raise ModelError(f"There is no model called {name} here; choose another `model` in config.toml, or {_REPAIR}.")


def load_manifest(file: Path, folder: Path) -> Manifest:
    """Read the manifest `file` of a model whose files lie in `folder`. Raises ModelError."""
    try:
        manifest = parse_manifest(file.read_text("utf-8"), folder)
    except (OSError, ValueError, KeyError) as error:
        reason = f"the field {error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelError(f"The model manifest {file} cannot be used ({reason}): {_REPAIR}.") from None
    for entry in manifest.files:
        size = entry.path.stat().st_size if entry.path.is_file() else None
        if size != entry.bytes:
            found = "is missing" if size is None else f"has {size}"
            raise ModelError(
                f"{entry.path} of the model {manifest.name} should have {entry.bytes} bytes, but {found}: {_REPAIR}."
            )
    return manifest


def parse_manifest(text: str, folder: Path) -> Manifest:
    """A manifest from its TOML text. Raises KeyError (the missing field) and ValueError (a wrong value)."""
    table = tomllib.loads(text)
    files = _field(table, "files", _table)
    weights, tokenizer = _field(table, "weights", _file_name), _field(table, "tokenizer", _file_name)
    for name in (weights, tokenizer):
        if name not in files:
            raise ValueError(f'[files."{name}"] is missing')
    pooling = _field(table, "pooling", _text)
    if pooling != "mean":
        raise ValueError(f"pooling should be mean, not {pooling}")
    gate = _field(table, "gate", _table)
    return Manifest(
        name=_field(table, "name", _text),
        licence=_field(table, "licence", _text),
        origin=_field(table, "origin", _text),
        languages=_field(table, "languages", _text),
        weights=folder / weights,
        tokenizer=folder / tokenizer,
        dimension=_field(table, "dimension", _positive),
        pooling=pooling,
        query_prefix=_field(table, "query_prefix", _text),
        passage_prefix=_field(table, "passage_prefix", _text),
        max_tokens=_field(table, "max_tokens", _positive),
        gate=Gate(**{name: _field(gate, name, _score) for name in Gate.__slots__}),
        files=tuple(
            ModelFile(folder / _file_name(name), _field(entry, "sha256", _text), _field(entry, "bytes", _positive))
            for name, entry in files.items()
        ),
    )


def _field(table: Mapping[str, Any], name: str, kind: Callable[[Any], Value]) -> Value:
    value = table[name]
    try:
        return kind(value)
    except TypeError as error:
        raise ValueError(f"{name} should be {error}, not {value!r}") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a table")
    return value


def _positive(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise TypeError("a whole number above 0")
    return value


def _score(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError("a number")
    return float(value)


def _file_name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise TypeError("the plain name of a file beside the others")
    return value
