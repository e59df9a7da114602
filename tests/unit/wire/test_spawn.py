"""What a daemon started from a Claude Code session inherits."""

from recall.wire.spawn import clean_environment

SESSION = {
    "PATH": "/usr/bin",
    "HOME": "/home/me",
    "LC_ALL": "ja_JP.UTF-8",
    "RECALL_HOME": "/state",
    "RECALL_OFF": "1",
    "CLAUDE_CONFIG_DIR": "/home/me/.claude-work",
    "ANTHROPIC_API_KEY": "sk-secret",
    "CLAUDE_CODE_SESSION_ID": "s",
    "CLAUDECODE": "1",
    "VIRTUAL_ENV": "/venv",
    "PYTHONPATH": "/elsewhere",
    "_PYI_ARCHIVE_FILE": "/bundle",
    "LD_LIBRARY_PATH": "/bundle/lib",
}


def test_keys_sessions_and_loader_paths_stay_behind() -> None:
    kept = clean_environment(SESSION, frozen=True)
    added = {"PYINSTALLER_RESET_ENVIRONMENT", "MALLOC_ARENA_MAX"}
    assert set(kept) == {"PATH", "HOME", "LC_ALL", "RECALL_HOME", "CLAUDE_CONFIG_DIR"} | added


def test_a_packed_program_gives_the_users_own_library_path_back() -> None:
    assert clean_environment(SESSION | {"LD_LIBRARY_PATH_ORIG": "/cuda"}, frozen=True)["LD_LIBRARY_PATH"] == "/cuda"
    assert clean_environment(SESSION, frozen=False)["LD_LIBRARY_PATH"] == "/bundle/lib"
