"""embeddinggemma-300m for onnxruntime: `python tools/export_embeddinggemma.py FOLDER` makes a folder to install from.

Reads the published weights from a folder or, with --hub, from the hub (where Google's terms have to be agreed to
first); writes ONNX graphs with the dense and the multi-vector output in int8, fp16, fp32 and int4, proves each against
the published model run by torch, and writes the manifest. Then `recall models add embeddinggemma-300m --from
embeddinggemma-300m`. Needs recall's extra `export`.
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
from export.gemma import OUTPUTS, build_graph
from export.gemma_weights import DENSE, Gemma, read_gemma, write_stand_in
from export.manifest import MANIFEST, Description, Gate, checksum, write_manifest
from export.proof import Ids, Reference, Values, encoder, expect
from export.variants import KINDS, export_variants
from export.weights import TOKENIZER, LazyTensors, Origin, SourceError, fetch_checkpoint

NAME = "embeddinggemma-300m"
REPOSITORY = "google/embeddinggemma-300m"
LICENCE = "Gemma Terms of Use"
TERMS = "https://ai.google.dev/gemma/terms"
#: Longer texts are cut, as in indexing: attention takes the square of the length.
PASSAGE_TOKENS = 512
#: Found with `python tools/evaluate.py --gap` as models/README.md describes it; the gap says little here.
GATE = Gate(floor=0.313, weak=0.001, strong=0.111, near=0.031, measured=True)

_ROOT = Path(__file__).resolve().parents[1]
_XLMR_TOKENIZER = _ROOT / "models" / "multilingual-e5-small" / TOKENIZER
#: Besides the fixed sample int8 is fitted to texts of this project: with the sample alone, which sees too few of the
#: channels, the lowest cosine was 0.991 and not 0.997.
_CALIBRATION_FILES = ("README*.md", "recall/cli/demo_notes/*.md", "recall/embed/*.py", "recall/search/*.py")
_CALIBRATION_CHARACTERS = 1_500
_CALIBRATION_TEXTS = 120

NOTICE = (
    f"{NAME} and everything made from its weights, this export too, stay under the {LICENCE}: {TERMS}\n"
    "Whoever passes the files on passes these terms on with them, and says that they were changed."
)


def describe(model: Gemma, max_tokens: int) -> Description:
    """What the manifest says about the model."""
    origin = model.checkpoint.origin
    source: dict[str, Any] = {
        "repository": origin.repository,
        "revision": origin.revision,
        "sha256": {name: checksum(path) for name, path in model.files.items()},
    }
    return Description(
        name=NAME,
        licence=LICENCE,
        terms=TERMS,
        origin=f"https://huggingface.co/{REPOSITORY}",
        languages="more than 100 languages, among them Japanese, English, Korean and Chinese",
        dimension=model.shape.hidden,
        pooling="none",
        query_prefix="task: search result | query: ",
        passage_prefix="title: none | text: ",
        max_tokens=max_tokens,
        gate=GATE,
        outputs={name: name for name in OUTPUTS},
        source=source,
    )


def torch_reference(model: Gemma) -> Reference:
    """The published model run by transformers in float32, with the layers behind it as sentence-transformers has them.

    Raises SourceError where torch or transformers are not installed.
    """
    try:
        import torch
        import transformers
    except ImportError:
        raise SourceError("The proof needs torch and transformers: install recall with the extra `export`.") from None
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    folder = model.checkpoint.tokenizer.parent
    encode = transformers.AutoModel.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()
    dense = [torch.from_numpy(LazyTensors(folder / name)["linear.weight"]) for name in DENSE]

    def run(ids: Ids) -> Values:
        with torch.inference_mode():
            tokens = torch.tensor([ids])
            state = encode(input_ids=tokens, attention_mask=torch.ones_like(tokens)).last_hidden_state[0]
            vector = state.mean(0)
            for weight in dense:
                vector = torch.nn.functional.linear(vector, weight)
            pair = (torch.nn.functional.normalize(vector, dim=0), torch.nn.functional.normalize(state, dim=-1))
            return {name: value.numpy() for name, value in zip(OUTPUTS, pair, strict=True)}

    return run


def calibration_texts() -> list[str]:
    """What int8 and int4 are fitted to: prose, Markdown and code; none of it is in the proof."""
    files = [path for pattern in _CALIBRATION_FILES for path in sorted(_ROOT.glob(pattern))]
    size = _CALIBRATION_CHARACTERS
    pieces = [text[start : start + size] for text in map(_read, files) for start in range(0, len(text), size)]
    step = -(-len(pieces) // _CALIBRATION_TEXTS)
    return [*sample.with_long(sample.CALIBRATION), *pieces[::step]]


def _read(path: Path) -> str:
    return path.read_text("utf-8")


def export(
    model: Gemma, out: Path, names: list[str], reference: Reference, *, max_tokens: int, force: bool
) -> tuple[str, ...]:
    """Make the folder `out` anew, and return the variants that fell short of their proof.

    Everything happens in a temporary folder beside `out`, which is renamed at the very end. Raises SourceError, and
    ExportError when `out` must not be replaced or no variant is good enough.
    """
    if not 8 <= max_tokens <= model.shape.max_tokens:
        raise ExportError(f"--max-tokens should be between 8 and the model's {model.shape.max_tokens}: {max_tokens}.")
    if out.exists() and not (out / MANIFEST).is_file():
        raise ExportError(f"{out} is there already and is no exported model; name another folder with --out.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".exporting-", dir=out.parent) as name:
        finished = Path(name) / "finished"
        finished.mkdir()
        encode = encoder(model.checkpoint.tokenizer, PASSAGE_TOKENS)
        say("running the published model over the sample")
        # Vectors of the tokens that mean least, such as "the" and ".", turn by much in int8 and count for little.
        expected = expect(sample.with_long(sample.PROOF), encode, reference, averaged=True)
        calibration = [encode(text) for text in calibration_texts()]
        build = partial(build_graph, model)
        made = export_variants(finished, names, build, calibration, expected, force=force, say=say, fit=dict)
        if not made.variants:
            raise ExportError("No variant is close enough to the published model, so nothing was written.")
        shutil.copyfile(model.checkpoint.tokenizer, finished / TOKENIZER)
        write_manifest(finished, describe(model, max_tokens), made.variants, TOKENIZER)
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
        model = read_gemma(folder, origin)
        if not arguments.random:
            say(NOTICE)
        reference = torch_reference(model)
        return export(model, out, names, reference, max_tokens=arguments.max_tokens, force=arguments.force)


def find_weights(arguments: argparse.Namespace, scratch: Path) -> tuple[Path, Origin]:
    """The folder with the weights, made or fetched into `scratch` when they are not in one already."""
    if arguments.random:
        if not _XLMR_TOKENIZER.is_file():
            raise ExportError(
                "Random weights borrow the bundled tokenizer; run `python tools/build_e5_small.py` first."
            )
        say(f"making random weights ({arguments.random}, seed {arguments.seed})")
        write_stand_in(scratch, _XLMR_TOKENIZER, arguments.seed)
        return scratch, Origin(f"random weights of size {arguments.random}", f"seed {arguments.seed}")
    if arguments.hub:
        say(f"fetching {REPOSITORY} at {arguments.revision} from the hub (1.3 GB)")
        return fetch_checkpoint(REPOSITORY, arguments.revision, scratch, DENSE)
    return arguments.source.absolute(), Origin(REPOSITORY, arguments.revision)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=f"Export {NAME} for onnxruntime.", epilog=NOTICE)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("source", nargs="?", type=Path, metavar="FOLDER", help="folder with the published weights")
    source.add_argument("--hub", action="store_true", help=f"fetch {REPOSITORY} from the hub")
    source.add_argument(
        "--random", choices=["small"], help="random weights of the same architecture, to try the export"
    )
    parser.add_argument("--revision", default="main", help="commit, tag or branch at the hub (default: main)")
    parser.add_argument("--out", type=Path, default=Path(NAME), help=f"folder to make (default: {NAME})")
    parser.add_argument("--variants", default=",".join(KINDS), help=f"some of {','.join(KINDS)} (default: all)")
    parser.add_argument(
        "--max-tokens", type=int, default=PASSAGE_TOKENS, help="longer texts are cut, up to 2048 (default: 512)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random weights")
    parser.add_argument("--force", action="store_true", help="keep variants that fall short of their proof")
    return parser.parse_args(arguments)


def main() -> int:
    """Command line: 0 when all variants are there, 1 after one sentence on stderr."""
    return exit_code(run, parse(), room_gb=4)


if __name__ == "__main__":
    sys.exit(main())
