"""How long a warm answer takes on this machine, and what a person can do where that is too long for the cut-off."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from recall.cli.ask import choose
from recall.cli.client import call_warm, current_folder
from recall.cli.index import index
from recall.core.config import load_config
from recall.core.errors import ModelError
from recall.wire.paths import StatePaths

#: Questions that are timed; they differ, for the time depends on a question's length.
QUESTIONS = tuple(
    question
    for number in range(6)
    for question in (
        f"which port does service {number} use?",
        f"サービス{number}はどのポートを使いますか？",
        f"Why did we decide against caching the answers of service {number}, and what must be done to change that?",
        f"Error in service {number}:\n" + "  at handler (/srv/app/handlers.py:17)\n" * 40 + "what is wrong?",
        f"前回のリリース{number}で直したはずの不具合がまた出ています。原因と、次に同じことをしないための決まりを教えてください。",
    )
)
#: The first questions, one of each kind, warm the caches and are not counted.
_WARM_UP = 5
#: Milliseconds of the budget that the hook's own start, the wire and a busy machine may take.
RESERVE_MS = 120
#: A raised cut-off is a multiple of this, and at most MOST_MS.
STEP_MS = 100
MOST_MS = 5000


@dataclass(frozen=True, slots=True)
class Pace:
    """Milliseconds of a warm answer, the middle and the slowest of twenty, and what gives it."""

    p50: float
    p95: float
    model: str
    device: str
    reason: str

    @property
    def needed_ms(self) -> int:
        """The cut-off that this pace needs, a multiple of STEP_MS."""
        return min(MOST_MS, int(-(-(self.p95 + RESERVE_MS) // STEP_MS) * STEP_MS))


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something to do about a pace that is too slow: words for the person, and the setting that does it."""

    words: str
    key: str = ""
    value: str | int = ""


def settle_pace(paths: StatePaths, *, yes: bool) -> None:
    """Show the pace. Where it does not fit the cut-off, let the person choose, until it fits or they keep it."""
    from recall.setup.configfile import set_value

    while True:
        pace = measure_pace(paths)
        config = load_config(Path(paths.config))
        budget = config["hook.budget_ms"]
        print(f"model: {pace.model} on {pace.device} ({pace.reason})")
        print(f"a warm answer takes {pace.p50:.0f} ms (p95 {pace.p95:.0f} ms), the cut-off is {budget} ms", end="")
        if pace.p95 + RESERVE_MS <= budget:
            print(": it fits")
            return
        print()
        found = remedies(pace, budget, config["device"], _others(paths, pace.model))
        question = f"This machine is too slow for {budget} ms: many messages would get nothing."
        chosen = found[choose(question, [remedy.words for remedy in found], yes=yes)]
        if not chosen.key:
            print(f"kept {budget} ms; hook.budget_ms in {paths.config} changes it, then run setup again")
            return
        set_value(Path(paths.home), chosen.key, chosen.value)
        print(f"set {chosen.key} to {chosen.value}")
        if chosen.key == "hook.budget_ms":
            return
        index(paths)  # waits until the daemon answers with the other model


def measure_pace(paths: StatePaths, ask: Callable[..., dict[str, object]] = call_warm) -> Pace:
    """Ask the daemon each of QUESTIONS; it is started where none runs."""
    times = [
        float(str(ask(paths, "query", {"question": question, "cwd": current_folder()})["ms"])) for question in QUESTIONS
    ][_WARM_UP:]
    status = ask(paths, "status")
    return Pace(
        p50=statistics.median(times),
        p95=statistics.quantiles(times, n=20)[-1],
        model=str(status["model"]),
        device=str(status["device"]),
        reason=str(status["device_reason"]),
    )


def remedies(pace: Pace, budget: int, device: str, others: Sequence[str]) -> list[Remedy]:
    """What can be done where a pace is too slow for a cut-off of `budget` ms, the last being nothing.

    `device` is the configured one, `others` name installed models that were measured to be faster.
    """
    found = []
    if pace.needed_ms > budget:
        found.append(Remedy(f"raise the cut-off to {pace.needed_ms} ms", "hook.budget_ms", pace.needed_ms))
    found += [Remedy(f"use the faster model {name}", "model", name) for name in others]
    if device != "auto":
        found.append(Remedy("let recall take the fastest device (auto)", "device", "auto"))
    return [*found, Remedy(f"keep it; `recall models` lists other models and variants than {pace.model}")]


def _others(paths: StatePaths, current: str) -> list[str]:
    """The installed models that are faster than the current one, by what was measured or else by their size."""
    from recall.embed.catalog import known_models
    from recall.models.speeds import load_speeds

    speeds = load_speeds(paths)
    sizes: dict[str, tuple[float, int]] = {}
    for name, manifest in known_models(Path(paths.models)):
        if isinstance(manifest, ModelError) or not manifest.installed:
            continue
        speed = speeds.get(manifest.identity)
        bytes_ = sum(file.bytes for file in manifest.needed(manifest.installed[:1]))
        sizes[name] = (speed.query_ms_p50 if speed else float("inf"), bytes_)
    own = sizes.get(current)
    if own is None:
        return []
    both_measured = {name: size for name, size in sizes.items() if size[0] < own[0] < float("inf")}
    unmeasured = {name: size for name, size in sizes.items() if float("inf") in (size[0], own[0]) and size[1] < own[1]}
    return sorted(both_measured | unmeasured)
