"""`recall licenses` from a checkout, and with the file of texts that the packed program has."""

from pathlib import Path

import pytest

from recall.cli import licenses
from recall.cli.main import main
from recall.embed.manifest import BUNDLED


def test_from_a_checkout_every_package_stands_with_its_licence_and_its_texts_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["licenses"]) == 0
    lines = capsys.readouterr().out.splitlines()
    named = {line.split()[0].lower(): line for line in lines if not line.startswith(" ")}
    assert named["numpy"].endswith("BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0") or "BSD" in named["numpy"]
    assert named[BUNDLED].endswith("MIT")
    assert {"h11", "idna"} <= set(named), "what a package needs itself is named too"
    assert not {"pytest", "mypy", "pyinstaller"} & set(named), "tools of developers are not"
    assert all(Path(line.strip()).is_file() for line in lines if line.startswith(" "))


def test_from_a_checkout_the_texts_are_printed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["licenses", "--texts"]) == 0
    assert "Permission is hereby granted, free of charge" in capsys.readouterr().out


def test_packed_the_overview_is_shown_and_says_where_the_texts_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "_licenses.txt"
    file.write_text("a 1.0  MIT\n" + "=" * 100 + "\na 1.0\n\nThe whole text\n", encoding="utf-8")
    monkeypatch.setattr(licenses, "TEXTS", file)

    assert main(["licenses"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("a 1.0  MIT\n")
    assert str(file) in shown
    assert "The whole text" not in shown

    assert main(["licenses", "--texts"]) == 0
    assert capsys.readouterr().out == file.read_text("utf-8")
