"""What a carrier decides, and the parts of one that can be looked at without running it."""

import io
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from release import carrier
from release.carrier_windows import _COOKIE, _ENTRY, _MAGIC, decide, entry
from release.prove import check_imports

ONE, TWO, OTHER = "0.1.0-11111111", "0.10.0-22222222", "0.1.0-33333333"


@pytest.mark.parametrize(
    ("current", "name", "words", "hook", "step"),
    [
        (None, ONE, ["setup"], False, "install"),
        (None, ONE, ["hook"], True, "behind"),
        (ONE, ONE, ["setup"], False, "run"),
        (ONE, ONE, ["install"], False, "install"),
        (ONE, TWO, ["setup"], False, "install"),
        (ONE, TWO, ["hook"], True, "behind"),
        (TWO, ONE, ["setup"], False, "older"),
        (ONE, OTHER, ["setup"], False, "other build"),
    ],
)
def test_what_is_done_with_a_file_on_windows(
    current: str | None, name: str, words: list[str], hook: bool, step: str
) -> None:
    assert decide(current, name, words, hook=hook) == step


@given(st.binary(max_size=300), st.dictionaries(st.text("abc.", min_size=1, max_size=9), st.binary(), min_size=1))
def test_an_entry_is_found_in_an_executable_whatever_stands_before_and_behind(
    before: bytes, entries: dict[str, bytes]
) -> None:
    data, listed = b"", b""
    for name, content in entries.items():
        padded = name.encode() + b"\0" * (16 - (_ENTRY.size + len(name)) % 16)
        listed += _ENTRY.pack(_ENTRY.size + len(padded), len(data), len(content), len(content), 0, b"a") + padded
        data += content
    length = len(data) + len(listed) + _COOKIE.size
    whole = before + data + listed + _COOKIE.pack(_MAGIC, length, len(data), len(listed), 313, b"python") + b"signature"
    for name, content in entries.items():
        file = io.BytesIO(whole)
        assert whole[entry(file, name) :].startswith(content)
    with pytest.raises((ValueError, struct.error)):
        entry(io.BytesIO(whole), "missing")


@pytest.mark.parametrize("platform", sorted(carrier.MACHINES))
def test_the_script_names_its_own_length_and_is_one_that_sh_reads(platform: str, tmp_path: Path) -> None:
    head = carrier.head(ONE, "0.1.0", platform)
    script = tmp_path / "carrier"
    script.write_bytes(head + b"\x1f\x8b\0 archive")
    assert f"archive_at={len(head) + 1:07}".encode() in head
    assert b"@" not in head.replace(b'"$@"', b"")
    assert subprocess.run(["sh", "-n", str(script)], capture_output=True).returncode == 0
    found = subprocess.run(["tail", "-c", f"+{len(head) + 1}", str(script)], capture_output=True).stdout
    assert found == b"\x1f\x8b\0 archive"


@pytest.mark.parametrize(
    "line",
    ["import json", "import socket", "from recall.wire import paths", "def f():\n    import json", "import os.path"],
)
def test_a_hook_that_imports_more_than_it_can_have_is_refused(line: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    pipe.write_text(f"import os\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"found .* in line \d"):
        check_imports(pipe)


def test_our_hook_imports_no_more() -> None:
    check_imports(Path(__file__).resolve().parents[3] / "recall" / "hook" / "pipe.py")
