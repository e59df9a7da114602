"""Reading manifests: TOML text to a Manifest, with one sentence about what is wrong in it."""

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from recall.core.errors import ModelError
from recall.embed.manifest import (
    Calibration,
    Device,
    Gate,
    Hub,
    Manifest,
    ModelFile,
    Outputs,
    Pooling,
    Variant,
    Weights,
)
from recall.wire.files import read_file

Value = TypeVar("Value")

#: The names of models and of their files: nothing that could lead out of the model's folder.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

#: No encoder's sizes come near these; beyond them memory would be asked for that no machine has.
_MOST_DIMENSIONS = 65_536
_FEWEST_TOKENS, _MOST_TOKENS = 8, 1_000_000

_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def read_manifest(file: Path, folder: Path, *, complete: bool = True) -> Manifest:
    """The manifest `file` of a model whose files are, or will be, in `folder`. Raises ModelError.

    `complete`: whether every checksum and size must stand in it.
    """
    try:
        return parse_manifest(read_file(file).decode("utf-8"), folder.absolute(), complete=complete)
    except (OSError, ValueError, KeyError, RecursionError) as error:
        reason = f"the field {error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        reason = " ".join(reason.split())
        raise ModelError(f"The model manifest {file} cannot be used ({reason}); install the model again.") from None


def parse_manifest(text: str, folder: Path, *, complete: bool = True) -> Manifest:
    """A manifest from its TOML text. Raises KeyError (the missing field) and ValueError (a wrong value)."""
    table = tomllib.loads(text)
    files = {
        folder / _file_name(name): _file(folder / name, entry, complete) for name, entry in _tables(table, "files")
    }
    variants = tuple(_variant(_file_name(name), entry, folder) for name, entry in _tables(table, "variants"))
    if not variants:
        raise ValueError("variants should name at least one")
    manifest = Manifest(
        name=_field(table, "name", _file_name),
        licence=_field(table, "licence", _text),
        terms=_field(table, "terms", _text, ""),
        origin=_field(table, "origin", _text),
        languages=_field(table, "languages", _text),
        tokenizer=folder / _field(table, "tokenizer", _file_name),
        variants=variants,
        outputs=_outputs(_field(table, "outputs", _table, {})),
        dimension=_field(table, "dimension", _dimension),
        pooling=_field(table, "pooling", _pooling),
        query_prefix=_field(table, "query_prefix", _text),
        passage_prefix=_field(table, "passage_prefix", _text),
        max_tokens=_field(table, "max_tokens", _tokens),
        gate=_gate(_field(table, "gate", _table)),
        calibration=Calibration(**_scores(_field(table, "calibration", _table, {}), Calibration)),
        weights=Weights(**_scores(_field(table, "weights", _table, {}), Weights)),
        files=files,
        hub=_hub(_field(table, "hub", _table)) if "hub" in table else None,
    )
    for path in (manifest.tokenizer, *(path for variant in variants for path in variant.files)):
        if path not in files:
            raise ValueError(f'[files."{path.name}"] is missing')
    return manifest


def _variant(name: str, entry: Mapping[str, Any], folder: Path) -> Variant:
    files = _field(entry, "files", _list)
    if not files:
        raise ValueError(f"files of the variant {name} should name at least the ONNX file")
    return Variant(
        name=name,
        devices=tuple(_device(device) for device in _field(entry, "devices", _list)),
        files=tuple(folder / _file_name(file) for file in files),
    )


def _file(path: Path, entry: Mapping[str, Any], complete: bool) -> ModelFile:
    for field in ("sha256", "bytes") if complete else ():
        if field not in entry:
            raise KeyError(f"{field} of {path.name}")
    checksum = _field(entry, "sha256", _text, "")
    if "sha256" in entry and not _SHA256.fullmatch(checksum):
        raise ValueError(f"sha256 of {path.name} should be 64 hexadecimal digits, not {checksum!r}")
    size = _field(entry, "bytes", _positive) if "bytes" in entry else 0
    return ModelFile(path, checksum, size, _field(entry, "path", _remote, path.name))


def _outputs(entry: Mapping[str, Any]) -> Outputs:
    names = {name: _field(entry, name, _text) for name in Outputs.__slots__ if name in entry}
    return Outputs(**names)


def _gate(entry: Mapping[str, Any]) -> Gate:
    scores = {name: _field(entry, name, _score) for name in ("floor", "weak", "strong", "near")}
    return Gate(**scores, measured=_field(entry, "measured", _flag, False))


def _scores(entry: Mapping[str, Any], kind: type) -> dict[str, float]:
    """The numbers of a table whose fields are those of a dataclass, as far as they are there."""
    return {name: _field(entry, name, _score) for name in kind.__slots__ if name in entry}  # type: ignore[attr-defined]


def _hub(entry: Mapping[str, Any]) -> Hub:
    hub = Hub(_field(entry, "repository", _text), _field(entry, "revision", _text))
    if not _REPOSITORY.fullmatch(hub.repository):
        raise ValueError(f"repository should be OWNER/NAME, not {hub.repository!r}")
    if not _COMMIT.fullmatch(hub.revision):
        raise ValueError(f"revision should be a commit of 40 hexadecimal digits, not {hub.revision!r}")
    return hub


def _field(table: Mapping[str, Any], name: str, kind: Callable[[Any], Value], default: Value | None = None) -> Value:
    if name not in table and default is not None:
        return default
    value = table[name]
    try:
        return kind(value)
    except TypeError as error:
        raise ValueError(f"{name} should be {error}, not {value!r}") from None


def _tables(table: Mapping[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    """The tables within the table `name`, by their names."""
    tables = _field(table, name, _table)
    return [(key, _field(tables, key, _table)) for key in tables]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a table")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _positive(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise TypeError("a whole number above 0")
    return value


def _dimension(value: Any) -> int:
    if _positive(value) > _MOST_DIMENSIONS:
        raise TypeError(f"at most {_MOST_DIMENSIONS}")
    return int(value)


def _tokens(value: Any) -> int:
    if not _FEWEST_TOKENS <= _positive(value) <= _MOST_TOKENS:
        raise TypeError(f"from {_FEWEST_TOKENS} to {_MOST_TOKENS}")
    return int(value)


def _score(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError("a number")
    return float(value)


def _file_name(value: Any) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise ValueError(f"{value!r} should be a plain name of letters, digits, dots, dashes and underscores")
    return value


def _remote(value: Any) -> str:
    parts = value.split("/") if isinstance(value, str) else [""]
    if not all(NAME.fullmatch(part) for part in parts):
        raise TypeError("a path of plain names with slashes between them")
    return str(value)


def _pooling(value: Any) -> Pooling:
    if value not in get_args(Pooling):
        raise TypeError(" or ".join(get_args(Pooling)))
    return value  # type: ignore[no-any-return]


def _device(value: Any) -> Device:
    if value not in get_args(Device):
        raise ValueError(f"devices should be among {', '.join(get_args(Device))}, not {value!r}")
    return value  # type: ignore[no-any-return]
