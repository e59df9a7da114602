"""The model: that its files are here, whole and of use, and that it runs on the device that was asked for."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from recall.core.errors import ModelError
from recall.doctor.case import Case, Finding
from recall.doctor.kinds import Kind, misplaced
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.manifest import BUNDLED
from recall.models.variants import devices_here
from recall.text.clean import one_line


def model(case: Case) -> Iterator[Finding]:
    """Whether every file of the configured model has its checksum, and whether it can be used. It is read whole: a
    second for 500 MB or less."""
    name = case.config["model"]
    paths = case.paths
    kinds: dict[Path, tuple[Kind, str]] = {
        Path(paths.models): ("folder", "no other model can be used than the one that comes with recall"),
        Path(paths.everyday): ("folder", "each start of a daemon takes its time anew"),
    }
    yield from misplaced("model", kinds)
    try:
        wrong = case.model_troubles
    except ModelError as error:
        yield Finding("model", "problem", "missing", str(error), "until then another model answers, if one can")
        return
    for problem in wrong:
        yield Finding("model", "problem", "damaged", problem, "until then another model answers, if one can")
    if not wrong and (trouble := trouble_in_use(case)):
        yield Finding("model", "problem", "unusable", trouble, "until then another model answers, if one can")
    elif not wrong:
        yield Finding("model", "ok", "ok", f"{name}: every file has its checksum")


def is_usable(case: Case) -> bool:
    """Whether the configured model is here, whole, and can be used."""
    try:
        return not case.model_troubles and not trouble_in_use(case)
    except ModelError:
        return False


def trouble_in_use(case: Case) -> str:
    """Why a model of the person's own cannot be used, "" where it can. What comes with recall, and what a daemon runs
    at this moment, need no trial, which takes a second and as much memory as the model."""
    name = case.config["model"]
    if name == BUNDLED or (case.serve.says or {}).get("model") == name:
        return ""
    return _tried(case.paths.models, name, case.now)


@lru_cache(maxsize=1)
def _tried(models: str, name: str, now: float) -> str:
    """`now` tells one examination from another: several checks of one ask."""
    try:
        Embedder(find_model(name, Path(models)), device="cpu").embed_query("a")
    except ModelError as error:
        return one_line(str(error))
    except Exception as error:  # what a file that is no model for texts makes of the libraries
        said = one_line(str(error)).partition(". ")[0]
        return f"{name} cannot be run ({type(error).__name__}: {said}); add it again with `recall models add {name}`"
    return ""


def device(case: Case) -> Iterator[Finding]:
    """Whether the model runs where the configuration wants it."""
    wanted = case.config["device"]
    says = case.serve.says or {}
    verdicts = case.home / "devices.json"
    yield from misplaced("device", {verdicts: ("file", "each start tries the devices anew")})
    yield judge_device(wanted, devices_here(), says.get("device"), says.get("device_reason"))


def judge_device(wanted: str, here: tuple[str, ...], runs_on: str | None, reason: str | None) -> Finding:
    """What to say of a device: `here` are those that onnxruntime knows, `runs_on` the daemon's, in words, None where
    none has its model. A pure decision."""
    facts: dict[str, int | float | str] = {"wanted": wanted, "here": "/".join(here)}
    if wanted not in ("auto", *here):
        found = f'device = "{wanted}" is configured, and this onnxruntime knows only {", ".join(here)}'
        return Finding("device", "problem", "unknown", found, 'set device = "auto"', None, facts)
    if wanted not in ("auto", "cpu") and runs_on and runs_on.startswith("CPU"):
        found = f'device = "{wanted}" is configured, and the daemon fell back to {runs_on} ({reason})'
        return Finding("device", "problem", "fell-back", found, 'mend that, or set device = "auto"', None, facts)
    found = f"{runs_on} ({reason})" if runs_on else f"{wanted}; no daemon has its model"
    return Finding("device", "ok", "ok", found, facts=facts)
