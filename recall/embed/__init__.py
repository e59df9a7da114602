"""From text to vectors: model manifests, the tokenizer, the onnxruntime session and the embedder on top of them."""

import os

# onnxruntime's import starts its own telemetry (a device id and an event store under ~/.cache, an upload address in
# the library) and asks only this variable; switching it off after the import comes too late. Nothing leaves the
# machine.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
