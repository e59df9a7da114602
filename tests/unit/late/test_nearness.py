"""Nearness under the bundled model: steering a session is told from asking for something."""

import numpy as np
import pytest

from recall.embed.catalog import find_model
from recall.embed.embedder import Embedder
from recall.late.late import Late
from recall.late.nearness import Nearness

STEERING = (
    "run all the tests once more and fix whatever fails",
    "before you continue, tell me which files you are going to touch",
    "その関数の名前をもっとわかりやすいものに変えて、呼び出し元も全部直して",
    "コミットする前に差分を見せてもらえますか",
)
ASKING = (
    "which port does the staging database listen on?",
    "why did we stop using the queue for invoices in the billing service?",
    "ステージングのデータベースはどのポートで待ち受けている？",
    "請求書の発行でキューを使うのをやめた理由は何だったか",
)


@pytest.fixture(scope="module")
def late() -> Late:
    return Late(Embedder(find_model("multilingual-e5-small", None)))


@pytest.fixture(scope="module")
def nearness(late: Late) -> dict[str, float]:
    embedder = Embedder(find_model("multilingual-e5-small", None))
    messages = [*STEERING, *ASKING]
    heads = embedder.heads(messages)
    return {
        message: late.nearness.of(head.dense, late.project(head.tokens))
        for message, head in zip(messages, heads, strict=True)
    }


def test_what_steers_a_session_is_nearer_than_what_asks_for_something(nearness: dict[str, float]) -> None:
    assert min(nearness[message] for message in STEERING) > max(nearness[message] for message in ASKING)


def test_it_is_never_negative_and_nothing_for_a_model_without_token_vectors(nearness: dict[str, float]) -> None:
    assert all(value >= 0 for value in nearness.values())
    empty = np.empty((0, 2), np.float32)
    blind = Nearness(np.eye(2, dtype=np.float32), empty, np.zeros(2, np.int64), 2)
    assert blind.of(np.array([1, 0], np.float32), empty) == 0.0
