"""Installing a model: a plan that says what it costs, then all files checked in a folder aside, then one rename."""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit

from recall.core.atomic import replace_bytes
from recall.core.errors import ModelError
from recall.embed.catalog import find_model
from recall.embed.manifest import BUNDLED, Manifest, ModelFile
from recall.embed.manifest_file import NAME, parse_manifest
from recall.models.disk import check_space, disk_errors, free_bytes
from recall.models.failures import CutOff
from recall.models.find import command, find_source, own_manifest
from recall.models.places import adding, staging_folder
from recall.models.publish import complete, publish, restore
from recall.models.sources import Source
from recall.models.trial import try_out
from recall.models.variants import choose, devices_here
from recall.text.clean import one_line
from recall.wire.paths import StatePaths, make_private_folder

#: Called with the bytes that are in place and those that shall be.
Progress = Callable[[int, int], None]


class Unusable(ModelError):
    """What came is not the file that the manifest means, or no model that runs here. Nothing of it is kept then."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What adding a model would do. Nothing is made or changed by planning.

    `variants` are the names of those that will be installed, `files` what they consist of. Of these `fetch_bytes` have
    still to come, none when it `is_done`; `free_bytes` are free on the disk. `words` say what the source is, `text` is
    the manifest as the source has it. `again` is the command that plans the same once more, without a password.
    """

    name: str
    licence: str
    terms: str
    words: str
    variants: tuple[str, ...]
    files: tuple[ModelFile, ...]
    fetch_bytes: int
    free_bytes: int
    is_done: bool
    manifest: Manifest
    text: str
    source: Source
    models: Path
    again: str

    @property
    def total_bytes(self) -> int:
        """The size of all that is then installed."""
        return sum(file.bytes for file in self.files)


def plan_install(name: str, source: str | None, paths: StatePaths, variants: Sequence[str] = ()) -> Plan:
    """What `recall models add NAME` would do; asks an address for its manifest, the hub for sizes that none states.

    `source`: "hub", an address, a folder, None for the usual one. `variants`: names, none for what suits this machine;
    those that are installed stay. Installed files are read (a second for 500 MB): a damaged one has to come again.
    Raises ModelError, also when the disk is too small.
    """
    if not NAME.fullmatch(name):
        raise ModelError(f"A model's name should be letters, digits, dots, dashes and underscores, not {name!r}.")
    if name == BUNDLED:
        find_model(name, None)  # where its files are not there, that says what to do
        raise ModelError(f"{name} comes with recall and is always there; `recall models use {name}` takes it.")
    models = Path(paths.models).absolute()
    text, origin = find_source(name, source, models)
    manifest = _parse(text, name, models / name, origin)
    again = command(name, source, variants, paths.home)
    if manifest.name != name:
        raise ModelError(
            f"{origin.words} has the model {manifest.name}, not {name}; run "
            f"`{command(manifest.name, source, variants, paths.home)}`."
        )
    unknown = [file for file in manifest.files.values() if not (file.sha256 and file.bytes)]
    manifest = replace(manifest, files={**manifest.files, **origin.facts(unknown)})
    chosen = choose(manifest, variants, devices_here(), origin.offered(manifest))
    own = own_manifest(name, models)
    kept = {variant.name for variant in own[1].installed} if own else set()
    wanted = tuple(variant for variant in manifest.variants if variant in chosen or variant.name in kept)
    # A file whose checksum no one states has to come in any case: the model's identity may hang on it.
    nameless = tuple(file for file in manifest.files.values() if not file.sha256)
    files = tuple(dict.fromkeys((*manifest.needed(wanted), *nameless)))
    missing = [file for file in files if not _is(file.path, file)]
    origin.check(missing if chosen else manifest.needed(manifest.variants))
    fetch_bytes = sum(file.bytes - _already(staging_folder(models, name), file) for file in missing)
    free = free_bytes(models)
    check_space(name, fetch_bytes, free)
    return Plan(
        name=name,
        licence=one_line(manifest.licence),
        terms=one_line(manifest.terms),
        words=origin.words,
        variants=tuple(variant.name for variant in wanted),
        files=files,
        fetch_bytes=fetch_bytes,
        free_bytes=free,
        is_done=not missing and own is not None and own[1] == manifest,
        manifest=manifest,
        text=text,
        source=origin,
        models=models,
        again=again,
    )


def install(plan: Plan, progress: Progress = lambda done, total: None) -> Manifest:
    """Bring and check all files, then let the model be seen; the manifest as it is installed.

    What has come stays when it is interrupted in whatever way, and is not fetched again. A model that was there stays
    in use until the new one is whole and has embedded a text here. Raises ModelError.
    """
    place, staging = plan.models / plan.name, staging_folder(plan.models, plan.name)
    with disk_errors(plan.again, plan.models):
        for folder in (plan.models.parent, plan.models):
            make_private_folder(str(folder))
        with adding(plan.models, plan.name):
            restore(place)
            make_private_folder(str(staging))
            try:
                _sweep(staging, plan.files)
                known = _bring_all(plan, staging, progress)
                text = _with_facts(plan.text, known.values())
                manifest = parse_manifest(text, place)
                replace_bytes(staging / "manifest.toml", text.encode(), 0o600)
                _try_out(plan, parse_manifest(text, staging), staging)
                publish(staging, place, manifest, plan.files)
            except Unusable:
                shutil.rmtree(staging)
                raise
            finally:
                with contextlib.suppress(OSError):  # it is not empty, or no longer there
                    staging.rmdir()
    return manifest


def _parse(text: str, name: str, place: Path, origin: Source) -> Manifest:
    try:
        manifest = parse_manifest(text, place, complete=False)
    except (ValueError, KeyError, RecursionError) as error:
        reason = f"the field {error.args[0]} is missing" if isinstance(error, KeyError) else one_line(str(error))
        raise ModelError(f"The manifest of {name} from {origin.words} cannot be used ({reason}).") from None
    return manifest


def _bring_all(plan: Plan, staging: Path, progress: Progress) -> dict[Path, ModelFile]:
    """Every file of the plan that is not in its place, checked, into `staging`; the manifest's files with checksums."""
    known = dict(plan.manifest.files)
    before, total = 0, plan.total_bytes
    for file in plan.files:
        if not (_is(staging / file.path.name, file) or _is(file.path, file)):

            def reached(size: int, before: int = before) -> None:
                progress(before + size, total)

            part = _part(staging, file)
            try:
                plan.source.bring(file, part, reached)
            except CutOff as error:
                raise ModelError(f"{str(error).removesuffix('.')}: `{plan.again}` goes on from there.") from None
            known[file.path] = _checked(part, file, plan)
            part.replace(staging / file.path.name)
        before += file.bytes
        progress(before, total)
    return known


def _try_out(plan: Plan, manifest: Manifest, staging: Path) -> None:
    """Load the model from where it is still out of sight. Raises Unusable."""
    fresh = {file.name for file in staging.iterdir()}
    complete(staging, plan.files)
    variants = tuple(variant for variant in manifest.installed if fresh & {path.name for path in variant.files})
    try:
        try_out(manifest, variants, plan.models.parent)
    except ModelError as error:
        own = own_manifest(plan.name, plan.models)
        stays = "what was installed before stays" if own and own[1].installed else "nothing of it was kept"
        raise Unusable(f"{str(error).removesuffix('.')}; it came from {plan.words}, and {stays}.") from None


def _checked(part: Path, file: ModelFile, plan: Plan) -> ModelFile:
    """The file with its checksum, brought to the disk. Raises Unusable."""
    with part.open("r+b") as opened:
        os.fsync(opened.fileno())
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found == (file.sha256 or found) and part.stat().st_size == file.bytes:
        return replace(file, sha256=found)
    raise Unusable(
        f"{file.path.name} from {plan.words} should have the SHA-256 {file.sha256[:12]}..., but has {found[:12]}...; "
        f"it was damaged on its way or is another file. All that came was deleted; try `{plan.again}` once more, else "
        "ask whoever keeps that place."
    )


def _sweep(staging: Path, files: Sequence[ModelFile]) -> None:
    """Drop what an earlier try left that this one cannot go on from: the source may have another version now."""
    useful = {name for file in files for name in (file.path.name, _part(staging, file).name)}
    for file in staging.iterdir():
        if file.name not in useful:
            file.unlink()


def _with_facts(text: str, files: Iterable[ModelFile]) -> str:
    """The manifest's text with the checksums and sizes that it lacks; all else stays as it is."""
    document = tomlkit.parse(text)
    tables: Any = document["files"]
    for file in files:
        entry = tables[file.path.name]
        for field, value in (("sha256", file.sha256), ("bytes", file.bytes)):
            if entry.get(field) != value:
                entry[field] = value
    return document.as_string()


def _is(path: Path, file: ModelFile) -> bool:
    """Whether `path` holds this very file (a second for 500 MB)."""
    if not file.sha256 or not _has_size(path, file):
        return False
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256


def _already(staging: Path, file: ModelFile) -> int:
    """How many bytes of a file an earlier try has brought."""
    return next((p.stat().st_size for p in (staging / file.path.name, _part(staging, file)) if p.is_file()), 0)


def _has_size(path: Path, file: ModelFile) -> bool:
    return path.is_file() and path.stat().st_size == file.bytes


def _part(staging: Path, file: ModelFile) -> Path:
    return staging / f"{file.path.name}.part-{file.sha256[:12]}"
