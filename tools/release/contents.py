"""What goes into the packed program and what stays out. Called by pyinstaller.spec."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BUNDLED = "multilingual-e5-small"

#: Modules that something imports and that nothing of ours needs. onnxruntime's wheel asks for flatbuffers, protobuf
#: and packaging, but imports numpy only; readline would bring a library that breaks /bin/sh on some systems.
EXCLUDED = [
    "IPython", "PIL", "_curses", "curses", "flatbuffers", "google", "hf_xet", "lib2to3", "matplotlib", "mpmath",
    "multiprocessing", "numpy.f2py", "numpy.testing", "onnx", "pip", "pkg_resources", "pydoc", "pygments", "pytest",
    "readline", "rich", "safetensors", "setuptools", "sympy", "tkinter", "torch", "transformers", "typer", "unittest",
    "wheel", "onnxruntime.backend", "onnxruntime.datasets", "onnxruntime.quantization", "onnxruntime.tools",
    "onnxruntime.transformers",
]  # fmt: skip

#: Libraries whose symbols can go. Not numpy's: `strip` breaks its OpenBLAS.
STRIPPED = ("libpython", "lib-dynload/", "tokenizers/", "libbetterleaks", "libcrypto", "libssl", "libsqlite3")

#: PyInstaller's run-time hooks that we need none of; together they take 45 ms of every start.
RUNTIME_HOOKS = ("pyi_rth_inspect", "pyi_rth_pkgutil", "pyi_rth_multiprocessing", "pyi_rth_setuptools")


def hidden_imports() -> list[str]:
    """The commands, which are imported by their names."""
    from recall.cli.main import COMMANDS

    return [f"recall.cli.{name.replace('-', '_')}" for name in COMMANDS]


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


def slim(analysis: Any, work: Path) -> None:
    """Strip libraries one by one, where `strip` is at hand and safe."""
    strip = shutil.which("strip")
    if strip is None or sys.platform != "linux":
        return
    (work / "stripped").mkdir(parents=True, exist_ok=True)
    for place, (name, source, kind) in enumerate(analysis.binaries):
        if any(part in name for part in STRIPPED):
            copy = work / "stripped" / name.replace("/", "__")
            shutil.copy2(source, copy)
            subprocess.run([strip, "--strip-unneeded", str(copy)], check=True)
            analysis.binaries[place] = (name, str(copy), kind)
