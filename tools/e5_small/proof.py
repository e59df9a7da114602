"""Proof of a built model: the tokenizer's check figures, and how far its vectors are from the same weights in fp32."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from e5_small.container import Weights
from e5_small.graph import build_graph
from e5_small.tokenizer import CHECK_FIGURES

SMALLEST_COSINE = 0.99

SAMPLE = [
    "query: データベースの移行に失敗したときの戻し方",
    "query: テストが途中で落ちる原因は？",
    "query: こんにちは",
    "query: 今日の晩ごはん何がいいかな",
    "passage: 本番への配布は金曜の午後にしない。前に一度、週末に直せる人がおらず月曜まで止まった。",
    "passage: 設定ファイルの値は環境変数より弱い。読み込む順番を変えると古い端末で起動しなくなる。",
    "query: how do we roll back a failed migration?",
    "query: ok thanks",
    "query: what's the weather like in osaka tomorrow",
    "passage: Releases go out on Tuesdays. The build signs the archive before the tests run, because the signing "
    "service closes at six and a late run once left us with an unsigned release.",
    "passage: Prefer small pull requests. Reviewers asked for this after a change of four thousand lines hid a "
    "broken permission check that nobody noticed for a month.",
    "passage: # Retry policy\n\n- idempotent calls: three tries, 200 ms apart\n- everything else: none\n\n"
    "`POST /orders` is not idempotent, see the incident of March.",
    "query: 배포가 실패하면 어떻게 하나요?",
    "query: 오늘 날씨가 어때?",
    "passage: 데이터베이스 마이그레이션은 한 번에 하나씩 실행한다. 두 개를 동시에 돌리면 잠금이 걸려 서비스가 멈춘다.",
    "passage: 로그에는 사용자의 문장을 남기지 않는다. 문제가 생기면 식별자와 시각만 기록하고 내용은 버린다.",
]


class ProofError(Exception):
    """The built model is not what the recipe promises; the message is one sentence."""


def prove(model: Path, tokenizer: Path, weights: Weights, scratch: Path) -> float:
    """The smallest cosine between `model` and the same weights in fp32 over SAMPLE. `scratch` takes the fp32 graph."""
    from tokenizers import Tokenizer

    encoder = Tokenizer.from_file(str(tokenizer))
    for text, expected in CHECK_FIGURES.items():
        found = encoder.encode(text).ids
        if found != expected:
            raise ProofError(f"The tokenizer should turn {text!r} into {expected}, but gave {found}.")

    plain = scratch / "float32.onnx"
    built = build_graph(weights, "float32", f"{plain.name}.data")
    plain.write_bytes(built.graph)
    (scratch / f"{plain.name}.data").write_bytes(built.data)

    small, full = _runner(model), _runner(plain)
    tokens = [np.array([encoder.encode(text).ids], np.int64) for text in SAMPLE]
    smallest = min(float(small(ids) @ full(ids)) for ids in tokens)
    if smallest < SMALLEST_COSINE:
        raise ProofError(
            f"The cosine to fp32 should be {SMALLEST_COSINE} or more for every text, but is {smallest:.4f}."
        )
    return smallest


def _runner(path: Path) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
    """A function from token ids [1, n] to the normalized mean of the token vectors [384]."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # asked at import only, see recall/embed/__init__.py
    import onnxruntime

    runtime: Any = onnxruntime  # its annotations export none of its names
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def run(ids: NDArray[np.int64]) -> NDArray[np.float32]:
        (vectors,) = session.run(None, {"input_ids": ids})
        mean: NDArray[np.float32] = vectors[0].mean(0)
        return mean / np.float32(np.linalg.norm(mean))

    return run
