"""`recall status`: what is set up, what the daemon does, what the index holds, what the hook did. Starts nothing."""

import argparse
import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall.cli.client import call, current_folder
from recall.core.config import Config, load_config
from recall.core.errors import ConfigError, DaemonError, DaemonUnreachable, RecallError, ShareError
from recall.core.types import KINDS, SHARED
from recall.text.clean import one_line
from recall.version import VERSION
from recall.wire.files import NotAFile
from recall.wire.lock import HeldLock
from recall.wire.paths import StatePaths, state_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.store.views import Share

HELP = "show the daemon, the index and what the hook did in the last 24 hours"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    found = status(StatePaths(state_home(arguments.home)))
    print(json.dumps(found, ensure_ascii=False, indent=1) if arguments.json else _text(found))
    return 0


def status(paths: StatePaths) -> dict[str, Any]:
    """Everything that `status --json` prints (DESIGN.md, section 5)."""
    problem = None
    try:
        config = load_config(Path(paths.config))
        config.claude_folders(os.environ)
    except ConfigError as error:
        config, problem = Config(), str(error)
    serve = _serve(paths)
    model, index = _index(paths, config["model"], serve.get("identity"))
    return {
        "home": paths.home,
        "setup": Path(paths.config).exists(),
        "version": VERSION,
        "model": model,
        "wanted_model": config["model"] if problem is None else None,
        "device": serve.get("device"),
        "problem": problem or serve.get("problem") or index.pop("problem", None),
        "serve": serve,
        "index": index,
        "hook": _hook(paths, config),
        "share": _share(paths),
    }


def _serve(paths: StatePaths) -> dict[str, Any]:
    """The daemon's own words, or why there are none."""
    nothing = {"counts": {"memory": 0, "knowledge": 0, "conversation": 0}, "pending": 0, "pid": None, "rss_mb": None}
    try:
        answer: dict[str, Any] = call(paths, "status", timeout=5.0)  # the one that answers may have lost its lock
    except DaemonUnreachable:
        try:
            state = "unreachable" if HeldLock.is_held(paths.daemon_lock) else "stopped"
        except NotAFile as error:
            return {"ok": False, "state": "stopped", "problem": str(error)} | nothing
        return {"ok": False, "state": state} | nothing
    except DaemonError:
        return {"ok": False, "state": "unreachable"} | nothing
    return {"ok": answer["state"] != "failed"} | answer


def _index(paths: StatePaths, wanted: str, answering: str | None) -> tuple[str | None, dict[str, Any]]:
    """The identity of the model that answers, or without a daemon would, and what the index file holds of it."""
    from recall.embed.catalog import find_model
    from recall.store.reader import Reader

    empty: dict[str, Any] = {
        "bytes": 0,
        "documents": {},
        "projects": [],
        "pending": 0,
        "left_out": {},
        "damaged_lines": 0,
        "masked": {},
        "skipped": [],
        "damaged": None,
    }
    reader, identity, problem = Reader(Path(paths.index)), answering, None
    try:
        try:
            identity = answering or find_model(wanted, Path(paths.models)).identity
        except RecallError as error:
            problem, rows = str(error), reader.rows_by_model()
            if not rows:
                return None, empty | {"problem": problem}
            identity = max(rows, key=lambda other: rows[other])  # whose share of the index would be searched
        found = reader.summary(identity)
    except RecallError as error:
        return identity, empty | {"problem": str(error)}
    finally:
        reader.close()
    return identity, ({"problem": problem} if problem else {}) | {
        "bytes": found.bytes,
        "documents": {kind: found.documents.get(kind, 0) for kind in KINDS},
        "projects": _by_project(found.shares),
        "pending": found.pending,
        "left_out": dict(found.left_out),
        "damaged_lines": found.damaged_lines,
        "masked": dict(found.masked),
        "skipped": [asdict(item) for item in found.skipped],
        "damaged": str(found.damaged) if found.damaged else None,
    }


def _share(paths: StatePaths) -> dict[str, Any] | None:
    """How the exchange with the team stands, None where there is no team."""
    from recall.replica.membership import read_membership
    from recall.share.report import standing

    try:
        member = read_membership(Path(paths.share))
        return None if member is None else standing(paths, member).fields
    except ShareError as error:
        return {"problem": str(error)}


def _by_project(shares: "Sequence[Share]") -> list[dict[str, Any]]:
    """Documents and rows of each project by kind; the shared records stand first, under the name `shared`."""
    found: dict[str, dict[str, Any]] = {}
    for share in sorted(shares, key=lambda share: share.project.key):
        name = share.project.name if share.project.key != SHARED else "shared"
        place = found.setdefault(share.project.key, {"name": name, "path": share.project.key})
        place[share.kind] = {"documents": share.documents, "rows": share.rows}
    return list(found.values())


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(counts.items(), key=lambda item: -item[1]))


def _hook(paths: StatePaths, config: Config) -> dict[str, Any]:
    """Whether some settings file calls this state folder's hook, and the last day's outcomes."""
    from recall.daemon.journal import last_day
    from recall.setup.agents import CLAUDE
    from recall.setup.places import hook_files
    from recall.setup.registration import entry_in, read_settings
    from recall.setup.settings import hooks_disabled

    calls = disabled = False
    missing = None
    for agent, file in hook_files(Path(paths.home), _claude_folders(config), os.environ, current_folder()):
        try:
            entry = entry_in(file, agent)
            off = hooks_disabled(read_settings(file) or b"", agent)
            disabled = disabled or (off and (agent is CLAUDE or entry is not None))
        except RecallError:
            continue  # `recall setup` says what is wrong with that file
        if entry and entry.home in (None, paths.home):
            calls = True
            if not os.access(entry.command, os.X_OK):
                missing = entry.command
    day = last_day(Path(paths.injections), Path(paths.hook_log), time.time())
    return {
        "registered": calls,
        "enabled": config["enabled"],
        "disabled": disabled,
        "missing": missing,
        "last_24h": asdict(day),
    }


def _claude_folders(config: Config) -> list[Path]:
    try:
        return config.claude_folders(os.environ)
    except ConfigError:
        return []  # said under `problem`


def _state_of_hook(hook: dict[str, Any]) -> str:
    """In words: what a person has to know before they wonder why nothing comes."""
    if not hook["registered"]:
        return "not registered: run `recall setup`"
    if hook["missing"]:
        return f"registered, but {one_line(hook['missing'])} is missing: run `recall setup`"
    if hook["disabled"]:
        return "registered, but disableAllHooks is set in Claude Code's settings"
    return "registered" if hook["enabled"] else "registered, but switched off: enabled = false in config.toml"


def _switch(found: dict[str, Any]) -> str:
    """That another model is wanted than the one that answers."""
    serve, wanted = found["serve"], found["wanted_model"]
    if not serve.get("identity") or wanted is None or (wanted == serve["model"] and not serve["coming_model"]):
        return ""
    if wanted == serve["model"]:
        wanted = "another version of it"
    if found["problem"]:
        return f" answers, in place of {wanted}"
    progress = serve["progress"] or {"chunks_done": 0, "chunks_total": 0}
    done = f"{progress['chunks_done']} of {progress['chunks_total']} chunks" if progress["chunks_total"] else "soon"
    return f" answers until {wanted} is there ({done})"


def _text(found: dict[str, Any]) -> str:
    """The same for people."""
    from recall.share.report import in_words

    serve, index, hook = found["serve"], found["index"], found["hook"]
    day = hook["last_24h"]
    daemon = serve["state"]
    if serve["pid"]:
        daemon += f", process {serve['pid']}, {serve['rss_mb']:.0f} MB, {found['device'] or 'no device yet'}"
    documents = ", ".join(f"{count} {kind}" for kind, count in index["documents"].items() if count) or "no records"
    silent = _counts(day["silent"]) or "none"
    lines = [
        f"recall {found['version']}, state folder {found['home']}",
        f"model    {found['model'] or 'none'}{_switch(found)}",
        f"daemon   {daemon}",
        f"index    {documents}, {index['pending']} pending, {index['bytes'] / 1e6:.1f} MB",
        f"hook     {_state_of_hook(hook)}",
        f"24 hours {day['asked']} asked, {day['shown']} shown, {day['timeouts']} time-outs; silent: {silent}",
    ]
    if serve.get("device_reason"):
        lines.insert(3, f"device   {one_line(serve['device_reason'])}")
    for project in index["projects"]:
        kinds = {
            kind: project[kind]["documents"] for kind in ("memory", "knowledge", "conversation") if kind in project
        }
        lines.append(f"           {one_line(project['name'])}: {_counts(kinds)}")
    if index["left_out"] or index["damaged_lines"]:
        damaged = f"; {index['damaged_lines']} damaged lines" if index["damaged_lines"] else ""
        lines.append(f"left out {_counts(index['left_out']) or 'no'} sessions{damaged}")
    if index["masked"]:
        lines.append(f"masked   {_counts(index['masked'])}")
    if share := found["share"]:
        lines.append(f"sharing  {one_line(share.get('problem') or in_words(share))}")
    if found["problem"]:
        lines.append(f"problem  {found['problem']}")
    if index["damaged"]:
        lines.append(f"damaged  an earlier index was set aside as {index['damaged']}; delete it when you like")
    if index["skipped"]:
        lines.append(f"skipped  {len(index['skipped'])} files:")
        lines += [f"           {one_line(item['path'])}: {one_line(item['reason'])}" for item in index["skipped"]]
    return "\n".join(lines)
