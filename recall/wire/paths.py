"""Where the state folder is, what lies in it, and where the daemon listens.

Plain strings and `os.path`: the hook process loads this file, and pathlib would cost it milliseconds.
"""

import os
import sys

#: Longest path, in bytes, that a unix socket address holds on every system (macOS: 104, Linux: 108, both with NUL).
MAX_SOCKET_PATH = 100

SOCKET = "recall.sock"
ENDPOINT = "endpoint"


def state_home(explicit: str | None = None) -> str:
    """Absolute path of the state folder: `explicit`, else RECALL_HOME, else the platform's user data folder."""
    chosen = explicit or os.environ.get("RECALL_HOME")
    if not chosen:
        # Imported here: the hook gets the folder as an argument and must not pay for the import.
        from platformdirs import user_data_dir  # noqa: PLC0415

        chosen = user_data_dir("recall", appauthor=False)
    return os.path.abspath(os.path.expanduser(chosen))


class StatePaths:
    """The files of one state folder, as absolute paths. Nothing is created by naming it."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.config = os.path.join(home, "config.toml")
        self.index = os.path.join(home, "index.sqlite3")
        self.models = os.path.join(home, "models")
        self.everyday = os.path.join(home, "everyday")
        self.daemon_lock = os.path.join(home, "daemon.lock")
        self.start_lock = os.path.join(home, "start.lock")
        self.index_lock = os.path.join(home, "index.lock")
        self.gates = os.path.join(home, "gates.toml")
        self.mutes = os.path.join(home, "mutes.json")
        self.mutes_lock = os.path.join(home, "mutes.lock")
        self.endpoint = os.path.join(home, ENDPOINT)
        self.daemon_log = os.path.join(home, "daemon.log")
        self.hook_log = os.path.join(home, "hook.log")
        self.index_log = os.path.join(home, "index.log")
        self.injections = os.path.join(home, "injections.jsonl")
        self.share = os.path.join(home, "share.json")
        self.share_records = os.path.join(home, "share.sqlite3")
        self.share_password = os.path.join(home, "share.pass")
        self.share_lock = os.path.join(home, "share.lock")

    @property
    def socket(self) -> str:
        """Address of the unix socket: in the state folder, or in a short folder of the user when that is too long.

        The short folder is derived from the home folder only: TMPDIR and XDG_RUNTIME_DIR differ between a terminal,
        an editor and cron, which would then look for the daemon in different places.
        """
        usual = os.path.join(self.home, SOCKET)
        if len(os.fsencode(usual)) <= MAX_SOCKET_PATH:
            return usual
        from hashlib import sha256  # noqa: PLC0415  (seldom needed, and the hook loads this file)

        digest = sha256(os.fsencode(self.home)).hexdigest()[:12]
        return os.path.join(os.path.expanduser("~"), ".recall", digest, SOCKET)


def make_private_folder(path: str) -> None:
    """Create a folder (and its parents) that only its owner can read, or take the group's and others' rights away.

    Raises OSError, also when the folder belongs to somebody else.
    """
    os.makedirs(path, mode=0o700, exist_ok=True)
    if sys.platform == "win32":
        from recall.wire import access  # noqa: PLC0415  (the hook loads this file, and seldom gets here)

        if not access.is_private(path):
            access.make_private(path)
        return
    state = os.stat(path)
    if state.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user")
    if state.st_mode & 0o077:
        os.chmod(path, 0o700)
