"""Sketches at hand: the packed token vectors that questions asked for lately, and the index for the others."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

from recall.core.errors import StoreError
from recall.search.score import Fetch
from recall.store.reader import Reader

#: Bytes of sketches that are kept: those of some 4,500 rows, which are the notes and rules of most projects.
MAX_BYTES = 48 * 1024 * 1024


class Sketches:
    """Reads sketches from the index and keeps the latest. For the question thread alone."""

    def __init__(self, index: Path) -> None:
        self._reader = Reader(index)
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._bytes = 0
        self._generation = -1

    def of(self, generation: int) -> Fetch:
        """What gives the sketches of a snapshot of this generation: a row's id may mean another text in a later one."""
        if generation != self._generation:
            self._kept.clear()
            self._bytes, self._generation = 0, generation
        return self._fetch

    def close(self) -> None:
        """Close the index."""
        self._reader.close()

    def _fetch(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        """Sketches by row id. An index that cannot be read has none: the plain cosines still rank."""
        found = {id_: self._kept[id_] for id_ in ids if id_ in self._kept}
        for id_ in found:
            self._kept.move_to_end(id_)
        missing = [id_ for id_ in ids if id_ not in found]
        if missing:
            try:
                read = self._reader.sketches(missing)
            except StoreError:
                return found
            for id_, sketch in read.items():
                self._kept[id_] = sketch
                self._bytes += len(sketch)
            found |= read
            while self._bytes > MAX_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest)
        return found
