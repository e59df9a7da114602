"""Every test gets its own state folder, Claude folder and home; a tripwire guards the person's real ones."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from recall.wire.paths import state_home
from support import Sandbox

# A shared machine stalls now and then; a deadline would measure that.
settings.register_profile("recall", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("recall")

# A run in the background of a shell ignores SIGINT, and every process that it starts would do so too.
signal.signal(signal.SIGINT, signal.default_int_handler)

_REAL_CLAUDE = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
_REAL_STATE = Path(state_home())
_REAL_SHORT = Path.home() / ".recall"


def _fingerprint() -> dict[str, object]:
    """What no test may change. Transcripts are left out: a Claude Code session that runs the tests writes them."""
    watched = [_REAL_CLAUDE / "settings.json", *_REAL_CLAUDE.glob("projects/*/memory/**/*")]
    for folder in (_REAL_STATE, _REAL_SHORT):
        watched += [folder, *folder.glob("*")]
    return {str(path): path.stat().st_mtime_ns for path in watched if path.exists()}


@pytest.fixture(scope="session", autouse=True)
def tripwire() -> Iterator[None]:
    """Fails the run when the real Claude folder, the real state folder or the tests' default home were touched."""
    before = _fingerprint()
    home = Path(tempfile.mkdtemp(prefix="recall-tripwire-"))
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith(("RECALL_", "CLAUDE", "XDG_", "ANTHROPIC_", "CODEX_", "QWEN_", "GEMINI_")):
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("USERPROFILE", str(home))
        yield
    left = sorted(str(path.relative_to(home)) for path in home.rglob("*"))
    shutil.rmtree(home)
    assert _fingerprint() == before, "a test touched the real Claude folder or the real state folder"
    assert not left, f"a test wrote into the default home: {left}"


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A person's machine of this test's own: home, Claude folder, project and state folder, on a short path."""
    root = Path(tempfile.mkdtemp(prefix="r-"))
    box = Sandbox(root)
    for name, value in box.environment().items():
        monkeypatch.setenv(name, value)
    yield box
    box.close()
    shutil.rmtree(root)
