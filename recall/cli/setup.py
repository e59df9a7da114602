"""`recall setup`: makes recall ready on this machine and registers the hook in Claude Code's settings."""

import argparse
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from recall.cli.client import call_warm, current_folder
from recall.cli.index import index, summary
from recall.core.config import load_config
from recall.core.errors import SettingsError
from recall.wire.paths import StatePaths, make_private_folder, state_home

if TYPE_CHECKING:
    from recall.setup.settings import HookEntry

HELP = "index your notes and register the hook in Claude Code's settings.json"

#: Questions that are timed; they differ, for the time depends on a question's length.
TIMED_QUESTIONS = tuple(
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
#: Milliseconds of the budget that the hook's own start, the wire and a busy machine may take.
RESERVE_MS = 120
#: A raised cut-off is a multiple of this.
STEP_MS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would be done and change nothing")
    parser.add_argument("--model", metavar="NAME", help="use this model")
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user", help="which settings.json (default user)"
    )
    parser.add_argument("--yes", action="store_true", help="answer every question with yes")


def run(arguments: argparse.Namespace) -> int:
    from recall.embed.catalog import find_model
    from recall.setup.settings import settings_path

    paths = StatePaths(state_home(arguments.home))
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser()
    settings = settings_path(arguments.scope, claude, Path(current_folder() or "."))
    model = find_model(arguments.model or load_config(Path(paths.config))["model"], Path(paths.models))
    try:
        addition = _planned(paths, settings)
    except SettingsError:
        if not arguments.dry_run:  # so that what the error says to paste works once it is pasted
            make_private_folder(paths.home)
            _prepare(paths, claude, arguments.model)
            _write_launcher(paths)
        raise
    if arguments.dry_run:
        print(f"would use the state folder {paths.home} and the model {model.name}")
        print(f"would index the notes under {claude}")
        print(f"would add this to {settings}:\n{addition}" if addition else f"{settings} already calls recall")
        return 0

    make_private_folder(paths.home)
    _prepare(paths, claude, arguments.model)
    print(f"state folder {paths.home}, model {model.name}")
    print(f"index: {summary(index(paths))}")
    _measure(paths, agreed=lambda question: arguments.yes or _ask(question))
    _register(paths, settings)
    print("recall answers from the next message that you type into Claude Code; `recall status` shows what it does")
    return 0


def _planned(paths: StatePaths, settings: Path) -> str | None:
    """What has to be added to settings.json, None when it stands there. Raises SettingsError with what to paste."""
    from recall.setup.launcher import hook_entry
    from recall.setup.registration import read_settings
    from recall.setup.settings import plan_register, snippet

    entry = hook_entry(Path(paths.home), load_config(Path(paths.config))["hook.budget_ms"])
    raw = read_settings(settings)
    try:
        return snippet(entry) if plan_register(raw, entry) is not None else None
    except SettingsError as error:
        raise SettingsError(f"{settings}: {error}\nOr add this by hand:\n{snippet(entry)}") from None


def _prepare(paths: StatePaths, claude: Path, model: str | None) -> None:
    """The configuration, with the Claude folder and the model of this setup."""
    from recall.setup.configfile import ensure_config, set_value

    for done in ensure_config(Path(paths.home), claude):
        print(done)
    if model and model != load_config(Path(paths.config))["model"]:
        set_value(Path(paths.home), "model", model)
        print(f"set model to {model}")


def _measure(paths: StatePaths, agreed: Callable[[str], bool]) -> None:
    """Show how long an answer takes on this machine, and offer a higher cut-off where the usual one is too short."""
    from recall.setup.configfile import set_value

    times = [
        float(call_warm(paths, "query", {"question": question, "cwd": current_folder()})["ms"])
        for question in TIMED_QUESTIONS
    ][5:]  # the first ones warm the caches
    middle, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    device = call_warm(paths, "status")["device"]
    budget = load_config(Path(paths.config))["hook.budget_ms"]
    print(f"device: {device}; a warm answer takes {middle:.0f} ms (p95 {slow:.0f} ms), the cut-off is {budget} ms")
    needed = slow + RESERVE_MS
    if needed <= budget:
        return
    higher = int(-(-needed // STEP_MS) * STEP_MS)
    if agreed(f"This machine is too slow for {budget} ms: many messages would get nothing. Raise it to {higher} ms?"):
        set_value(Path(paths.home), "hook.budget_ms", higher)
        print(f"set hook.budget_ms to {higher}")
    else:
        print(f"kept {budget} ms; hook.budget_ms in {paths.config} changes it, then run setup again")


def _write_launcher(paths: StatePaths) -> "HookEntry":
    """The entry to register; the launcher that it names is written where one is used."""
    from recall.setup.launcher import hook_entry, launcher_path, write_launcher

    home = Path(paths.home)
    entry = hook_entry(home, load_config(Path(paths.config))["hook.budget_ms"])
    if entry.command == str(launcher_path(home)):
        write_launcher(home)
    return entry


def _register(paths: StatePaths, settings: Path) -> None:
    """Write the launcher where one is used, and the entry that names it."""
    from recall.setup.registration import entry_in, register

    entry = _write_launcher(paths)
    before = entry_in(settings)
    outcome = register(settings, entry, Path(paths.home))
    words = {"added": "registered the hook in", "updated": "updated the hook in", "unchanged": "the hook stands in"}
    print(f"{words[outcome.action]} {settings}" + (f"; the old file: {outcome.backup}" if outcome.backup else ""))
    if before and before.home not in (None, paths.home):
        print(f"it called recall with the state folder {before.home} until now")


def _ask(question: str) -> bool:
    """A yes or no from the person; no where nobody can be asked."""
    if not sys.stdin.isatty():
        print(f"{question} (nobody to ask: no; --yes says yes)")
        return False
    while True:
        answer = input(f"{question} [y/n] ").strip().casefold()
        if answer in ("y", "yes", "n", "no"):
            return answer.startswith("y")
