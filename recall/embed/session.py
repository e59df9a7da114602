"""The onnxruntime session: quiet, without memory of its own making, on the device and the CPUs that it is given."""

import contextlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from recall.core.errors import ModelError
from recall.embed.manifest import Device, Outputs

_runtime: Any = onnxruntime  # its annotations export none of its names

#: onnxruntime's name for what runs on each device.
PROVIDERS: Mapping[Device, str] = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
}

#: Microseconds. Measured with the bundled model, two cores: a question of 30 tokens takes 4.5 ms instead of 5.8 with no
#: spinning at all; beside two other busy programs 9.9 instead of 10.1, where onnxruntime's own default takes 15.
SPIN_US = "20"

_FATAL = 4  # onnxruntime's severity: whatever is worth knowing comes as an exception, nothing goes to stderr
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")


class Interrupted(Exception):
    """A run was ended by its `Stop` before it was done."""


class Stop:
    """Ends one run from another thread (measured: within 3 ms). Made anew for each run."""

    def __init__(self) -> None:
        self.requested = False
        self.options = _runtime.RunOptions()
        self.options.log_severity_level = _FATAL

    def request(self) -> None:
        """End the run, also when it has yet to begin; a run that is done is done."""
        self.requested = True
        self.options.terminate = True


class Output(NamedTuple):
    """What a graph gave for texts, all float32: its outputs by the roles that the manifest names (see `Outputs`)."""

    dense: NDArray[np.float32]
    sparse: NDArray[np.float32] | None
    multi_vector: NDArray[np.float32] | None


class Graph(Protocol):
    """A loaded encoder on one device. `run` may be called from several threads at once."""

    @property
    def masked(self) -> bool:
        """Whether it takes an attention mask, so that texts of different lengths can share a call."""

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], *, heads: bool = False, stop: Stop | None = None
    ) -> Output:
        """Outputs for `ids` int64[texts, tokens]; `mask`, of the same shape, is 1 at each token and 0 at padding.

        `heads` asks for the sparse and the multi-vector output too. Raises Interrupted when `stop` ended the run, and
        what the device raises when it fails.
        """


class Runtime(Protocol):
    """What loads graphs, and on which devices."""

    @property
    def version(self) -> str: ...

    def devices(self) -> Sequence[Device]:
        """The devices beside the CPU that it knows of, the best first. It may still fail on each of them."""

    def load(self, weights: Path, outputs: Outputs, device: Device, threads: int) -> Graph:
        """The graph on the device. Raises ModelError, also where it would come to run on the CPU instead."""


class OnnxRuntime:
    """The real `Runtime`. `cache` is a folder for what CoreML compiles (minutes for a large model), None for none."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache

    @property
    def version(self) -> str:
        return str(_runtime.__version__)

    def devices(self) -> Sequence[Device]:
        """In onnxruntime's own order."""
        listed = _runtime.get_available_providers()
        by_name = {name: device for device, name in PROVIDERS.items() if device != "cpu"}
        return [by_name[name] for name in listed if name in by_name]

    def load(self, weights: Path, outputs: Outputs, device: Device, threads: int) -> Graph:
        """Raises ModelError."""
        return Session(weights, outputs, threads, device, self._options(device))

    def _options(self, device: Device) -> dict[str, str]:
        """What the provider is told, as it wants it: all text."""
        if device == "cuda":
            # By default the arena doubles at each growth: a gigabyte of weights would take two.
            return {"arena_extend_strategy": "kSameAsRequested"}
        if device == "coreml":
            options = {"ModelFormat": "MLProgram", "MLComputeUnits": "ALL"}
            if self._cache is not None:
                # What one version compiled fails in another, and CoreML does not notice.
                folder = self._cache / self.version
                with contextlib.suppress(OSError):
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                    options["ModelCacheDirectory"] = str(folder)
            return options
        return {}


class Session:
    """A loaded ONNX graph: the real `Graph`."""

    def __init__(
        self,
        weights: Path,
        outputs: Outputs,
        threads: int,
        device: Device = "cpu",
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Load `weights`, an ONNX file that may refer to others beside it. `options` go to the device's provider.

        Raises ModelError.
        """
        _runtime.set_default_logger_severity(_FATAL)
        provider = PROVIDERS[device]
        if provider not in _runtime.get_available_providers():
            raise ModelError(f"onnxruntime {_runtime.__version__} was built without {provider}.")
        if device == "cuda":
            _load_cuda_libraries()
        providers: list[object] = [(provider, dict(options or {}))]
        if device != "cpu":
            providers.append(PROVIDERS["cpu"])  # for the nodes that the device has no kernel for
        try:
            # Without `enable_fallback=0` a provider that fails is replaced by the CPU, with a message on stdout.
            self._session = _runtime.InferenceSession(
                str(weights), _session_options(threads), providers=providers, enable_fallback=0
            )
        except Exception as error:  # onnxruntime has a class for each of its codes, all directly below Exception
            reason = " ".join(str(error).split())
            raise ModelError(f"onnxruntime could not load {weights} ({type(error).__name__}): {reason}") from None
        if provider not in self._session.get_providers():
            raise ModelError(
                f"onnxruntime knows {provider} but could not start it, mostly because its libraries are missing or do "
                "not fit the driver."
            )
        self._inputs = {entry.name: _whole_numbers(entry.type) for entry in self._session.get_inputs()}
        self._outputs = outputs
        self._check_names(weights)

    @property
    def masked(self) -> bool:
        return "attention_mask" in self._inputs

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], *, heads: bool = False, stop: Stop | None = None
    ) -> Output:
        """See `Graph`."""
        roles = self._outputs if heads else Outputs(self._outputs.dense)
        names = [name for name in (roles.dense, roles.sparse, roles.multi_vector) if name is not None]
        feeds = {name: _feed(name, ids, mask).astype(kind, copy=False) for name, kind in self._inputs.items()}
        try:
            values = self._session.run(names, feeds, stop.options if stop else None)
        except Exception:  # of a class that tells nothing: an end by request is a plain failure too
            if stop is not None and stop.requested:
                raise Interrupted from None
            raise
        found = {name: np.asarray(value, np.float32) for name, value in zip(names, values, strict=True)}
        return Output(found[roles.dense], found.get(roles.sparse or ""), found.get(roles.multi_vector or ""))

    def _check_names(self, weights: Path) -> None:
        strange = [name for name in self._inputs if name not in _INPUTS]
        if strange:
            raise ModelError(
                f"The graph {weights.name} wants the input {', '.join(strange)}, but only {', '.join(_INPUTS)} can be "
                "given; use another export of the model."
            )
        has = [entry.name for entry in self._session.get_outputs()]
        wanted = (self._outputs.dense, self._outputs.sparse, self._outputs.multi_vector)
        missing = [name for name in wanted if name is not None and name not in has]
        if missing:
            raise ModelError(
                f"The graph {weights.name} should have the output {', '.join(missing)}, but has {', '.join(has)}; "
                "correct [outputs] in the model's manifest."
            )


def _feed(name: str, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.int64]:
    if name == "input_ids":
        return ids
    if name == "attention_mask":
        return mask
    if name == "token_type_ids":
        return np.zeros_like(ids)
    return np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape)


def _whole_numbers(kind: str) -> type[np.signedinteger[Any]]:
    """The numpy type of an input by onnxruntime's word for it; some exports take 32 bits."""
    return np.int32 if kind == "tensor(int32)" else np.int64


def _load_cuda_libraries() -> None:
    """Load the CUDA libraries that pip installed beside onnxruntime; where there are none, the system's are found."""
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):  # it prints what it misses
        _runtime.preload_dlls()


def _session_options(threads: int) -> Any:
    options = _runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL
    # Memory patterns keep buffers once for each length of text; the arena keeps the largest only (some megabytes), and
    # takes a tenth of the time off.
    options.enable_mem_pattern = False
    # Within a run, threads wait for the next operator awake for SPIN_US before they sleep; between runs they sleep, so
    # that an idle laptop notices nothing.
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    options.add_session_config_entry("session.intra_op.spin_duration_us", SPIN_US)
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options
