"""Gives freed memory back to the operating system."""

import ctypes
import gc
import sys


def release_free_memory() -> None:
    """Collect garbage and let glibc return what lies free on its heap; a plain collection elsewhere.

    Reading a tokenizer file leaves tens of megabytes free that glibc would keep for ever; macOS and Windows return
    such pages by themselves.
    """
    gc.collect()
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
    if trim is not None:
        trim(0)
