"""A person's own thresholds: kept beside others, over those of the model, and told when the file is wrong."""

from pathlib import Path

import pytest

from recall.core.errors import ConfigError
from recall.embed.catalog import find_model
from recall.embed.gates import read_gates, with_own, write_gates


def test_thresholds_are_kept_beside_others(tmp_path: Path) -> None:
    path = tmp_path / "gates.toml"
    assert read_gates(path) == {}
    write_gates(path, "e5.small", "calibrated", {"some": 0.4, "strong": 0.8})
    write_gates(path, "e5.small", "gap", {"floor": 0.8, "weak": 0.01, "strong": 0.05})
    write_gates(path, "other", "calibrated", {"some": 0.3, "strong": 0.7})
    write_gates(path, "e5.small", "calibrated", {"some": 0.45, "strong": 0.8})
    assert read_gates(path) == {
        "e5.small": {
            "calibrated": {"some": 0.45, "strong": 0.8},
            "gap": {"floor": 0.8, "weak": 0.01, "strong": 0.05},
        },
        "other": {"calibrated": {"some": 0.3, "strong": 0.7}},
    }
    assert path.read_text("utf-8").startswith("# Thresholds that")


def test_they_stand_in_the_place_of_the_models_and_leave_the_rest() -> None:
    manifest = find_model("multilingual-e5-small", None)
    own = with_own(manifest, {manifest.name: {"calibrated": {"some": 0.41, "strong": 0.9}}})
    assert (own.calibration.some, own.calibration.strong) == (0.41, 0.9)
    assert (own.calibration.bias, own.gate, own.identity) == (
        manifest.calibration.bias, manifest.gate, manifest.identity
    )  # fmt: skip
    assert with_own(manifest, {"other": {"calibrated": {"some": 0.41, "strong": 0.9}}}) == manifest


@pytest.mark.parametrize(
    "text",
    [
        "[m.calibrated]\nsome = 0.4\n",
        "[m.calibrated]\nsome = 'x'\nstrong = 1\n",
        "[m.calibrated]\nsome = nan\nstrong = 1\n",
        "[m.calibrated]\nsome = 2.0\nstrong = 2.0\n",
        "[m.calibrated]\nsome = 0.8\nstrong = 0.4\n",
        "[m.another]\nsome = 0.4\nstrong = 1\n",
        "m = 3\n",
        "[m]\ncalibrated = 1\n",
        "[",
    ],
)
def test_a_file_of_thresholds_that_is_wrong_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gates.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"delete it to go back"):
        read_gates(path)
    with pytest.raises(ConfigError, match=r"delete it to go back"):
        write_gates(path, "m", "calibrated", {"some": 0.4, "strong": 0.8})
    assert path.read_text("utf-8") == text
