"""The file of what others share: what is let go of makes it smaller."""

import secrets
from pathlib import Path

from recall.replica.replica import Replica


def test_packs_that_are_let_go_of_give_the_disk_back(tmp_path: Path) -> None:
    path = tmp_path / "share.sqlite3"
    packs = {secrets.token_bytes(32): secrets.token_bytes(20_000) for _ in range(100)}
    with Replica(path) as replica:
        replica.add_packs(packs, "m")
    full = path.stat().st_size
    with Replica(path) as replica:
        replica.drop_packs([(content, "m") for content in list(packs)[:50]])
    assert len(packs) * 20_000 < full
    assert path.stat().st_size < 0.6 * full
    with Replica(path) as replica:
        assert len(replica.packs()) == 50
