"""The onnxruntime session: quiet, without memory of its own making, on the CPUs that this process may use."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from recall.core.errors import ModelError

_runtime: Any = onnxruntime  # its annotations export none of its names

_FATAL = 4  # onnxruntime's severity: whatever is worth knowing comes as an exception, nothing goes to stderr


class Session:
    """A loaded encoder. `run` may be called from several threads at once."""

    def __init__(self, weights: Path, threads: int) -> None:
        """Load `weights`, an ONNX file that may refer to others beside it. Raises ModelError."""
        _runtime.set_default_logger_severity(_FATAL)
        try:
            self._session = _runtime.InferenceSession(
                str(weights), _options(threads), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime has a class for each of its codes, all directly below Exception
            raise ModelError(f"onnxruntime could not load {weights} ({type(error).__name__}): {error}") from None
        self._inputs = [entry.name for entry in self._session.get_inputs()]

    def run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Token vectors float32[texts, tokens, dimension] of `ids` int64[texts, tokens], texts of one length."""
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        vectors: NDArray[np.float32] = self._session.run(
            ["last_hidden_state"], {name: feeds[name] for name in self._inputs}
        )[0]
        return vectors


def _options(threads: int) -> Any:
    options = _runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL
    # The arena and the memory patterns keep the largest buffers ever used, once for each length of text.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    # Spinning threads burn a core while they wait, which an idle laptop notices.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options
