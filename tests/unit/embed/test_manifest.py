"""Model manifests: where they are searched, what is refused, and what makes two models different."""

import dataclasses
import hashlib
import os
from pathlib import Path

import pytest

from recall.core.errors import ModelError
from recall.embed.catalog import find_model, known_models
from recall.embed.manifest_file import parse_manifest, read_manifest

TEXT = """
name = "small"
licence = "MIT"
origin = "https://example.org/small"
languages = "Japanese"
tokenizer = "tokenizer.json"
dimension = 8
pooling = "mean"
query_prefix = "q: "
passage_prefix = "p: "
max_tokens = 64

[variants.int8]
devices = ["cpu"]
files = ["model.onnx"]

[gate]
floor = 0.5
weak = 0.02
strong = 0.1
near = 1

[files."model.onnx"]
sha256 = "{weights}"
bytes = 5

[files."tokenizer.json"]
sha256 = "{tokenizer}"
bytes = 2
""".format(weights=hashlib.sha256(b"graph").hexdigest(), tokenizer=hashlib.sha256(b"{}").hexdigest())


def put_model(folder: Path, text: str = TEXT) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"graph")
    (folder / "tokenizer.json").write_bytes(b"{}")
    manifest = folder / "manifest.toml"
    manifest.write_text(text, "utf-8")
    return manifest


def test_a_model_in_the_state_folder_is_found_with_absolute_paths(tmp_path: Path) -> None:
    put_model(tmp_path / "models" / "small")
    manifest = find_model("small", tmp_path / "models")
    (variant,) = manifest.installed
    assert variant.weights == tmp_path / "models" / "small" / "model.onnx"
    assert variant.weights.is_absolute()
    assert manifest.gate.near == 1.0
    manifest.verify()


def test_the_persons_own_model_comes_before_the_bundled_one(tmp_path: Path) -> None:
    put_model(tmp_path / "multilingual-e5-small", TEXT.replace('"small"', '"multilingual-e5-small"'))
    assert find_model("multilingual-e5-small", tmp_path).dimension == 8
    assert find_model("multilingual-e5-small", None).dimension == 384


def test_an_unknown_model_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model called bge-m4;"):
        find_model("bge-m4", tmp_path)


@pytest.mark.parametrize("name", ["", "..", "../small", "/etc", "a/b", "a\\b", ".hidden", "a\nb"])
def test_a_name_that_could_leave_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="name should be"):
        find_model(name, tmp_path)


def test_a_file_of_the_wrong_size_is_refused_without_reading_it(tmp_path: Path) -> None:
    put_model(tmp_path / "small")
    (tmp_path / "small" / "model.onnx").write_bytes(b"grap")
    with pytest.raises(ModelError, match="should have 5 bytes, but has 4"):
        find_model("small", tmp_path)


@pytest.mark.parametrize("name", ["tokenizer.json", "model.onnx"])
def test_a_model_with_a_missing_file_is_not_on_this_machine(name: str, tmp_path: Path) -> None:
    put_model(tmp_path / "small")
    (tmp_path / "small" / name).unlink()
    with pytest.raises(ModelError, match="small is not on this machine: run `recall models add small`"):
        find_model("small", tmp_path)


def test_the_variant_of_a_device_is_the_first_that_names_it_and_is_there(tmp_path: Path) -> None:
    two = TEXT.replace(
        "[gate]",
        '[variants.fp16]\ndevices = ["cuda"]\nfiles = ["model.fp16.onnx"]\n[files."model.fp16.onnx"]\n'
        f'sha256 = "{hashlib.sha256(b"half").hexdigest()}"\nbytes = 4\n[gate]',
    )
    put_model(tmp_path / "small", two)
    assert find_model("small", tmp_path).variant_for("cuda").name == "int8"
    (tmp_path / "small" / "model.fp16.onnx").write_bytes(b"half")
    manifest = find_model("small", tmp_path)
    assert [manifest.variant_for(device).name for device in ("cuda", "cpu", "coreml")] == ["fp16", "int8", "int8"]
    manifest.verify()


def test_a_further_variant_leaves_the_identity_as_it_is() -> None:
    further = TEXT.replace("[gate]", '[variants.other]\ndevices = []\nfiles = ["tokenizer.json"]\n[gate]')
    folder = Path("/models/small")
    assert parse_manifest(further, folder).identity == parse_manifest(TEXT, folder).identity


def test_known_models_are_the_shipped_and_the_persons_own_and_one_bad_manifest_hides_none(tmp_path: Path) -> None:
    put_model(tmp_path / "small")
    put_model(tmp_path / "broken", "name =")
    known = dict(known_models(tmp_path))
    assert {"multilingual-e5-small", "small", "broken"} <= known.keys()
    assert isinstance(known["broken"], ModelError)


def test_checksums_may_be_missing_only_where_files_are_still_to_be_fetched(tmp_path: Path) -> None:
    text = TEXT.replace("bytes = 5\n", "")
    manifest = put_model(tmp_path / "small", text)
    assert (
        read_manifest(manifest, tmp_path / "small", complete=False).files[tmp_path / "small" / "model.onnx"].bytes == 0
    )
    with pytest.raises(ModelError, match=r"bytes of model\.onnx is missing"):
        read_manifest(manifest, tmp_path / "small")


def test_damage_that_keeps_the_size_is_found_by_verify(tmp_path: Path) -> None:
    manifest = read_manifest(put_model(tmp_path / "small"), tmp_path / "small")
    (tmp_path / "small" / "model.onnx").write_bytes(b"grapf")
    with pytest.raises(ModelError, match="damaged"):
        manifest.verify()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('licence = "MIT"', "", "licence is missing"),
        ("dimension = 8", "dimension = 0", "dimension should be a whole number above 0, not 0"),
        ("dimension = 8", "dimension = 99999999999999999999", "dimension should be at most 65536"),
        ("max_tokens = 64", "max_tokens = 1", "max_tokens should be from 8 to 1000000, not 1"),
        ("bytes = 5", "bytes = 0", "bytes should be a whole number above 0, not 0"),
        ("floor = 0.5", "floor = nan", "floor should be a number, not nan"),
        ("strong = 0.1", "strong = inf", "strong should be a number, not inf"),
        ("dimension = 8", "dimension = true", "dimension should be a whole number above 0, not True"),
        ("floor = 0.5", 'floor = "high"', "floor should be a number, not 'high'"),
        ("strong = 0.1", "", "strong is missing"),
        ('pooling = "mean"', 'pooling = "last"', "pooling should be mean or cls or none, not 'last'"),
        ('files = ["model.onnx"]', 'files = ["other.onnx"]', 'files."other.onnx"'),
        ('files = ["model.onnx"]', 'files = ["../model.onnx"]', "plain name"),
        ('files = ["model.onnx"]', "files = []", "at least the ONNX file"),
        ('devices = ["cpu"]', 'devices = ["tpu"]', "devices should be among cpu, cuda, coreml, not 'tpu'"),
        ("[variants.int8]", "[variants]", "should be a table"),
        ('sha256 = "', 'sha256 = "x', "64 hexadecimal digits"),
        ('query_prefix = "q: "', "query_prefix = 3", "query_prefix should be text, not 3"),
        ("[gate]", "[[gate]]", "gate should be a table"),
        ("name =", "name", "Expected"),
    ],
)
def test_a_wrong_manifest_says_what_is_wrong(old: str, new: str, reason: str, tmp_path: Path) -> None:
    manifest = put_model(tmp_path / "small", TEXT.replace(old, new, 1))
    with pytest.raises(ModelError) as caught:
        read_manifest(manifest, tmp_path / "small")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_everything_that_shapes_a_vector_changes_the_identity() -> None:
    folder = Path("/models/small")
    manifest = parse_manifest(TEXT, folder)
    others = [
        dataclasses.replace(manifest, query_prefix="question: "),
        dataclasses.replace(manifest, passage_prefix=""),
        dataclasses.replace(manifest, max_tokens=32),
        dataclasses.replace(
            manifest,
            files={path: dataclasses.replace(file, sha256=f"0{file.sha256}") for path, file in manifest.files.items()},
        ),
    ]
    assert len({manifest.identity, *(other.identity for other in others)}) == 5


def test_neither_the_place_nor_the_gate_changes_the_identity() -> None:
    manifest = parse_manifest(TEXT, Path("/models/small"))
    moved = parse_manifest(TEXT.replace("floor = 0.5", "floor = 0.6"), Path("/elsewhere"))
    assert moved.identity == manifest.identity
    assert manifest.identity.startswith("small@")


@pytest.mark.parametrize("odd", ["folder", "pipe", "another name"])
def test_an_odd_manifest_is_one_sentence_and_hides_no_other_model(odd: str, tmp_path: Path) -> None:
    manifest = tmp_path / "odd" / "manifest.toml"
    if odd == "another name":
        put_model(tmp_path / "odd")
    elif odd == "folder":
        manifest.mkdir(parents=True)
    else:
        if not hasattr(os, "mkfifo"):
            pytest.skip("this system has no named pipes")
        manifest.parent.mkdir()
        os.mkfifo(manifest)
    known = dict(known_models(tmp_path))
    assert isinstance(known["odd"], ModelError)
    assert str(manifest) in str(known["odd"])
    assert "multilingual-e5-small" in known
    with pytest.raises(ModelError, match="should be the manifest of the model odd"):
        find_model("odd", tmp_path)
