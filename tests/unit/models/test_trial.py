"""A model counts as installed only when it has embedded a text on this machine: real graphs, real failures."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from recall.cli.main import main
from recall.core.errors import ModelError
from recall.embed.catalog import find_model
from recall.models.install import install, plan_install
from recall.wire.paths import StatePaths
from tiny_model import Shape, tiny_model

MANIFEST = """name = "tiny"
licence = "MIT"
origin = "https://example.org/tiny"
languages = "numbers"
tokenizer = "tokenizer.json"
dimension = 8
pooling = "mean"
query_prefix = "one "
passage_prefix = "two "
max_tokens = 64

[variants.fp32]
devices = ["cpu"]
files = ["model.onnx"]

[variants.fp16]
devices = ["cuda"]
files = ["fp16.onnx"]

[gate]
floor = 0.5
weak = 0.02
strong = 0.1
near = 1
"""


@pytest.fixture
def paths(tmp_path: Path) -> StatePaths:
    return StatePaths(str(tmp_path / "state"))


@pytest.fixture
def share(tmp_path: Path) -> Path:
    folder = tmp_path / "share"
    tiny_model(folder)
    (folder / "fp16.onnx").write_bytes(tiny_model(tmp_path / "fp16", shape=Shape()).variants[0].weights.read_bytes())
    describe(folder)
    return folder


def describe(folder: Path, text: str = MANIFEST) -> None:
    for name in ("tokenizer.json", "model.onnx", "fp16.onnx"):
        content = (folder / name).read_bytes()
        text += f'\n[files."{name}"]\nsha256 = "{hashlib.sha256(content).hexdigest()}"\nbytes = {len(content)}\n'
    (folder / "manifest.toml").write_text(text, "utf-8")


def left(paths: StatePaths) -> set[str]:
    return {path.name for path in Path(paths.models).iterdir() if path.name != ".coreml"}


def junk(name: str) -> Callable[[Path], object]:
    def change(share: Path) -> None:
        (share / name).write_bytes(b"junk" * 100)
        describe(share)

    return change


def says(old: str, new: str) -> Callable[[Path], object]:
    return lambda share: describe(share, MANIFEST.replace(old, new))


def not_a_number(share: Path) -> None:
    """Weights as a broken export leaves them."""
    model = onnx.load(share / "model.onnx")
    (weights,) = [tensor for tensor in model.graph.initializer if tensor.name == "vocabulary"]
    weights.raw_data = b"\xff" * len(weights.raw_data)
    onnx.save(model, share / "model.onnx")
    describe(share)


@pytest.mark.parametrize(
    "change",
    [
        junk("model.onnx"),
        junk("tokenizer.json"),
        says("dimension = 8", "dimension = 9"),
        says("dimension = 8", "dimension = 65536"),
        says('pooling = "mean"', 'pooling = "none"'),
        says("[gate]", '[outputs]\ndense = "nowhere"\n\n[gate]'),
        not_a_number,
    ],
)
def test_a_model_that_does_not_run_is_never_seen(
    paths: StatePaths, share: Path, change: Callable[[Path], object]
) -> None:
    change(share)
    plan = plan_install("tiny", str(share), paths, ["fp32"])
    with pytest.raises(ModelError, match=r"^The model tiny does not work on this machine: .*nothing of it was kept\.$"):
        install(plan)
    assert left(paths) == {".adding-tiny.lock"}


def test_a_model_that_runs_is_installed_from_where_it_was_tried(paths: StatePaths, share: Path) -> None:
    install(plan_install("tiny", str(share), paths, ["fp32"])).verify()
    assert left(paths) == {"tiny", ".adding-tiny.lock"}
    place = Path(paths.models, "tiny")
    number = (place / "model.onnx").stat().st_ino
    both = install(plan_install("tiny", str(share), paths, ["fp16"]))
    both.verify()
    assert [variant.name for variant in both.installed] == ["fp32", "fp16"]
    assert (place / "model.onnx").stat().st_ino == number
    assert left(paths) == {"tiny", ".adding-tiny.lock"}


def test_a_further_variant_that_does_not_run_leaves_what_was_there(paths: StatePaths, share: Path) -> None:
    junk("fp16.onnx")(share)
    before = install(plan_install("tiny", str(share), paths, ["fp32"]))
    with pytest.raises(ModelError, match="what was installed before stays"):
        install(plan_install("tiny", str(share), paths, ["fp16"]))
    assert left(paths) == {"tiny", ".adding-tiny.lock"}
    assert [variant.name for variant in find_model("tiny", Path(paths.models)).installed] == ["fp32"]
    before.verify()


def test_an_end_in_the_middle_of_the_trial_leaves_what_was_there_and_goes_on(
    paths: StatePaths, share: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> None:
        raise KeyboardInterrupt

    install(plan_install("tiny", str(share), paths, ["fp32"]))
    with monkeypatch.context() as patch:
        patch.setattr("recall.models.install.try_out", ended)
        with pytest.raises(KeyboardInterrupt):
            install(plan_install("tiny", str(share), paths, ["fp16"]))
    assert [variant.name for variant in find_model("tiny", Path(paths.models)).installed] == ["fp32"]
    plan = plan_install("tiny", str(share), paths, ["fp16"])
    assert plan.fetch_bytes == 0
    both = install(plan)
    both.verify()
    assert [variant.name for variant in both.installed] == ["fp32", "fp16"]
    assert left(paths) == {"tiny", ".adding-tiny.lock"}


def test_no_model_is_taken_into_use_that_does_not_run(
    paths: StatePaths, share: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(share))
    monkeypatch.setattr("recall.cli.models._answering", lambda _: "the-one-before")
    monkeypatch.setattr("recall.models.cost.missing_vectors", lambda *_: (3, 5))
    install(plan_install("tiny", str(share), paths, ["fp32"]))
    graph = Path(paths.models, "tiny", "model.onnx")
    content = graph.read_bytes()
    graph.write_bytes(bytes(len(content)))
    use = ["models", "use", "tiny", "--no-measure", "--home", paths.home]
    assert main(use) == 1
    assert capsys.readouterr().err.startswith("recall: The model tiny does not work on this machine: ")
    assert not Path(paths.config).exists()
    graph.write_bytes(content)
    assert main(use) == 0
    assert "3 of 5 chunks" in (out := capsys.readouterr().out)
    assert "Until then the-one-before answers" in out
    assert 'model = "tiny"' in Path(paths.config).read_text("utf-8")
