"""Installing from folders and a real server: what is planned, kept, replaced, refused, and gone on with."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hub import REPOSITORY, REVISION, serving
from recall.cli.models import describe
from recall.core.errors import ModelError
from recall.embed import catalog
from recall.embed.catalog import find_model
from recall.embed.manifest_file import read_manifest
from recall.models import install as installing
from recall.models.disk import MARGIN
from recall.models.find import find_source
from recall.models.install import install, plan_install
from recall.models.listing import entries, verify
from recall.models.places import leftovers
from recall.models.sources import HubSource
from recall.models.variants import choose, devices_here
from recall.wire.paths import StatePaths

TEXT = """# A remark that stays.
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
files = ["int8.onnx"]

[variants.fp16]
devices = ["cuda", "coreml"]
files = ["fp16.onnx", "fp16.onnx.data"]

[gate]
floor = 0.5
weak = 0.02
strong = 0.1
near = 1
"""
CONTENTS = {
    "tokenizer.json": b"{}",
    "int8.onnx": b"int8" * 50_000,
    "fp16.onnx": b"fp16",
    "fp16.onnx.data": b"data" * 10,
}


@pytest.fixture(autouse=True)
def _not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files here are stand-ins for large ones; that real models are loaded is tested in test_trial."""
    monkeypatch.setattr(installing, "try_out", lambda *_: None)


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StatePaths:
    """The person's usual state folder."""
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "state"))
    return StatePaths(str(tmp_path / "state"))


@pytest.fixture
def share(tmp_path: Path) -> Path:
    return put_share(tmp_path / "share")


def put_share(folder: Path, contents: dict[str, bytes] = CONTENTS, text: str = TEXT) -> Path:
    """A folder as the export tools write it."""
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        text += f'\n[files."{name}"]\nsha256 = "{hashlib.sha256(content).hexdigest()}"\nbytes = {len(content)}\n'
    (folder / "manifest.toml").write_text(text, "utf-8")
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def place(paths: StatePaths) -> Path:
    return Path(paths.models) / "small"


def test_planning_changes_nothing_and_says_what_it_costs(paths: StatePaths, share: Path) -> None:
    plan = plan_install("small", str(share), paths, ["fp16"])
    assert (plan.name, plan.licence, plan.terms, plan.words) == ("small", "MIT", "", str(share))
    assert plan.variants == ("fp16",)
    assert plan.fetch_bytes == plan.total_bytes == 2 + 4 + 40
    assert plan.free_bytes > MARGIN
    assert not plan.is_done
    assert not Path(paths.home).exists()


def test_a_model_is_there_once_it_is_whole(paths: StatePaths, share: Path) -> None:
    seen: list[tuple[int, int]] = []
    manifest = install(
        plan_install("small", str(share), paths, ["int8"]), lambda done, total: seen.append((done, total))
    )
    assert manifest == find_model("small", Path(paths.models))
    assert names(place(paths)) == {"manifest.toml", "tokenizer.json", "int8.onnx"}
    assert (place(paths) / "manifest.toml").read_text("utf-8") == (share / "manifest.toml").read_text("utf-8")
    assert seen == sorted(seen)
    assert seen[-1] == (200_002, 200_002)
    assert {path.stat().st_mode & 0o777 for path in place(paths).iterdir()} == {0o600}
    assert Path(paths.home).stat().st_mode & 0o777 == 0o700
    assert leftovers(Path(paths.models), "small") is None


def test_a_further_variant_leaves_what_is_there_and_the_identity(paths: StatePaths, share: Path) -> None:
    before = install(plan_install("small", str(share), paths, ["fp16"]))
    weights = place(paths) / "fp16.onnx"
    number = weights.stat().st_ino
    plan = plan_install("small", str(share), paths)
    assert plan.variants == ("int8", "fp16")
    assert plan.fetch_bytes == 200_000
    after = install(plan)
    assert [variant.name for variant in after.installed] == ["int8", "fp16"]
    assert after.identity == before.identity
    assert weights.stat().st_ino == number
    assert plan_install("small", str(share), paths).is_done


def test_another_version_takes_the_place_of_the_old_one_only_when_it_is_whole(
    paths: StatePaths, share: Path, tmp_path: Path
) -> None:
    old = install(plan_install("small", str(share), paths))
    newer = put_share(tmp_path / "newer", CONTENTS | {"int8.onnx": b"better" * 1000})
    plan = plan_install("small", str(newer), paths)
    assert plan.fetch_bytes == 6000  # the tokenizer is the same
    (newer / "int8.onnx").write_bytes(b"damage" * 1000)
    with pytest.raises(ModelError, match=r"should have the SHA-256 .* All that came was deleted"):
        install(plan)
    assert find_model("small", Path(paths.models)) == old
    old.verify()
    (newer / "int8.onnx").write_bytes(b"better" * 1000)
    new = install(plan)
    assert new.identity != old.identity
    new.verify()
    assert names(Path(paths.models)) == {"small", ".adding-small.lock"}


def test_a_manifest_alone_or_a_file_of_the_same_size_can_be_newer(
    paths: StatePaths, share: Path, tmp_path: Path
) -> None:
    first = install(plan_install("small", str(share), paths))
    text = (share / "manifest.toml").read_text("utf-8")
    (share / "manifest.toml").write_text(text.replace("strong = 0.1", "strong = 0.2"), "utf-8")
    plan = plan_install("small", str(share), paths)
    assert (plan.fetch_bytes, plan.is_done) == (0, False)
    second = install(plan)
    assert (second.gate.strong, second.identity) == (0.2, first.identity)
    second.verify()
    newer = put_share(tmp_path / "newer", CONTENTS | {"int8.onnx": b"INT8" * 50_000})
    plan = plan_install("small", str(newer), paths)
    assert plan.fetch_bytes == 200_000
    install(plan).verify()
    assert plan_install("small", str(newer), paths).is_done


@pytest.mark.parametrize("whole", [True, False])
def test_an_end_between_the_two_renames_is_mended(paths: StatePaths, share: Path, *, whole: bool) -> None:
    install(plan_install("small", str(share), paths))
    old = place(paths).rename(Path(paths.models) / ".replaced-small")
    if whole:  # the new folder was in its place already
        shutil.copytree(old, place(paths))
    manifest = install(plan_install("small", str(share), paths, ["fp16"]))
    manifest.verify()
    assert names(Path(paths.models)) == {"small", ".adding-small.lock"}


def test_a_link_to_a_larger_disk_is_replaced_and_its_folder_stays(
    paths: StatePaths, share: Path, tmp_path: Path
) -> None:
    Path(paths.models).mkdir(parents=True)
    larger = put_share(tmp_path / "larger", CONTENTS | {"int8.onnx": b"old"})
    place(paths).symlink_to(larger)
    install(plan_install("small", str(share), paths)).verify()
    assert not place(paths).is_symlink()
    assert (larger / "int8.onnx").read_bytes() == b"old"


def test_what_an_interrupted_one_left_is_used_or_dropped(paths: StatePaths, share: Path) -> None:
    staging = Path(paths.models) / ".adding-small"
    staging.mkdir(parents=True)
    (staging / "tokenizer.json").write_bytes(b"[]")  # the right size, other content
    part = hashlib.sha256(CONTENTS["int8.onnx"]).hexdigest()[:12]
    (staging / f"int8.onnx.part-{part}").write_bytes(CONTENTS["int8.onnx"][:150_000])
    (staging / "int8.onnx.part-0123456789ab").write_bytes(b"of another version")
    with serving({path.name: path for path in share.iterdir()}) as server:
        plan = plan_install("small", f"{server.endpoint}/plain", paths)
        assert plan.fetch_bytes == 50_000
        install(plan).verify()
        assert server.parts("int8.onnx") == ["bytes=150000-"]
        assert server.parts("tokenizer.json") == [None]
    assert names(place(paths)) == {"manifest.toml", "tokenizer.json", "int8.onnx"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_disk_that_fills_up_in_the_middle_is_one_sentence(paths: StatePaths, share: Path) -> None:
    with serving({path.name: path for path in share.iterdir()}) as server:
        plan = plan_install("small", f"{server.endpoint}/plain", paths)
        staging = Path(paths.models) / ".adding-small"
        staging.mkdir(parents=True)
        checksum = hashlib.sha256(CONTENTS["int8.onnx"]).hexdigest()[:12]
        part = staging / f"int8.onnx.part-{checksum}"
        part.symlink_to("/dev/full")
        with pytest.raises(
            ModelError, match=r"is full; make room, then `recall models add small --from http[^ ]+/plain` goes"
        ):
            install(plan)
        assert names(staging) == {"tokenizer.json", part.name}
        part.unlink()
        install(plan).verify()
        assert server.parts("tokenizer.json") == [None]


def test_a_disk_that_is_too_small_is_found_before_anything_is_made(
    paths: StatePaths, share: Path, tmp_path: Path
) -> None:
    huge = (share / "manifest.toml").read_text("utf-8").replace("bytes = 200000", f"bytes = {10**18}")
    (share / "manifest.toml").write_text(huge, "utf-8")
    with serving({path.name: path for path in share.iterdir()}) as server:
        with pytest.raises(ModelError, match="needs 1000000000000 MB"):
            plan_install("small", f"{server.endpoint}/plain", paths)
        assert [asked.file for asked in server.log] == ["manifest.toml"]
    assert not Path(paths.home).exists()


@pytest.mark.parametrize("name", ["int8.onnx", "tokenizer.json"])
def test_a_damaged_file_of_the_same_size_comes_again(paths: StatePaths, share: Path, name: str) -> None:
    whole = install(plan_install("small", str(share), paths))
    content = bytes(len(CONTENTS[name]))
    (place(paths) / name).write_bytes(content)
    plan = plan_install("small", str(share), paths)
    assert (plan.fetch_bytes, plan.is_done) == (len(content), False)
    assert install(plan) == whole
    whole.verify()
    assert plan_install("small", str(share), paths).is_done


def test_what_failed_can_be_copied_from_the_sentence_and_goes_on(paths: StatePaths, share: Path) -> None:
    away = share.rename(share.with_name("of the team"))
    plan = plan_install("small", str(away), paths, ["int8", "fp16"])
    assert plan.again == f"recall models add small --from '{away}' --variant int8 --variant fp16"
    (away / "fp16.onnx").write_bytes(b"FP16")
    with pytest.raises(ModelError, match=f"try `{plan.again}` once more"):
        install(plan)
    with serving({path.name: path for path in away.iterdir()}) as server:
        server.behaviour("int8.onnx").cut = 0
        plan = plan_install("small", f"HTTP://me:secret@127.0.0.1:{server.port}/plain", paths, ["int8"])
        again = f"recall models add small --from HTTP://NAME:PASSWORD@127.0.0.1:{server.port}/plain --variant int8"
        with pytest.raises(ModelError, match=f"try again, what has come so far stays: `{again}` goes on from there"):
            install(plan)


def test_a_byte_order_mark_is_no_part_of_a_manifest(paths: StatePaths, share: Path) -> None:
    file = share / "manifest.toml"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    with serving({path.name: path for path in share.iterdir()}) as server:
        install(plan_install("small", f"{server.endpoint}/plain", paths)).verify()
    assert plan_install("small", str(share), paths).is_done


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("http://h/x?token=secret", "no `[?]` and no `#`"),
        ("https://h/x#secret", "no `[?]` and no `#`"),
        ("ftp://me:secret@h/x", "should begin with http:// or https://, not with ftp://"),
        ("http://me:sec/ret@h/x", "is not like https://host/folder"),
        ("http://[secret/x", "is not like https://host/folder"),
        ("https:///secret", "is not like https://host/folder"),
    ],
)
def test_an_address_that_is_none_is_refused_without_being_shown(paths: StatePaths, address: str, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence) as found:
        plan_install("small", address, paths)
    assert "sec" not in str(found.value)


def test_a_manifest_without_checksums_or_sizes_says_so(paths: StatePaths, share: Path) -> None:
    file = share / "manifest.toml"
    text = file.read_text("utf-8")
    file.write_text(text.replace("bytes = 200000", ""), "utf-8")
    with pytest.raises(ModelError, match=r"does not state size and SHA-256 of int8\.onnx; make the folder with"):
        plan_install("small", str(share), paths)
    file.write_text(text.replace("bytes = 200000", "bytes = 0"), "utf-8")
    with pytest.raises(ModelError, match="bytes should be a whole number above 0"):
        plan_install("small", str(share), paths)


def test_a_manifest_cannot_forge_lines(paths: StatePaths, share: Path) -> None:
    file = share / "manifest.toml"
    forged = 'licence = "MIT\\nsource: elsewhere\\u001b[2J"\nterms = "https://t.example\\r\\u202ex"'
    file.write_text(file.read_text("utf-8").replace('licence = "MIT"', forged), "utf-8")
    plan = plan_install("small", str(share), paths)
    assert (plan.licence, plan.terms) == ("MIT source: elsewhere[2J", "https://t.example x")
    assert len(describe(plan).splitlines()) == 4
    install(plan)
    (entry,) = [entry for entry in entries(paths, "") if entry.name == "small"]
    assert (entry.licence, entry.terms) == (plan.licence, plan.terms)


def test_an_own_manifest_of_another_name_is_shown_as_a_problem_and_can_be_replaced(
    paths: StatePaths, share: Path
) -> None:
    Path(paths.models).mkdir(parents=True)
    shutil.copytree(share, place(paths))
    file = place(paths) / "manifest.toml"
    file.write_text(file.read_text("utf-8").replace('name = "small"', 'name = "other"'), "utf-8")
    (entry,) = [entry for entry in entries(paths, "") if entry.name == "small"]
    assert entry.problem is not None
    assert "but its name is other" in entry.problem
    assert [wrong == entry.problem for _, wrong in verify(paths, "small")] == [True]
    install(plan_install("small", str(share), paths)).verify()


def test_what_is_left_of_an_unknown_model_is_listed(paths: StatePaths) -> None:
    staging = Path(paths.models) / ".adding-unheard-of"
    staging.mkdir(parents=True)
    (staging / "weights.part-0").write_bytes(bytes(3000))
    (entry,) = [entry for entry in entries(paths, "") if entry.interrupted]
    assert (entry.name, entry.arrived, entry.installed, entry.problem) == ("unheard-of", 3000, (), None)


def without(name: str) -> Callable[[Path], object]:
    return lambda share: (share / name).unlink()


def written(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda share: (share / name).write_bytes(content)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (shutil.rmtree, "is not a folder; `--from` takes"),
        (without("manifest.toml"), "has no manifest.toml, and recall comes with none for small"),
        (without("int8.onnx"), "lacks int8.onnx"),
        (without("tokenizer.json"), "lacks tokenizer.json"),
        (written("int8.onnx", b"short"), "should have 200000 bytes, but has 5"),
        (written("manifest.toml", b"\xff"), "is no text in UTF-8"),
        (
            written("manifest.toml", b" \n<!DOCTYPE html><html lang='ja'>\x83e"),
            "is a web page and not a model's manifest",
        ),
        (written("manifest.toml", b"#" * 1_000_001), "has more than 1 MB"),
        (written("manifest.toml", b"name = 3"), "cannot be used"),
        (written("manifest.toml", TEXT.encode().replace(b'"small"', b'"large"')), "missing"),
    ],
)
def test_a_folder_that_is_not_as_it_should_be(
    paths: StatePaths, share: Path, change: Callable[[Path], object], sentence: str
) -> None:
    change(share)
    with pytest.raises(ModelError, match=sentence):
        plan_install("small", str(share), paths, ["int8"])
    assert not Path(paths.home).exists()


def test_a_share_that_goes_away_in_the_middle_is_not_taken_for_the_own_disk(paths: StatePaths, share: Path) -> None:
    plan = plan_install("small", str(share), paths)
    shutil.rmtree(share)
    with pytest.raises(ModelError, match=r"tokenizer\.json cannot be read \(No such file or directory\)"):
        install(plan)
    assert names(Path(paths.models)) == {".adding-small.lock"}


def test_a_folder_without_the_variant_for_the_cpu_gives_the_one_that_it_has(paths: StatePaths, share: Path) -> None:
    (share / "int8.onnx").unlink()
    assert plan_install("small", str(share), paths).variants == ("fp16",)


def test_another_model_than_the_one_that_was_named(paths: StatePaths, share: Path) -> None:
    with pytest.raises(ModelError, match=r"has the model small, not large; run `recall models add small --from [^ ]+`"):
        plan_install("large", str(share), paths)


@pytest.mark.parametrize("name", ["", "..", "../small", "a/b", ".hidden"])
def test_a_name_that_could_leave_the_folder_is_refused(paths: StatePaths, share: Path, name: str) -> None:
    with pytest.raises(ModelError, match="name should be"):
        plan_install(name, str(share), paths)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of manifests that recall comes with."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    monkeypatch.setattr(catalog, "SHIPPED", (folder,))
    return folder


def test_files_alone_are_held_against_the_manifest_that_recall_comes_with(
    paths: StatePaths, share: Path, shipped: Path
) -> None:
    known = (
        (share / "manifest.toml").read_text("utf-8").replace("bytes = 200000", 'bytes = 200000\npath = "onnx/q.onnx"')
    )
    (share / "manifest.toml").unlink()
    (share / "onnx").mkdir()
    (share / "int8.onnx").rename(share / "onnx" / "q.onnx")  # as in a clone of the hub's repository
    (shipped / "small.toml").write_text(known, "utf-8")
    install(plan_install("small", str(share), paths)).verify()
    (shipped / "small.toml").write_text(
        known.replace("bytes = 4\n", "bytes = 4\n").replace("sha256", "#sha256"), "utf-8"
    )
    with pytest.raises(ModelError, match="has no checksums of small; copy the whole folder"):
        plan_install("small", str(share), paths)


def test_which_manifest_counts_for_the_hub(paths: StatePaths, share: Path, shipped: Path) -> None:
    models, other = Path(paths.models), "f" * 40
    with pytest.raises(ModelError, match="recall knows no model called small"):
        find_source("small", None, models)
    bare = (share / "manifest.toml").read_text("utf-8")
    (shipped / "small.toml").write_text(bare, "utf-8")
    with pytest.raises(ModelError, match=r"knows no place on the hub .* https://example.org/small"):
        find_source("small", None, models)
    at = f'{bare}\n[hub]\nrepository = "{REPOSITORY}"\nrevision = '
    (shipped / "small.toml").write_text(f'{at}"{REVISION}"\n', "utf-8")
    assert words(find_source("small", None, models)[1]).endswith(REVISION[:12])

    install(plan_install("small", str(share), paths))  # its manifest names no place on the hub
    with pytest.raises(ModelError, match="did not come from the hub"):
        find_source("small", None, models)
    assert words(find_source("small", "hub", models)[1]).endswith(REVISION[:12])

    (place(paths) / "manifest.toml").write_text(f'{at}"{other}"\n', "utf-8")
    assert words(find_source("small", None, models)[1]).endswith(other[:12])
    assert words(find_source("small", "hub", models)[1]).endswith(REVISION[:12])
    (place(paths) / "manifest.toml").write_text("broken", "utf-8")
    assert words(find_source("small", None, models)[1]).endswith(REVISION[:12])


def words(source: object) -> str:
    assert isinstance(source, HubSource)
    return source.words


def test_variants_are_chosen_for_the_devices_of_this_machine(share: Path) -> None:
    manifest = read_manifest(share / "manifest.toml", share)
    int8, fp16 = manifest.variants
    assert choose(manifest, (), ("cpu",), manifest.variants) == (int8,)
    assert choose(manifest, (), ("cpu", "cuda"), manifest.variants) == (int8, fp16)
    assert choose(manifest, (), ("cpu", "cuda", "coreml"), manifest.variants) == (int8, fp16)
    assert choose(manifest, (), ("cpu",), (fp16,)) == (fp16,)
    assert choose(manifest, (), ("cpu",), ()) == ()
    assert choose(manifest, ("fp16", "fp16"), ("cpu",), ()) == (fp16,)
    with pytest.raises(ModelError, match="no variant called int4; it has int8, fp16"):
        choose(manifest, ("int4",), ("cpu",), manifest.variants)
    assert devices_here()[0] == "cpu"


def test_the_command_to_go_on_with_names_another_state_folder(paths: StatePaths, share: Path, tmp_path: Path) -> None:
    other = StatePaths(str(tmp_path / "state 2"))
    assert "--home" not in plan_install("small", str(share), paths).again
    assert plan_install("small", str(share), other).again.endswith(f"--home '{tmp_path / 'state 2'}'")
