"""What a daemon started from a Claude Code session inherits."""

from recall.wire.environment import clean_environment, restore_environment

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
    kept = clean_environment(SESSION)
    assert set(kept) == {"PATH", "HOME", "LC_ALL", "RECALL_HOME", "CLAUDE_CONFIG_DIR", "MALLOC_ARENA_MAX"}


def test_a_packed_program_gives_the_users_own_library_path_back() -> None:
    assert clean_environment(SESSION | {"LD_LIBRARY_PATH_ORIG": "/cuda"})["LD_LIBRARY_PATH"] == "/cuda"
    own = {name: value for name, value in SESSION.items() if name != "_PYI_ARCHIVE_FILE"}
    assert clean_environment(own | {"LD_LIBRARY_PATH": "/cuda"})["LD_LIBRARY_PATH"] == "/cuda"


def test_what_the_bootloader_put_in_goes_once_and_a_second_time_nothing() -> None:
    mine = {"PATH": "/usr/bin", "LD_LIBRARY_PATH_ORIG": "/cuda", "LD_LIBRARY_PATH": "/ours", "_PYI_ARCHIVE_FILE": "/r"}
    for _ in range(2):
        restore_environment(mine)
        assert mine == {"PATH": "/usr/bin", "LD_LIBRARY_PATH": "/cuda"}
