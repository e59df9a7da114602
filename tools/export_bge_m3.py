"""bge-m3 for onnxruntime: `python tools/export_bge_m3.py FOLDER --out bge-m3` makes a folder that recall can install.

Reads the published weights from a folder or, with --hub, from the hub; writes ONNX graphs with the dense, the sparse
and the multi-vector output, in int8, fp16, fp32 and if wanted int4, proves each against the published model run by
torch, and writes the manifest. Then `recall models add bge-m3 --from bge-m3`. Needs recall's extra `export`.
"""

import argparse
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from export import sample
from export.command import ExportError, exit_code, say
from export.heads import OUTPUTS
from export.manifest import MANIFEST, Description, Gate, write_manifest
from export.proof import Reference, encoder, expect, torch_reference
from export.stand_in import SIZES, write_stand_in
from export.variants import KINDS, export_variants
from export.weights import TOKENIZER, Checkpoint, Origin, fetch_checkpoint, read_checkpoint
from export.xlmr import build_graph, read_shape

REPOSITORY = "BAAI/bge-m3"
PASSAGE_TOKENS = 512
#: Scores of bge-m3 as its users know them (cosines of unrelated texts lie around 0.4); not found on real notes here.
GATE = Gate(floor=0.5, weak=0.025, strong=0.11, near=0.05, measured=False)

_XLMR_TOKENIZER = Path(__file__).resolve().parents[1] / "models" / "multilingual-e5-small" / TOKENIZER


def describe(checkpoint: Checkpoint, max_tokens: int) -> Description:
    """What the manifest says about bge-m3."""
    source: dict[str, Any] = {"repository": checkpoint.origin.repository, "revision": checkpoint.origin.revision}
    return Description(
        name="bge-m3",
        licence="MIT",
        origin="https://huggingface.co/BAAI/bge-m3",
        languages="more than 100 languages, among them Japanese, English, Korean and Chinese",
        dimension=read_shape(checkpoint.config).hidden,
        pooling="none",
        query_prefix="",
        passage_prefix="",
        max_tokens=max_tokens,
        gate=GATE,
        outputs={name: name for name in OUTPUTS},
        source={**source, "sha256": checkpoint.checksums()},
    )


def export(
    checkpoint: Checkpoint, out: Path, names: list[str], reference: Reference, *, max_tokens: int, force: bool
) -> tuple[str, ...]:
    """Make the folder `out` anew, and return the variants that fell short of their proof.

    Everything happens in a temporary folder beside `out`, which is renamed at the very end. Raises SourceError, and
    ExportError when `out` must not be replaced or no variant is good enough.
    """
    longest = read_shape(checkpoint.config).max_tokens
    if not 8 <= max_tokens <= longest:
        raise ExportError(f"--max-tokens should be between 8 and the model's {longest}, not {max_tokens}.")
    if out.exists() and not (out / MANIFEST).is_file():
        raise ExportError(f"{out} is there already and is no exported model; name another folder with --out.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".exporting-", dir=out.parent) as name:
        finished = Path(name) / "finished"
        finished.mkdir()
        encode = encoder(checkpoint.tokenizer, min(max_tokens, PASSAGE_TOKENS))
        say("running the published model over the sample")
        expected = expect(sample.with_long(sample.PROOF), encode, reference)
        calibration = [encode(text) for text in sample.with_long(sample.CALIBRATION)]
        build = partial(build_graph, checkpoint)
        made = export_variants(finished, names, build, calibration, expected, force=force, say=say)
        if not made.variants:
            raise ExportError("No variant is close enough to the published model, so nothing was written.")
        shutil.copyfile(checkpoint.tokenizer, finished / TOKENIZER)
        write_manifest(finished, describe(checkpoint, max_tokens), made.variants, TOKENIZER)
        if out.exists():
            out.rename(Path(name) / "replaced")
        finished.rename(out)
    return made.short


def run(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Find the weights and export them; returns the variants that fell short."""
    names = arguments.variants.split(",")
    if unknown := [name for name in names if name not in KINDS]:
        raise ExportError(f"--variants should name some of {', '.join(KINDS)}, not {unknown[0]!r}.")
    out = arguments.out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    # Beside the result: the system's folder for temporary files may be in memory.
    with tempfile.TemporaryDirectory(prefix=".weights-", dir=out.parent) as name:
        folder, origin = find_weights(arguments, Path(name) / "weights")
        checkpoint = read_checkpoint(folder, origin, heads=True)
        reference = torch_reference(checkpoint)
        return export(checkpoint, out, names, reference, max_tokens=arguments.max_tokens, force=arguments.force)


def find_weights(arguments: argparse.Namespace, scratch: Path) -> tuple[Path, Origin]:
    """The folder with the weights, made or fetched into `scratch` when they are not in one already."""
    if arguments.random:
        if not _XLMR_TOKENIZER.is_file():
            raise ExportError(
                "Random weights borrow the bundled tokenizer; run `python tools/build_e5_small.py` first."
            )
        say(f"making random weights ({arguments.random}, seed {arguments.seed})")
        write_stand_in(scratch, SIZES[arguments.random], _XLMR_TOKENIZER, arguments.seed)
        return scratch, Origin(f"random weights of size {arguments.random}", f"seed {arguments.seed}")
    if arguments.hub:
        say(f"fetching {REPOSITORY} at {arguments.revision} from the hub (2.3 GB)")
        return fetch_checkpoint(REPOSITORY, arguments.revision, scratch)
    return arguments.source.absolute(), Origin(REPOSITORY, arguments.revision)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Export bge-m3 for onnxruntime.")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("source", nargs="?", type=Path, metavar="FOLDER", help="folder with the published weights")
    source.add_argument("--hub", action="store_true", help=f"fetch {REPOSITORY} from the hub")
    source.add_argument("--random", choices=SIZES, help="random weights of the same architecture, to try the export")
    parser.add_argument("--revision", default="main", help="commit, tag or branch at the hub (default: main)")
    parser.add_argument("--out", type=Path, default=Path("bge-m3"), help="folder to make (default: bge-m3)")
    parser.add_argument(
        "--variants", default="int8,fp16,fp32", help=f"some of {','.join(KINDS)} (default: int8,fp16,fp32)"
    )
    parser.add_argument(
        "--max-tokens", type=int, default=PASSAGE_TOKENS, help="longer texts are cut, up to 8192 (default: 512)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random weights")
    parser.add_argument("--force", action="store_true", help="keep variants that fall short of their proof")
    return parser.parse_args(arguments)


def main() -> int:
    """Command line: 0 when all variants are there, 1 after one sentence on stderr."""
    return exit_code(run, parse(), room_gb=7)


if __name__ == "__main__":
    sys.exit(main())
