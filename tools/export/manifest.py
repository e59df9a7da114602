"""The manifest of an exported model: what recall must know about it, with the checksum and size of every file."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tomlkit

from export.writer import OPSET

MANIFEST = "manifest.toml"


@dataclass(frozen=True)
class Gate:
    """Scores of a model, see recall/embed/manifest.py."""

    floor: float
    weak: float
    strong: float
    near: float
    measured: bool


@dataclass(frozen=True)
class Description:
    """What people and recall must know about a model besides its files. `outputs`: names of the graph's outputs."""

    name: str
    licence: str
    origin: str
    languages: str
    dimension: int
    pooling: str
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    gate: Gate
    outputs: Mapping[str, str]
    terms: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VariantFiles:
    """A variant in the model's folder: the devices it suits, and its files, the graph first."""

    name: str
    devices: Sequence[str]
    files: Sequence[str]


def write_manifest(folder: Path, description: Description, variants: Sequence[VariantFiles], tokenizer: str) -> None:
    """Write manifest.toml into `folder`, where all the files are. The first variant shapes the model's identity."""
    about = asdict(description)
    gate, outputs, source = about.pop("gate"), about.pop("outputs"), about.pop("source")
    content = {key: value for key, value in about.items() if value != "" or key.endswith("prefix")}
    content["tokenizer"] = tokenizer
    content["outputs"] = dict(outputs)
    content["variants"] = {
        variant.name: {"devices": list(variant.devices), "files": list(variant.files)} for variant in variants
    }
    content["gate"] = gate
    content["files"] = {
        name: {"sha256": checksum(folder / name), "bytes": (folder / name).stat().st_size}
        for name in dict.fromkeys([tokenizer, *(name for variant in variants for name in variant.files)])
    }
    content["source"] = {**source, "opset": OPSET}
    (folder / MANIFEST).write_text(tomlkit.dumps(content), "utf-8")


def checksum(path: Path) -> str:
    """SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
