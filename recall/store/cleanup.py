"""Taking a model's vectors out of the index, when the model is removed from the machine."""

from pathlib import Path

from recall.store.connection import open_writer
from recall.store.guard import transaction, translated


def drop_model(path: Path, name: str) -> int:
    """Delete all vectors of the model called `name`, of whatever identity, and let the file shrink; how many they were.

    The caller holds `index.lock`. Nothing happens where there is no index or nothing of the model in it. Raises
    StoreError and its kinds.
    """
    if not path.exists():
        return 0
    connection = open_writer(path)
    try:
        with translated(path):
            found = connection.execute("SELECT id, identity FROM model").fetchall()
            models = [(id_,) for id_, identity in found if identity.rpartition("@")[0] == name]
            if not models:
                return 0
            with transaction(connection):
                dropped = connection.executemany("DELETE FROM embedding WHERE model_id = ?", models).rowcount
                connection.executemany("DELETE FROM model WHERE id = ?", models)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return dropped
    finally:
        connection.close()
