"""The model: that its files are here and whole, and that it runs on the device that was asked for."""

from collections.abc import Iterator

from recall.core.errors import ModelError
from recall.doctor.case import Case, Finding
from recall.models.variants import devices_here


def model(case: Case) -> Iterator[Finding]:
    """Whether every file of the configured model has its checksum. It is read whole: a second for 500 MB or less."""
    name = case.config["model"]
    try:
        wrong = case.model_troubles
    except ModelError as error:
        yield Finding("model", "problem", "missing", str(error), "until then another model answers, if one can")
        return
    for problem in wrong:
        yield Finding("model", "problem", "damaged", problem, "until then another model answers, if one can")
    if not wrong:
        yield Finding("model", "ok", "ok", f"{name}: every file has its checksum")


def device(case: Case) -> Iterator[Finding]:
    """Whether the model runs where the configuration wants it."""
    wanted = case.config["device"]
    says = case.serve.says or {}
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
