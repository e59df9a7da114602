"""Weights of a published model: a folder in the hub's layout, the hub itself, or random weights in the same layout.

A folder holds config.json, tokenizer.json, and model.safetensors or pytorch_model.bin; the heads of bge-m3 lie beside
them in sparse_linear and colbert_linear (.safetensors or .pt). torch is needed for .bin and .pt alone.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = Mapping[str, NDArray[np.float32]]

ENCODER = ("model.safetensors", "pytorch_model.bin")
SPARSE = ("sparse_linear.safetensors", "sparse_linear.pt")
MULTI_VECTOR = ("colbert_linear.safetensors", "colbert_linear.pt")
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"


class SourceError(Exception):
    """The weights cannot be had or used; the message is one sentence for the person."""


@dataclass(frozen=True)
class Origin:
    """Where weights come from: a repository and the commit meant, or a description of what stands in for them."""

    repository: str
    revision: str


@dataclass(frozen=True)
class Checkpoint:
    """A model as published. `encoder` reads a tensor when it is asked for it; `sparse`, `multi_vector`: the heads.

    `files` are those that were read.
    """

    origin: Origin
    config: Mapping[str, Any]
    encoder: Tensors
    sparse: Tensors | None
    multi_vector: Tensors | None
    tokenizer: Path
    files: tuple[Path, ...]

    def checksums(self) -> dict[str, str]:
        """SHA-256 in hex of each file (some seconds for a large model)."""
        found = {}
        for path in self.files:
            with path.open("rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        return found


def read_checkpoint(folder: Path, origin: Origin, *, heads: bool) -> Checkpoint:
    """The model in `folder`. `heads`: whether those of bge-m3 must be there. Raises SourceError."""
    if not folder.is_dir():
        raise SourceError(f"{folder} should be a folder with the weights, but there is none.")
    config_file, tokenizer = _required(folder, (CONFIG,)), _required(folder, (TOKENIZER,))
    try:
        config = json.loads(config_file.read_text("utf-8"))
        if not isinstance(config, dict):
            raise ValueError("it holds no object")
    except ValueError as error:
        raise SourceError(f"{config_file} should be the model's configuration in JSON, but is not ({error}).") from None
    encoder = _required(folder, ENCODER)
    sparse = _required(folder, SPARSE) if heads else None
    multi_vector = _required(folder, MULTI_VECTOR) if heads else None
    return Checkpoint(
        origin,
        config,
        LazyTensors(encoder),
        None if sparse is None else LazyTensors(sparse),
        None if multi_vector is None else LazyTensors(multi_vector),
        tokenizer,
        tuple(path for path in (config_file, tokenizer, encoder, sparse, multi_vector) if path is not None),
    )


def fetch_checkpoint(repository: str, revision: str, folder: Path, more: Sequence[str] = ()) -> tuple[Path, Origin]:
    """Download a model from the hub into `folder` and return where it is, with the commit that was found.

    `revision`: a commit, tag or branch. `more`: further files that are wanted.
    HF_ENDPOINT and HF_HUB_OFFLINE are honoured. Raises SourceError.
    """
    import huggingface_hub

    wanted = [CONFIG, TOKENIZER, *ENCODER, *SPARSE, *MULTI_VECTOR, *more]
    try:
        info = huggingface_hub.HfApi().model_info(repository, revision=revision, timeout=30)
        there = {file.rfilename for file in info.siblings or []}
        if ENCODER[0] in there:
            wanted.remove(ENCODER[1])  # the same weights a second time
        commit = str(info.sha)
        huggingface_hub.snapshot_download(repository, revision=commit, local_dir=folder, allow_patterns=wanted)
    except Exception as error:  # its errors have no common base: network, proxy, missing, gated, full disk
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SourceError(f"{repository} at {revision} could not be fetched from the hub: {reason}") from None
    return folder, Origin(repository, commit)


class LazyTensors(Mapping[str, NDArray[np.float32]]):
    """The tensors of a .safetensors, .bin or .pt file in float32, each read from the file when it is asked for."""

    def __init__(self, file: Path) -> None:
        """Raises SourceError for a file that is damaged or of another kind."""
        self._file = file
        read = _open_safetensors if file.suffix == ".safetensors" else _open_torch
        self._names, self._read = read(file)

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        if name not in self._names:
            raise SourceError(f"{self._file} should hold the tensor {name}, but does not: it is another kind of model.")
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


Opened = tuple[frozenset[str], Callable[[str], NDArray[np.float32]]]


def _open_safetensors(file: Path) -> Opened:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise SourceError(f"Reading {file.name} needs safetensors: install recall with the extra `export`.") from None
    try:
        opened: Any = safe_open(file, framework="numpy")
        names = frozenset(opened.keys())
    except (SafetensorError, OSError) as error:
        raise SourceError(f"{file} should be a safetensors file, but cannot be read: {error}.") from None
    return names, lambda name: np.asarray(opened.get_tensor(name)).astype(np.float32, copy=False)


def _open_torch(file: Path) -> Opened:
    try:
        import torch
    except ImportError:
        raise SourceError(f"Reading {file.name} needs torch: install recall with the extra `export`.") from None
    try:
        # weights_only: the file is a pickle from elsewhere, and may do nothing but name tensors.
        tensors = torch.load(file, map_location="cpu", mmap=True, weights_only=True)
        names = frozenset(tensors)
    except Exception as error:  # pickle, zip and torch each have their own
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceError(f"{file} should be weights saved by torch, but cannot be read: {reason}") from None
    return names, lambda name: np.asarray(tensors[name].float().numpy())


def _required(folder: Path, names: tuple[str, ...]) -> Path:
    """The first of `names` that is in `folder`."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise SourceError(f"{folder} should hold {' or '.join(names)}, but does not; give the folder of the whole model.")
