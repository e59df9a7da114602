"""The export as a whole, on small random weights: what it writes, what it refuses, and what it says."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import export_bge_m3
from export.command import ExportError
from export.proof import Reference
from export.stand_in import SIZES
from export.variants import KINDS
from export.weights import Checkpoint, Origin, SourceError, fetch_checkpoint, read_checkpoint
from export.xlmr import read_shape
from export_bge_m3 import find_weights, parse, run
from recall.embed.manifest_file import read_manifest

ROOT = Path(__file__).resolve().parents[3]


def export(checkpoint: Checkpoint, out: Path, reference: Reference, **options: Any) -> tuple[str, ...]:
    names = options.pop("names", ["fp32", "int8"])
    settings = {"max_tokens": 128, "force": False, **options}
    return export_bge_m3.export(checkpoint, out, names, reference, **settings)


def wrong_by(share: float, reference: Reference) -> Reference:
    """A published model whose dense vectors are a little different from those of the weights."""

    def run_it(ids: list[int]) -> Any:
        values = dict(reference(ids))
        other = np.roll(values["dense"], 1)
        values["dense"] = values["dense"] + share * other
        return values

    return run_it


def test_recall_reads_the_manifest_and_finds_every_file(
    tmp_path: Path, checkpoint: Checkpoint, reference: Reference, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bge-m3"
    assert export(checkpoint, out, reference, names=["int4", "fp32", "fp16", "int8"]) == ()
    manifest = read_manifest(out / "manifest.toml", out)
    manifest.verify()
    assert manifest.name == "bge-m3"
    assert [(variant.name, variant.devices) for variant in manifest.variants] == [
        ("int8", ("cpu",)),
        ("fp16", ("cuda", "coreml")),
        ("fp32", ()),
        ("int4", ()),
    ]
    assert manifest.installed == manifest.variants
    assert manifest.pooling == "none"
    assert manifest.dimension == read_shape(checkpoint.config).hidden
    assert (manifest.outputs.dense, manifest.outputs.sparse, manifest.outputs.multi_vector) == (
        "dense",
        "sparse",
        "multi_vector",
    )
    assert (manifest.gate.floor, manifest.gate.weak, manifest.gate.strong, manifest.gate.near) == (
        0.5,
        0.025,
        0.11,
        0.05,
    )
    assert not manifest.gate.measured
    assert manifest.max_tokens == 128
    assert manifest.hub is None
    assert {path.name for path in out.iterdir()} == {"manifest.toml", *(path.name for path in manifest.files)}
    assert (out / "tokenizer.json").read_bytes() == checkpoint.tokenizer.read_bytes()
    printed = capsys.readouterr().out
    for name in KINDS:
        assert f"{name}: " in printed
    assert printed.count("lowest cosine") == 2 * len(KINDS)
    assert printed.count("lowest correlation") == len(KINDS)


def test_the_same_weights_make_the_same_bytes(tmp_path: Path, checkpoint: Checkpoint, reference: Reference) -> None:
    for name in ("one", "two"):
        export(checkpoint, tmp_path / name, reference, names=["int8", "fp16"])
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_a_variant_that_falls_short_is_left_out(
    tmp_path: Path, checkpoint: Checkpoint, reference: Reference, capsys: pytest.CaptureFixture[str]
) -> None:
    # A cosine of about 0.995: near enough for int8, not for fp32.
    assert export(checkpoint, tmp_path / "out", wrong_by(0.1, reference)) == ("fp32",)
    manifest = read_manifest(tmp_path / "out" / "manifest.toml", tmp_path / "out")
    assert [variant.name for variant in manifest.variants] == ["int8"]
    assert not list((tmp_path / "out").glob("model-fp32*"))
    assert "falls short of cosine 0.99999, correlation 0.99999: left out" in capsys.readouterr().out


def test_force_keeps_what_falls_short(tmp_path: Path, checkpoint: Checkpoint, reference: Reference) -> None:
    assert export(checkpoint, tmp_path / "out", wrong_by(0.1, reference), force=True) == ("fp32",)
    manifest = read_manifest(tmp_path / "out" / "manifest.toml", tmp_path / "out")
    assert [variant.name for variant in manifest.variants] == ["int8", "fp32"]


def test_nothing_is_left_behind_when_no_variant_is_good_enough(
    tmp_path: Path, checkpoint: Checkpoint, reference: Reference
) -> None:
    with pytest.raises(ExportError, match="nothing was written"):
        export(checkpoint, tmp_path / "out", wrong_by(1, reference))
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_fails_leaves_the_older_one_as_it_was(
    tmp_path: Path, checkpoint: Checkpoint, reference: Reference
) -> None:
    out = tmp_path / "out"
    export(checkpoint, out, reference, names=["int8"])
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def breaks(ids: list[int]) -> Any:
        raise SourceError("no")

    with pytest.raises(SourceError):
        export(checkpoint, out, breaks)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    export(checkpoint, out, reference, names=["int4"])
    assert {path.name for path in out.glob("*.onnx")} == {"model-int4.onnx"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_no_export_is_not_replaced(
    tmp_path: Path, checkpoint: Checkpoint, reference: Reference
) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(ExportError, match="is there already and is no exported model"):
        export(checkpoint, tmp_path, reference)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_more_tokens_than_positions_are_refused(tmp_path: Path, checkpoint: Checkpoint, reference: Reference) -> None:
    with pytest.raises(ExportError, match="between 8 and the model's 512, not 513"):
        export(checkpoint, tmp_path / "out", reference, max_tokens=513)


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("config.json", "should hold config.json, but does not"),
        ("tokenizer.json", "should hold tokenizer.json"),
        ("model.safetensors", "should hold model.safetensors or pytorch_model.bin"),
        ("sparse_linear.safetensors", "should hold sparse_linear.safetensors or sparse_linear.pt"),
        ("colbert_linear.safetensors", "should hold colbert_linear.safetensors or colbert_linear.pt"),
    ],
)
def test_a_missing_file_is_named(missing: str, sentence: str, tmp_path: Path, weights: Path) -> None:
    for path in weights.iterdir():
        if path.name != missing:
            (tmp_path / path.name).symlink_to(path)
    with pytest.raises(SourceError, match=sentence) as error:
        read_checkpoint(tmp_path, Origin("random", "1"), heads=True)
    assert "\n" not in str(error.value)


def test_damaged_files_are_named(tmp_path: Path, weights: Path) -> None:
    def folder_with(name: str, content: bytes) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for path in weights.iterdir():
            (folder / path.name).symlink_to(path)
        (folder / name).unlink()
        (folder / name).write_bytes(content)
        return folder

    with pytest.raises(SourceError, match=r"config\.json should be the model's configuration in JSON"):
        read_checkpoint(folder_with("config.json", b"[1,"), Origin("random", "1"), heads=True)
    cut = (weights / "model.safetensors").read_bytes()[:100_000]
    with pytest.raises(SourceError, match=r"model\.safetensors should be a safetensors file, but cannot be read"):
        read_checkpoint(folder_with("model.safetensors", cut), Origin("random", "1"), heads=True)
    with pytest.raises(SourceError, match="should be a folder with the weights"):
        read_checkpoint(tmp_path / "nowhere", Origin("random", "1"), heads=True)


def test_a_missing_tensor_is_named(tmp_path: Path, weights: Path, reference: Reference) -> None:
    for path in weights.iterdir():
        (tmp_path / path.name).symlink_to(path)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.weight"]
    (tmp_path / "model.safetensors").unlink()
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(SourceError, match=r"should hold the tensor encoder\.layer\.1\.output\.dense\.weight"):
        export(read_checkpoint(tmp_path, Origin("random", "1"), heads=True), tmp_path / "out", reference)


def test_a_hub_out_of_reach_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(SourceError, match=r"^BAAI/bge-m3 at main could not be fetched from the hub: ") as error:
        fetch_checkpoint("BAAI/bge-m3", "main", tmp_path)
    assert "\n" not in str(error.value)


def test_an_unknown_variant_is_refused_before_anything_else(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="not 'int7'"):
        run(parse(["--random", "small", "--variants", "int8,int7", "--out", str(tmp_path / "out")]))


def test_random_weights_are_those_of_the_seed(tmp_path: Path) -> None:
    first, second, other = (
        find_weights(parse(["--random", "small", "--seed", seed]), tmp_path / name)[0]
        for seed, name in (("4", "a"), ("4", "b"), ("5", "c"))
    )
    assert (first / "model.safetensors").read_bytes() == (second / "model.safetensors").read_bytes()
    assert (first / "model.safetensors").read_bytes() != (other / "model.safetensors").read_bytes()
    checkpoint = read_checkpoint(first, Origin("random", "4"), heads=True)
    assert checkpoint.encoder["embeddings.word_embeddings.weight"].shape == (SIZES["small"].vocabulary, 128)


def test_the_full_size_is_that_of_bge_m3() -> None:
    assert dataclasses.astuple(SIZES["full"]) == (24, 1024, 16, 4096, 250_002, 8194)


def test_the_whole_command_proves_itself_against_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    script = ROOT / "tools" / "export_bge_m3.py"
    command = [sys.executable, str(script), "--random", "small", "--variants", ",".join(KINDS), "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert len(read_manifest(tmp_path / "out" / "manifest.toml", tmp_path / "out").variants) == len(KINDS)


def test_torch_files_are_read_as_safetensors_are(tmp_path: Path, weights: Path, checkpoint: Checkpoint) -> None:
    torch = pytest.importorskip("torch")
    for path in weights.iterdir():
        if path.suffix == ".safetensors":
            name = "pytorch_model.bin" if path.stem == "model" else f"{path.stem}.pt"
            torch.save({key: torch.from_numpy(value) for key, value in load_file(path).items()}, tmp_path / name)
        else:
            (tmp_path / path.name).symlink_to(path)
    found = read_checkpoint(tmp_path, Origin("random", "1"), heads=True)
    for name, value in checkpoint.encoder.items():
        assert np.array_equal(found.encoder[name], value)
    assert found.sparse is not None
    assert checkpoint.sparse is not None
    assert np.array_equal(found.sparse["weight"], checkpoint.sparse["weight"])
