"""The index as an older program wrote it, kept beside the migrated one until that is complete.

`<index>.format<N>`: what the file was at format N. Somebody who goes back to the program of that format before the new
index is complete puts it back in place and has lost nothing.
"""

import contextlib
import sqlite3
from pathlib import Path

from recall.core.errors import StoreError
from recall.store.migrations import SCHEMA_VERSION, version_of


def keep_old(connection: sqlite3.Connection, path: Path) -> None:
    """Copy an index of an older format, whole or not at all, before it is migrated. The caller holds `index.lock`.

    Raises StoreError where the disk has no room for it: the old file then stays as it is, and in use by nobody.
    """
    version = version_of(connection)
    kept = path.with_name(f"{path.name}.format{version}")
    if not 0 < version < SCHEMA_VERSION or kept.exists():
        return
    temporary = kept.with_name(f"{kept.name}.new")
    try:
        temporary.unlink(missing_ok=True)
        temporary.touch(0o600)
        with contextlib.closing(sqlite3.connect(temporary)) as copy:
            connection.backup(copy)
        temporary.replace(kept)
    except (OSError, sqlite3.Error) as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise StoreError(
            f"the index {path} has an older format and could not be copied before it is changed "
            f"({getattr(error, 'strerror', None) or getattr(error, 'sqlite_errorname', type(error).__name__)}); "
            f"make room of {path.stat().st_size / 1e6:.0f} MB beside it, then run `recall index`"
        ) from None


def drop_old(path: Path) -> None:
    """Delete what was kept: the index is complete in its new format."""
    for kept in path.parent.glob(f"{path.name}.format*"):
        with contextlib.suppress(OSError):
            kept.unlink()
