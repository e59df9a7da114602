"""What goes into the packed program and what stays out. Called by pyinstaller.spec."""

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BUNDLED = "multilingual-e5-small"

#: Modules that something imports and that nothing of ours needs. onnxruntime's wheel asks for flatbuffers, protobuf
#: and packaging, but imports numpy only; readline would bring a library that breaks /bin/sh on some systems.
EXCLUDED = [
    "IPython", "PIL", "_curses", "_pytest", "click", "curses", "flatbuffers", "fsspec", "google", "hf_xet", "lib2to3",
    "matplotlib", "mpmath", "multiprocessing", "onnx", "pip", "pkg_resources", "py", "pydoc", "pygments", "pytest",
    "readline", "rich", "safetensors", "setuptools", "sympy", "tkinter", "torch", "transformers", "typer", "unittest",
    "wheel",
    *(f"onnxruntime.{part}" for part in ("backend", "datasets", "quantization", "tools", "transformers")),
    # Not numpy.ma: np.unique imports it.
    *(f"numpy.{part}" for part in ("core", "ctypeslib", "f2py", "fft", "matlib", "polynomial", "testing")),
    "numpy._core._multiarray_tests", "httpx2._main", "httpx2.websockets", "tqdm.notebook",
    # psycopg takes psycopg_binary where it is; the others would look for a libpq of the machine's.
    "psycopg.pq._pq_ctypes", "psycopg.pq.pq_ctypes", "psycopg_c", "psycopg_pool",
]  # fmt: skip

#: Packages that lie in the folder as files instead of in the executable: under the LGPL a person may put another
#: version of psycopg in the place of ours. Costs the commands that share 0.1 s.
AS_FILES = {"psycopg": "py", "psycopg_binary": "py"}

#: The carrier unpacks, compares and starts a program, no more.
CARRIER_EXCLUDED = [*EXCLUDED, "numpy", "onnxruntime", "tokenizers", "huggingface_hub", "httpx2", "sqlite3", "ssl"]

#: Of the hub's client `recall models add` needs addresses, headers and sessions; the client imports its parts when
#: they are first used, so that a part that is missing is missed by nobody who does not ask for it.
HUB_EXCLUDED = [
    f"huggingface_hub.{part}"
    for part in (
        "_bucket_live_follow _buckets _commit_api _commit_scheduler _dataset_viewer _eval_results _inference_endpoints "
        "_jobs_api _login _oauth _sandbox _sandbox_cache _snapshot_download _space_api _tensorboard_logger "
        "_upload_pipeline _webhooks_payload _webhooks_server cli community fastai_utils hf_api hf_file_system "
        "hub_mixin inference lfs repocard repocard_data serialization"
    ).split()
]

#: All that is asked of the interpreter's own build settings, on Linux: where zoneinfo looks (PEP 615's list), when
#: psycopg imports it. The rest of them are paths of the machine that it was built on. macOS needs its own to say what
#: machine it is.
SETTINGS = {"TZPATH": "/usr/share/zoneinfo:/usr/lib/zoneinfo:/usr/share/lib/zoneinfo:/etc/zoneinfo"}

#: Libraries whose symbols can go. Not what wheels carry in their .libs: `strip` breaks what was patched there.
STRIPPED = (
    "libpython", "lib-dynload/", "tokenizers/", "libbetterleaks", "libcrypto", "libssl", "libsqlite3",
    "numpy/", "yaml/", "psutil/",
)  # fmt: skip

#: PyInstaller's run-time hooks that we need none of; together they take 45 ms of every start.
RUNTIME_HOOKS = ("pyi_rth_inspect", "pyi_rth_pkgutil", "pyi_rth_multiprocessing", "pyi_rth_setuptools")


def hidden_imports() -> list[str]:
    """The commands, which are imported by their names, and psycopg's library, of which it takes what is there."""
    from recall.cli.main import COMMANDS

    return ["psycopg_binary.pq", "psycopg_binary._psycopg"] + [
        f"recall.cli.{name.replace('-', '_')}" for name in COMMANDS
    ]


def datas(root: Path) -> list[tuple[str, str]]:
    """(file or folder, folder in the program): the bundled model, all manifests and licences, our own data files."""
    models = root / "models"
    carried = [*models.glob("*.toml"), *models.glob("LICENSE-*")]
    return [
        *((str(path), "recall/_models") for path in sorted(carried)),
        (str(models / BUNDLED), f"recall/_models/{BUNDLED}"),
        (str(root / "recall" / "late" / "everyday.toml"), "recall/late"),
        (str(root / "recall" / "cli" / "demo_notes"), "recall/cli/demo_notes"),
    ]


def found_first(work: Path) -> list[str]:
    """Folders in which PyInstaller finds modules before Python's own: one with SETTINGS, made in the work folder."""
    if sys.platform != "linux":
        return []
    folder = work / "found-first"
    folder.mkdir(parents=True, exist_ok=True)
    name = sysconfig._get_sysconfigdata_name()  # type: ignore[attr-defined]
    (folder / f"{name}.py").write_text(f"build_time_vars = {SETTINGS!r}\n", encoding="utf-8", newline="\n")
    return [str(folder)]


def binaries() -> list[tuple[str, str]]:
    """The masking library, which its package opens by path."""
    spec = find_spec("betterleaks")
    assert spec is not None and spec.origin is not None
    return [
        (str(path), "betterleaks") for path in Path(spec.origin).parent.glob("libbetterleaks.*") if path.suffix != ".h"
    ]


def leave_out(analysis: Any) -> None:
    """Take out of PyInstaller's findings what the program never opens."""
    analysis.scripts[:] = [entry for entry in analysis.scripts if entry[0] not in RUNTIME_HOOKS]


def describe(analysis: Any, root: Path, work: Path) -> None:
    """Note what is inside and put its licences in. Raises ValueError for a part of which no licence is known."""
    from release import gather, inside, licences

    inside.record(analysis, work)
    text = work / licences.NAME
    text.write_text(gather.licence_text(gather.gather(root, work), root), encoding="utf-8", newline="\n")
    analysis.datas.append((f"recall/{licences.NAME}", str(text), "DATA"))


def slim(found: list[tuple[str, str, str]], work: Path) -> None:
    """Strip libraries one by one, where `strip` is at hand and safe, and take away the folders on this machine in which
    Python's own libraries look for others: there is nothing at a colleague's, or something else. `found`, PyInstaller's
    (name, source, kind), is changed in place."""
    if sys.platform != "linux":
        return
    strip, patchelf = shutil.which("strip"), shutil.which("patchelf", path=_path_with_own_tools())
    if strip is None or patchelf is None:
        raise ValueError("expected `strip` and `patchelf` on PATH, found one missing; install binutils and patchelf")
    (work / "stripped").mkdir(parents=True, exist_ok=True)
    for place, (name, source, kind) in enumerate(found):
        if kind not in ("BINARY", "EXTENSION"):
            continue
        strips = any(part in name for part in STRIPPED) and ".libs/" not in name
        looks = subprocess.run([patchelf, "--print-rpath", source], capture_output=True, text=True, check=True).stdout
        if strips or looks.startswith("/"):
            copy = work / "stripped" / name.replace("/", "__")
            shutil.copy2(source, copy)
            if strips:
                subprocess.run([strip, "--strip-unneeded", str(copy)], check=True)
            if looks.startswith("/"):
                subprocess.run([patchelf, "--remove-rpath", str(copy)], check=True)
            found[place] = (name, str(copy), kind)


def _path_with_own_tools() -> str:
    """PATH with the folder of this interpreter first: tools installed beside it are found without activating it."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
