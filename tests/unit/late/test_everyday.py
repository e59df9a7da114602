"""The bank of everyday messages under the bundled model, and the file that keeps it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from recall.core.types import BACKGROUND
from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.embed.encoder import Heads
from recall.late.everyday import GROUPS, everyday, group_of, steering
from recall.late.late import Late


class Counting:
    """The bundled model, and how many texts it was given."""

    def __init__(self, embedder: Embedder) -> None:
        self.identity = embedder.identity
        self.texts = 0
        self._embedder = embedder

    def heads(self, texts: Sequence[str], kind: str = "query") -> list[Heads]:
        self.texts += len(texts)
        return self._embedder.heads(texts, "query" if kind == "query" else "passage")


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder(find_model("multilingual-e5-small", None))


def test_the_bank_has_many_languages_and_no_message_twice() -> None:
    messages = [message for group in everyday().values() for message in group]
    assert len(messages) == len({message.casefold() for message in messages}) > 200
    assert all(len(message) >= 8 and message == message.strip() for message in messages)
    assert set(GROUPS) - {""} <= everyday().keys()
    assert [group_of(language) for language in ("en", "ja", "de", None)] == [1, 2, 0, 0]


def test_the_bank_is_embedded_once_and_a_damaged_file_made_anew(embedder: Embedder, tmp_path: Path) -> None:
    first, second, third = Counting(embedder), Counting(embedder), Counting(embedder)
    bank = Late(first, tmp_path / "everyday").bank
    assert first.texts == 1 + len(bank.dense) + sum(map(len, steering().values()))
    again = Late(second, tmp_path / "everyday").bank
    assert second.texts == 1
    assert np.array_equal(bank.dense, again.dense)
    assert np.allclose(bank.tokens, again.tokens, atol=1e-2)
    (kept,) = (tmp_path / "everyday").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    for damage in (b"", b"PK\x03\x04 not an archive", kept.read_bytes()[:5000]):
        kept.write_bytes(damage)
        assert np.array_equal(Late(third, tmp_path / "everyday").bank.dense, bank.dense)


def test_a_background_is_the_mean_score_of_each_group_and_lies_above_for_its_own_language(embedder: Embedder) -> None:
    late = Late(embedder)
    texts = ["We use tabs for indentation in every file.", "インデントは必ずタブを使う。空白は使わない。"]
    english, japanese = (late.embedded(heads) for heads in embedder.heads(texts, "passage"))
    scores = late.bank.background(late.unpack([english.sketch, japanese.sketch])[0])
    assert scores.shape == (2, BACKGROUND)
    assert np.allclose(scores, [english.background, japanese.background], atol=1e-5)
    assert english.background[group_of("en")] > english.background[group_of("ja")]
    assert japanese.background[group_of("ja")] > japanese.background[group_of("en")]
