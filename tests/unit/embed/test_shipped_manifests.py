"""The manifests in models/ can be used as they are: whole, consistent, and without a value that somebody made up."""

import re
from pathlib import Path

import pytest

from recall.embed.manifest import BUNDLED, Manifest, ModelFile
from recall.embed.manifest_file import read_manifest

MODELS = Path(__file__).resolve().parents[3] / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.toml"))

#: Licences that need no agreement: whoever keeps the notice may use the weights for anything.
FREE = {"MIT", "Apache-2.0"}

#: One random commit in 80 million has fewer different digits, and a checksum hardly ever.
FEWEST_DIGITS = 9


def shipped(name: str, *, complete: bool = False) -> Manifest:
    return read_manifest(MODELS / f"{name}.toml", MODELS / name, complete=complete)


def digests(manifest: Manifest) -> list[str]:
    """Checksums and commits of a manifest, those left out not counted."""
    found = [file.sha256 for file in manifest.files.values() if file.sha256]
    return [*found, manifest.hub.revision] if manifest.hub else found


def looks_made_up(digest: str) -> bool:
    """Whether a row of hex digits repeats itself, counts up, or has too few different digits for a hash."""
    repeats = digest in (digest + digest)[1:-1]
    counts = "0123456789" in digest or "9876543210" in digest
    return repeats or counts or len(set(digest)) < FEWEST_DIGITS


def test_the_models_that_are_promised_are_there() -> None:
    assert {BUNDLED, "bge-m3", "multilingual-e5-base"} <= set(NAMES)


def test_the_bundled_model_has_every_checksum_and_size() -> None:
    manifest = shipped(BUNDLED, complete=True)
    assert manifest.gate.measured
    assert manifest.hub is None


@pytest.mark.parametrize("name", NAMES)
def test_a_manifest_is_called_like_its_file(name: str) -> None:
    assert shipped(name).name == name


@pytest.mark.parametrize("name", NAMES)
def test_a_licence_is_free_or_its_terms_can_be_read(name: str) -> None:
    manifest = shipped(name)
    assert manifest.origin.startswith("https://")
    if manifest.licence in FREE:
        assert manifest.terms == ""
    else:
        assert manifest.terms.startswith("https://")


def test_weights_that_come_along_bring_their_licence() -> None:
    assert (MODELS / f"LICENSE-{BUNDLED}").read_text("utf-8").strip()


@pytest.mark.parametrize("name", NAMES)
def test_no_checksum_and_no_commit_is_made_up(name: str) -> None:
    for digest in digests(shipped(name)):
        assert re.fullmatch(r"[0-9a-f]{64}|[0-9a-f]{40}", digest)
        assert not looks_made_up(digest), digest


@pytest.mark.parametrize("digest", ["0" * 64, "ab" * 32, "deadbeef" * 8, "0123456789abcdef" * 4, "1234567890" * 4])
def test_placeholders_look_made_up(digest: str) -> None:
    assert looks_made_up(digest)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_manifest_does_not_pin_a_commit_pins(name: str) -> None:
    """A file without a checksum can only be checked against the hub's listing, or against its exporter's manifest."""
    manifest = shipped(name)
    unpinned = [file.path.name for file in manifest.files.values() if not file.sha256]
    text = (MODELS / f"{name}.toml").read_text("utf-8")
    assert not unpinned or manifest.hub is not None or "--from" in text, unpinned


@pytest.mark.parametrize("name", NAMES)
def test_every_file_belongs_to_a_variant_or_is_the_tokenizer(name: str) -> None:
    manifest = shipped(name)
    needed = {file.path for file in manifest.needed(manifest.variants)}
    assert needed == set(manifest.files)
    assert manifest.tokenizer in needed


@pytest.mark.parametrize("name", NAMES)
def test_no_two_files_are_the_same_one(name: str) -> None:
    files = shipped(name).files.values()
    assert len({file.remote for file in files}) == len(files)
    checksums = [file.sha256 for file in files if file.sha256]
    assert len(set(checksums)) == len(checksums)


def test_a_checksum_has_one_size_in_all_manifests() -> None:
    sizes: dict[str, int] = {}
    known = [file for name in NAMES for file in shipped(name).files.values() if file.sha256 and file.bytes]
    for file in known:
        assert sizes.setdefault(file.sha256, file.bytes) == file.bytes, file.path


@pytest.mark.parametrize("name", NAMES)
def test_a_cpu_has_a_variant_and_it_is_the_one_that_the_others_are_compared_with(name: str) -> None:
    manifest = shipped(name)
    assert "cpu" in manifest.variants[0].devices
    assert all(variant.devices for variant in manifest.variants if variant.name in {"int8", "fp16"})


@pytest.mark.parametrize("name", NAMES)
def test_the_dense_output_is_named_and_no_output_twice(name: str) -> None:
    outputs = shipped(name).outputs
    named = [output for output in (outputs.dense, outputs.sparse, outputs.multi_vector) if output is not None]
    assert all(named)
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("name", NAMES)
def test_the_bounds_of_the_gate_are_in_order(name: str) -> None:
    gate = shipped(name).gate
    assert -1 < gate.floor < 1
    assert 0 < gate.weak < gate.strong < 1
    assert 0 < gate.near < 1


@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_in_the_table_of_the_readme(name: str) -> None:
    text = (MODELS / "README.md").read_text("utf-8")
    row = next((line for line in text.splitlines() if line.startswith(f"| {name} |")), "")
    manifest = shipped(name)
    assert f"| {manifest.dimension} |" in row
    assert manifest.licence in row
    assert ("not measured" in row) != manifest.gate.measured


def test_the_prefixes_are_those_that_the_e5_family_was_trained_with() -> None:
    """Without them its vectors are worse, and nothing shows it."""
    for name in NAMES:
        if name.startswith("multilingual-e5-"):
            manifest = shipped(name)
            assert (manifest.query_prefix, manifest.passage_prefix) == ("query: ", "passage: ")
            assert manifest.pooling == "mean"


def test_files_of_a_hub_folder_keep_their_names() -> None:
    """`--from FOLDER` takes a copy of the repository: the file must have the same name there."""

    def same(file: ModelFile) -> bool:
        return file.remote.rpartition("/")[2] == file.path.name

    assert all(same(file) for name in NAMES for file in shipped(name).files.values())
