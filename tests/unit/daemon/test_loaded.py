"""Which notes the model has before it anyway."""

from pathlib import Path

import pytest

from recall.daemon.loaded import LOADED_LINES, LoadedIndexes, loaded_part, memory_root


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "-home-me-shop" / "memory"
    folder.mkdir(parents=True)
    return folder


def test_links_and_wikilinks_of_the_loaded_part_name_notes(memory: Path) -> None:
    index = memory / "MEMORY.md"
    index.write_text("- [A](a.md) — one\n- [B](specs/b.md)\n- see [[c]] and [[d|the other]]\n")
    loaded = LoadedIndexes()
    named = [name for name in ("a.md", "specs/b.md", "c.md", "d.md", "e.md") if loaded.names(str(memory / name))]
    assert named == ["a.md", "specs/b.md", "c.md", "d.md"]
    index.write_text("- [E](e.md) and more\n")
    assert loaded.names(str(memory / "e.md"))
    assert not loaded.names(str(memory / "a.md"))
    index.unlink()
    assert not loaded.names(str(memory / "e.md"))


def test_what_stands_beyond_the_loaded_part_is_not_before_the_model(memory: Path) -> None:
    assert "late.md" not in loaded_part(b"x\n" * LOADED_LINES + b"[late](late.md)\n")
    assert "late.md" not in loaded_part(b"x" * 30_000 + b"[late](late.md)\n")


def test_only_project_memory_has_a_root() -> None:
    assert memory_root("/h/.claude/projects/-p/memory/agents/a/x.md") == "/h/.claude/projects/-p/memory"
    assert memory_root("/h/.claude/agent-memory/a/x.md") is None
    assert memory_root("/repo/docs/adr/0001-x.md") is None
