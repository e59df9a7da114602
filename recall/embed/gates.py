"""gates.toml: a person's own thresholds, by model and rule, in the place of those of the model's manifest.

["multilingual-e5-small".calibrated]
some = 0.41
strong = 0.82
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Table

from recall.core.atomic import replace_bytes
from recall.core.errors import ConfigError, RecallError
from recall.embed.manifest import Manifest
from recall.wire.files import NotAFile, read_file

#: The thresholds of each rule that may be set.
NAMES = {"calibrated": ("some", "strong"), "gap": ("floor", "weak", "strong")}

#: Thresholds by model, by rule, by name.
Gates = Mapping[str, Mapping[str, Mapping[str, float]]]

_HEADING = "# Thresholds that `recall eval tune --write` found on your own questions. Delete the file to go back.\n"


def read_gates(path: Path) -> Gates:
    """All thresholds in the file, none where it is missing. Raises ConfigError."""
    try:
        values = tomllib.loads(read_file(path).decode("utf-8"))
    except FileNotFoundError:
        return {}
    except NotAFile as error:
        raise ConfigError(str(error)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read ({error}); mend it, or delete it to go back") from error
    return {model: _rules(path, model, of_model) for model, of_model in values.items()}


def with_own(manifest: Manifest, gates: Gates) -> Manifest:
    """The manifest with the person's thresholds for this model."""
    own: Mapping[str, Mapping[str, Any]] = gates.get(manifest.name, {})
    calibration = replace(manifest.calibration, **own.get("calibrated", {}))
    return replace(manifest, calibration=calibration, gate=replace(manifest.gate, **own.get("gap", {})))


def write_gates(path: Path, model: str, rule: str, values: Mapping[str, float]) -> None:
    """Set the thresholds for a model and rule; what else the file holds, comments too, stays. Raises RecallError."""
    read_gates(path)
    try:
        document = tomlkit.parse(read_file(path).decode("utf-8"))
    except FileNotFoundError:
        document = tomlkit.parse(_HEADING)
    of_model = document.get(model)
    if not isinstance(of_model, Table):
        of_model = tomlkit.table(is_super_table=True)
        document[model] = of_model
    thresholds = tomlkit.table()
    for name in NAMES[rule]:
        thresholds[name] = float(values[name])
    of_model[rule] = thresholds
    try:
        replace_bytes(path, tomlkit.dumps(document).encode("utf-8"), 0o600)
    except OSError as error:
        raise RecallError(f"{path} cannot be written ({error.strerror}); mend the folder and try again") from error


def _rules(path: Path, model: str, rules: Any) -> dict[str, dict[str, float]]:
    if not isinstance(rules, dict):
        rules = {"": rules}
    for rule, found in rules.items():
        names = NAMES.get(rule, ())
        if not isinstance(found, dict) or set(found) != set(names) or not all(map(_is_number, found.values())):
            expected = "; ".join(f"{rule} with {', '.join(names)}" for rule, names in NAMES.items())
            raise ConfigError(
                f"{path}: {model}, {rule}: expected numbers for {expected}; mend it, or delete it to go back"
            )
        lowest, highest = ("some", "strong") if rule == "calibrated" else ("weak", "strong")
        if not found[lowest] <= found[highest] <= 1 or (rule == "calibrated" and found[lowest] < 0):
            raise ConfigError(
                f"{path}: {model}, {rule}: expected {lowest} up to {highest} up to 1, found {found[lowest]:g} and "
                f"{found[highest]:g}; mend it, or delete it to go back"
            )
    return {rule: {name: float(value) for name, value in found.items()} for rule, found in rules.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
