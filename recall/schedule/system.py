"""Calling schedulers' programs and writing their files."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from recall.core.atomic import replace_bytes
from recall.core.errors import RecallError

#: Seconds after which a scheduler's program counts as hanging: one that changes something, one that only tells.
PATIENCE = 30.0
ASKING_PATIENCE = 5.0


def ask(*words: str) -> "subprocess.CompletedProcess[bytes]":
    """Call a scheduler's program that only tells something, as `run` does."""
    return run(*words, patience=ASKING_PATIENCE)


def run(*words: str, stdin: bytes = b"", patience: float = PATIENCE) -> "subprocess.CompletedProcess[bytes]":
    """Call a scheduler's program, in English. Raises RecallError where it is not there or hangs."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run(words, input=stdin, capture_output=True, timeout=patience, env=environment, check=False)
    except subprocess.TimeoutExpired:
        raise RecallError(f"expected an answer of {words[0]} within {patience:g} s, found none; try again") from None
    except OSError as error:
        raise RecallError(
            f"expected the program {words[0]}, found: {error.strerror}; install it or use another"
        ) from None


def refusal(command: str, done: "subprocess.CompletedProcess[bytes]") -> RecallError:
    """The error for a program that said no, with its last word."""
    lines = (done.stderr or done.stdout).decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "no word")
    return RecallError(f"expected `{command}` to do it, found exit code {done.returncode}: {said}; mend that first")


def shown(files: Mapping[Path, bytes]) -> str:
    return "\n".join(f"{path}:\n{content.decode()}" for path, content in files.items())


def are_written(files: Mapping[Path, bytes]) -> bool:
    return all(path.is_file() and path.read_bytes() == content for path, content in files.items())


def write_files(files: Mapping[Path, bytes]) -> None:
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(path, content, 0o644)


def delete(paths: Iterable[Path]) -> None:
    """Raises RecallError."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise RecallError(f"expected to delete {path}, found: {error.strerror}; delete it by hand") from error
