"""The workflows call what is in the repository, with options that it knows, and pin what they use."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

#: What a line may call that is not ours: how a Python comes into the container, and how files go up.
OTHERS = (r"/opt/python/cp312-cp312/bin/python3 -m pip install uv$", r"gh release create ")
_UV = re.compile(r"/opt/python/cp312-cp312/bin/uv run --no-project --managed-python --python 3\.12 ")


def steps() -> list[dict[str, Any]]:
    found = []
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            found += job["steps"]
    return found


def lines() -> list[str]:
    return sorted({line for step in steps() for line in step.get("run", "").splitlines()})


def test_there_are_both_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["check.yml", "release.yml"]


@pytest.mark.parametrize("line", lines())
def test_each_line_calls_a_command_of_this_repository(line: str) -> None:
    if any(re.match(other, line) for other in OTHERS):
        return
    words = _UV.sub("", line).split()
    assert words[0] in ("python", "python3", "bash"), line
    assert (ROOT / words[1]).is_file(), line
    for word in words[2:]:
        if "/" in word:
            assert (ROOT / word).exists(), line
    if words[1] == "tools/dev.py":
        shown = subprocess.run([sys.executable, ROOT / words[1], "help"], capture_output=True, encoding="utf-8")
        assert re.search(rf"^    {words[2]} ", shown.stdout, flags=re.MULTILINE), line
    if "release" in words[1:3] or words[1] == "tools/build_release.py":
        known = subprocess.run(
            [sys.executable, ROOT / "tools" / "build_release.py", "--help"], capture_output=True, encoding="utf-8"
        )
        for option in re.findall(r"--[a-z-]+", " ".join(words[2:])):
            assert option in known.stdout, line


def test_actions_are_pinned_by_their_whole_version_and_get_no_credentials() -> None:
    for step in steps():
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+\.\d+\.\d+", step["uses"]), step
            if step["uses"].startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_nothing_may_write_but_the_job_that_publishes() -> None:
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"}, path.name
        for name, job in workflow["jobs"].items():
            assert ("permissions" in job) == (name == "publish"), f"{path.name}: {name}"
