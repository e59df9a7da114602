"""The daemon's part of `recall status`: what only the process itself knows. Answered from memory, also while busy."""

import os
from dataclasses import asdict
from typing import Any

import psutil

from recall.core.types import KINDS
from recall.daemon.engine import Engine
from recall.daemon.indexer import Indexer
from recall.version import BUILD, VERSION


def status(engine: Engine, indexer: Indexer) -> dict[str, Any]:
    """`state` is warming, indexing, ready or failed; `counts` are index rows by kind, `pending` files."""
    ready, coming, summary, progress = engine.ready, engine.coming, engine.summary, indexer.progress
    return {
        "state": "indexing" if progress and engine.state == "ready" else engine.state,
        "problem": engine.failure or _of_files(engine) or indexer.problem or None,
        "version": VERSION,
        "build": BUILD,
        "pid": os.getpid(),
        "model": ready.model.manifest.name if ready else None,
        "identity": ready.model.manifest.identity if ready else None,
        "coming_model": coming.manifest.name if coming else None,
        "device": ready.model.embedder.device if ready else None,
        "device_reason": ready.model.embedder.device_reason if ready else None,
        "counts": {kind: summary.rows.get(kind, 0) for kind in KINDS},
        "pending": summary.pending,
        "progress": asdict(progress) if progress else None,
        "generation": ready.snapshot.generation if ready else None,
        "rss_mb": round(psutil.Process().memory_info().rss / 1e6, 1),
    }


def _of_files(engine: Engine) -> str:
    """What is wrong with the person's own files, all of it in one line."""
    return "; ".join(filter(None, (engine.config.problem, engine.gates.problem, engine.mutes.problem)))
