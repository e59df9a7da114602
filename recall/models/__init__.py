"""Models as a thing people handle: adding, removing, measuring. Only commands load it, never the daemon or the hook."""

import os

# huggingface_hub asks this variable when it is imported; without it the first request would fetch a list of agents from
# the hub, look for them in the environment, and keep the list in ~/.cache.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
