"""`recall setup`: makes recall ready on this machine and registers the hook in the settings of its coding agents."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recall.cli.ask import confirm
from recall.cli.client import current_folder
from recall.cli.index import index, summary
from recall.cli.pace import settle_pace
from recall.core.config import load_config
from recall.core.errors import ModelError, RecallError, SettingsError, UsageError
from recall.sources.agents import HOMES, AgentName
from recall.wire.paths import StatePaths, make_private_folder, state_home

if TYPE_CHECKING:
    from recall.models.install import Plan
    from recall.setup.entries import HookEntry
    from recall.setup.places import HookFile

HELP = "index your notes and register the hook in the settings of Claude Code, Codex, Qwen Code or Gemini CLI"

#: The devices that `--device` takes.
DEVICES = ("auto", "cpu", "cuda", "coreml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would be done and change nothing")
    parser.add_argument(
        "--agent",
        action="append",
        type=_names,
        metavar="NAME",
        help=f"whose hooks: {', '.join(HOMES)}, several with commas (default: those that are here, asked first)",
    )
    parser.add_argument(
        "--session-start",
        action=argparse.BooleanOptionalAction,
        help="also answer the begin of a session (default: leave it as it is)",
    )
    parser.add_argument("--model", metavar="NAME", help="use this model; one that is not here is offered as a download")
    parser.add_argument(
        "--device", choices=DEVICES, help="what the model runs on (default auto: the fastest that works)"
    )
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user", help="which settings.json (default user)"
    )
    parser.add_argument("--yes", action="store_true", help="answer every question with yes")


def _names(text: str) -> list[AgentName]:
    """The agents of a list with commas."""
    words = [word.strip() for word in text.split(",")]
    if unknown := [word for word in words if word not in HOMES]:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(HOMES)}, found {unknown[0]!r}")
    return [name for name in HOMES if name in words]


def run(arguments: argparse.Namespace) -> int:
    from recall.cli.agents import by_hand, choose_agents, say_rest, target
    from recall.sources.agents import agent_folder

    paths = StatePaths(state_home(arguments.home))
    claude = agent_folder("claude", os.environ)
    _check_device(arguments.device)
    model = arguments.model or load_config(Path(paths.config))["model"]
    download = _download(model, paths)
    chosen = {key: value for key in ("model", "device") if (value := getattr(arguments, key)) is not None}
    named = [name for names in arguments.agent or [] for name in names]
    if arguments.scope == "project":
        named = named or ["claude"]
    agents, unasked = choose_agents(named, ask=not arguments.dry_run, yes=arguments.yes)
    files = [target(agent, arguments.scope, current_folder()) for agent in agents]
    written = {file: words for file in files if (words := by_hand(file))}
    additions, refused = _planned(paths, [file for file in files if file not in written], arguments.session_start)
    if refused and not additions and not written:
        if not arguments.dry_run and download is None:  # so that what the error says to paste works once it is pasted
            make_private_folder(paths.home)
            _prepare(paths, claude, chosen)
            _write_launcher(paths)
        raise SettingsError("\n".join(refused))
    if arguments.dry_run:
        print(f"would use the state folder {paths.home} and the model {model}")
        if download:
            print(f"would ask before it fetches {download.fetch_bytes / 1e6:.0f} MB from {download.words}")
        print(f"would index the notes under {claude}, and what other agents keep")
        for file, addition in additions:
            print(f"would add this to {file.path}:\n{addition}" if addition else f"{file.path} already calls recall")
        print(*written.values(), sep="\n", end="\n" * bool(written))
    else:
        if download:
            _fetch(download, yes=arguments.yes)
        _set_up(paths, claude, chosen, yes=arguments.yes)
        for file, _ in additions:
            _register(paths, file, arguments.session_start)
        if written:  # what a person has written may name the launcher
            _write_launcher(paths)
        print(*written.values(), sep="\n", end="\n" * bool(written))
        say_rest([*(file for file, _ in additions), *written])
    if unasked:
        print(f"also here: {', '.join(a.title for a in unasked)}; add with `recall setup --agent {unasked[0].name}`")
    _name_others(claude)
    if refused:
        raise SettingsError("\n".join(refused))
    return 0


def _set_up(paths: StatePaths, claude: Path, chosen: Mapping[str, str], *, yes: bool) -> None:
    """Everything but the hook: the state folder, the configuration, the index and the pace."""
    make_private_folder(paths.home)
    _prepare(paths, claude, chosen)
    print(f"state folder {paths.home}")
    print(f"index: {summary(index(paths))}")
    settle_pace(paths, yes=yes)


def _name_others(claude: Path) -> None:
    """Say which other programs are called recall here, and what else answers the same messages."""
    from recall.setup.launcher import own_program
    from recall.setup.others import notices

    folder = current_folder()
    for line in notices(own_program(), claude, Path(folder) if folder else None, os.environ, sys.platform):
        print(line)


def _check_device(device: str | None) -> None:
    """Refuse a device that this machine's onnxruntime knows nothing of, before anything is changed."""
    from recall.models.variants import devices_here

    if device not in (None, "auto") and device not in devices_here():
        raise UsageError(
            f"expected one of the devices auto, {', '.join(devices_here())} that this recall can use here, not {device}"
        )


def _download(name: str, paths: StatePaths) -> "Plan | None":
    """What has to be fetched before the model can be used, None where it is here. Raises ModelError."""
    from recall.embed.catalog import find_model, known_models
    from recall.models.install import plan_install

    try:
        find_model(name, Path(paths.models))
    except ModelError:
        known = dict(known_models(Path(paths.models))).get(name)
        if known is None or isinstance(known, ModelError):
            raise
        if not all(file.bytes and file.sha256 for file in known.files.values()):
            raise ModelError(  # to plan it would ask the hub, before anybody has said yes
                f"{name} is not on this machine; run `recall models add {name}`, then setup again"
            ) from None
        plan = plan_install(name, None, paths)
        if plan.is_done:  # it is here, but not as it should be
            raise
        return plan
    return None


def _fetch(plan: "Plan", *, yes: bool) -> None:
    """Show what a model means and fetch it if the person says yes. Raises ModelError when they do not."""
    from recall.cli.models import ByteLine, describe
    from recall.models.install import install

    print(describe(plan))
    hint = f"`recall models add {plan.name} --accept-terms` says yes"
    agreed = not plan.terms or confirm(f"Have you read {plan.terms}, and do you accept these terms?", hint=hint)
    if not agreed or not confirm(f"Fetch {plan.fetch_bytes / 1e6:.0f} MB from {plan.words}?", yes=yes):
        raise ModelError(
            f"nothing was fetched and nothing changed; `recall models add {plan.name}` brings the model, "
            "and setup without --model uses the one that comes with recall"
        )
    with ByteLine() as line:
        install(plan, line.show)
    print(f"installed {plan.name}")


def _planned(
    paths: StatePaths, files: Sequence["HookFile"], start: bool | None
) -> tuple[list[tuple["HookFile", str | None]], list[str]]:
    """What has to be added to each settings file, None when it stands there; and of those that cannot be edited why,
    with what to paste."""
    from recall.setup.launcher import hook_entry
    from recall.setup.registration import read_settings
    from recall.setup.settings import plan_register, snippet

    entry = hook_entry(Path(paths.home), load_config(Path(paths.config))["hook.budget_ms"])
    additions: list[tuple[HookFile, str | None]] = []
    refused = []
    for file in files:
        text = snippet(entry, file.agent, start=bool(start))
        try:
            raw = read_settings(file.path)
            changes = plan_register(raw, entry, file.agent, start=start) is not None
        except SettingsError as error:
            refused.append(f"{file.path}: {error}\nOr add this by hand:\n{text}")
        else:
            additions.append((file, text if changes else None))
    return additions, refused


def _prepare(paths: StatePaths, claude: Path, chosen: Mapping[str, str]) -> None:
    """The configuration, with the Claude folder of this setup and the settings that were chosen."""
    from recall.setup.configfile import ensure_agent_folders, ensure_config, set_value

    home = Path(paths.home)
    for done in [*ensure_config(home, claude), *ensure_agent_folders(home, os.environ)]:
        print(done)
    for key, value in chosen.items():
        if value != load_config(Path(paths.config))[key]:
            set_value(home, key, value)
            print(f"set {key} to {value}")


def _write_launcher(paths: StatePaths) -> "HookEntry":
    """The entry to register; the launcher that it names is written where one is used."""
    from recall.setup.launcher import hook_entry, launcher_path, write_launcher

    home = Path(paths.home)
    entry = hook_entry(home, load_config(Path(paths.config))["hook.budget_ms"])
    if entry.command == str(launcher_path(home)):
        write_launcher(home)
    return entry


def _register(paths: StatePaths, file: "HookFile", start: bool | None) -> None:
    """Write the launcher where one is used, and the entry that names it."""
    from recall.setup.registration import entry_in, register, unregister

    entry = _write_launcher(paths)
    home = Path(paths.home)
    before = entry_in(file.path, file.agent)
    outcome = register(file.path, entry, home, file.agent, start=start)
    if not Path(entry.command).exists():  # an uninstall has run meanwhile, and found no entry to take out
        unregister(file.path, home, file.agent)
        raise RecallError(f"{entry.command} was removed while setup ran; install recall and run setup again")
    words = {"added": "registered the hook in", "updated": "updated the hook in", "unchanged": "the hook stands in"}
    print(f"{words[outcome.action]} {file.path}" + (f"; the old file: {outcome.backup}" if outcome.backup else ""))
    if file.agent.todo and outcome.action != "unchanged":
        print(file.agent.todo)
    if before and before.home and os.path.realpath(before.home) != os.path.realpath(home):
        print(f"it called recall with the state folder {before.home} until now")
