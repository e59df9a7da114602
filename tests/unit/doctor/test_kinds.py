"""What stands in the place of a file or a folder."""

import os
import sys
from pathlib import Path

import pytest

from recall.doctor.kinds import misplaced


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes and links of Unix")
def test_what_is_of_another_kind_is_named_and_what_is_not_there_is_well(tmp_path: Path) -> None:
    file, folder = tmp_path / "a.json", tmp_path / "b"

    def codes() -> list[str]:
        return [one.code for one in misplaced("x", {file: ("file", "f fails"), folder: ("folder", "b fails")})]

    assert codes() == []
    file.mkdir()
    os.mkfifo(folder)
    assert codes() == ["no-file", "no-folder"]
    file.rmdir()
    folder.unlink()
    file.symlink_to(tmp_path / "nowhere")
    folder.symlink_to(tmp_path)
    assert codes() == []
