"""What a model is: its files, how text goes in, how vectors come out, and the scores that its gate works with."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recall.core.errors import ModelError
from recall.wire.files import open_file

Device = Literal["cpu", "cuda", "coreml"]
Pooling = Literal["mean", "cls", "none"]


@dataclass(frozen=True, slots=True)
class Gate:
    """Scores of this model (cosines) that decide how much is handed over.

    `floor`: a lower top score hands over nothing. `weak`, `strong`: bounds of the gap between the top score and the
    mean of the ranks after it. `near`: how far below the top a note may score in the strong tier. `measured`: whether
    they were found on real notes, and not only taken over from elsewhere.
    """

    floor: float
    weak: float
    strong: float
    near: float
    measured: bool = False


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic model of whether the best record is wanted, over the signs that `search.gate.Signs` explains.

    `bias` and a weight for each sign give the probability. `some` and `strong` are the probabilities from which a
    little and from which much is handed over, `near` how far below the top, in deviations, a record may score in the
    strong tier. The signs are measured in the scatter of everyday messages on the person's own records, so that one set
    of values serves models whose cosines lie far apart: these were found on 192 reworded questions over five
    collections of notes, 150 everyday messages, 75 near misses and the questions of the other collections, with
    multilingual-e5-small and embeddinggemma-300m. The weight of the length is kept far below what these sets would give
    it, for in them every question is long.
    """

    bias: float = -4.6
    cosine: float = 0.7
    score: float = 0.1
    length: float = 1.5
    everyday: float = -1.0
    words: float = 3.0
    some: float = 0.5
    strong: float = 0.75
    near: float = 0.6


@dataclass(frozen=True, slots=True)
class Weights:
    """How a document's score is put together under this model: `dense`, the weight of the plain cosine beside late
    interaction, `rarity`, the power of how much a question's token tells the records apart (0: all count alike),
    `sparse`, the weight of the sparse head beside late interaction where the model has one, and `words`, what a record
    gains that holds every word of the message.

    `sparse` is the share of that head beside the multi-vector one in the example of bge-m3's authors (0.2 to 0.4); it
    could not be tried here, for want of a model with the head and trained weights.
    """

    dense: float = 0.4
    rarity: float = 0.0
    sparse: float = 0.5
    words: float = 8.0


@dataclass(frozen=True, slots=True)
class Outputs:
    """Names of the graph's outputs.

    `dense`: float32 [texts, dimension] of finished vectors where the pooling is `none`, else token vectors [texts,
    tokens, dimension] that are still to be pooled. The others are None where the graph has no such head: `sparse`, a
    weight for each token, [texts, tokens] or [texts, tokens, 1]; `multi_vector`, a vector for each token, [texts,
    tokens, any].
    """

    dense: str = "last_hidden_state"
    sparse: str | None = None
    multi_vector: str | None = None


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of the model with the checksum and size that it must have; "" and 0 in a manifest that only names it.

    `remote` is its path at the source, which may lie in a folder there.
    """

    path: Path
    sha256: str
    bytes: int
    remote: str


@dataclass(frozen=True, slots=True)
class Variant:
    """The encoder in one precision, for the devices that it suits best. `weights` is the first of `files`."""

    name: str
    devices: tuple[Device, ...]
    files: tuple[Path, ...]

    @property
    def weights(self) -> Path:
        return self.files[0]


@dataclass(frozen=True, slots=True)
class Hub:
    """Where on the hub the files are: a repository and the commit (40 hex digits) that is meant."""

    repository: str
    revision: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A model, with its files in one folder. All paths are absolute; every path is among `files`.

    The first of `variants` is the one that the others were compared with: their vectors are interchangeable. `terms`
    is the address of a licence that a person has to agree to, "" where there is none.
    """

    name: str
    licence: str
    terms: str
    origin: str
    languages: str
    tokenizer: Path
    variants: tuple[Variant, ...]
    outputs: Outputs
    dimension: int
    pooling: Pooling
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    gate: Gate
    files: Mapping[Path, ModelFile]
    calibration: Calibration = Calibration()
    weights: Weights = Weights()
    hub: Hub | None = None

    @property
    def identity(self) -> str:
        """The name and a digest of all that shapes a vector: another identity means that texts are embedded again."""
        shape = [self.pooling, self.query_prefix, self.passage_prefix, str(self.max_tokens), self.outputs.dense]
        shaping = [self.files[path] for path in (self.tokenizer, *self.variants[0].files)]
        parts = [*shape, *(f"{file.path.name} {file.sha256}" for file in shaping)]
        digest = hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()
        return f"{self.name}@{digest[:12]}"

    @property
    def installed(self) -> tuple[Variant, ...]:
        """The variants whose files are all there; none where the tokenizer is missing."""
        if not self.tokenizer.is_file():
            return ()
        return tuple(variant for variant in self.variants if all(path.is_file() for path in variant.files))

    def variant_for(self, device: Device) -> Variant:
        """The installed variant that suits a device, else the first that is installed. Raises ModelError."""
        installed = self.installed
        if not installed:
            raise ModelError(f"The files of the model {self.name} are not there; run `recall models add {self.name}`.")
        return next((variant for variant in installed if device in variant.devices), installed[0])

    def needed(self, variants: tuple[Variant, ...]) -> tuple[ModelFile, ...]:
        """The files that these variants consist of, the tokenizer among them."""
        paths = dict.fromkeys([self.tokenizer, *(path for variant in variants for path in variant.files)])
        return tuple(self.files[path] for path in paths)

    def check_sizes(self) -> None:
        """Compare the sizes of the files that are there (microseconds). Raises ModelError."""
        for file in self.needed(self.variants):
            size = file.path.stat().st_size if file.path.is_file() else file.bytes
            if size != file.bytes:
                raise ModelError(
                    f"{file.path} of the model {self.name} should have {file.bytes} bytes, "
                    f"but has {size}: {self.repair}."
                )

    def verify(self) -> None:
        """Read every file that is there and compare its checksum (a second for 100 MB or less). Raises ModelError."""
        self.check_sizes()
        for file in self.needed(self.installed):
            with os.fdopen(open_file(file.path), "rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
            if found != file.sha256:
                raise ModelError(
                    f"{file.path} of the model {self.name} should have the SHA-256 {file.sha256[:12]}..., but has "
                    f"{found[:12]}...; it is damaged: {self.repair}."
                )

    @property
    def repair(self) -> str:
        """What to do when the files are not as they should be."""
        if self.name == BUNDLED:
            if self.tokenizer.parent.name == BUNDLED and (self.tokenizer.parent / "manifest.toml").is_file():
                return f"run `recall models remove {BUNDLED}`, which leaves the one that comes with recall"
            return "install recall again, or in a checkout run `python tools/build_e5_small.py`"
        return f"run `recall models add {self.name}` again (with --from, where it came from a folder or an address)"


#: The model that comes with recall.
BUNDLED = "multilingual-e5-small"
