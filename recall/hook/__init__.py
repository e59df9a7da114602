"""Ring 1: the hook process, which forwards one message to the daemon and prints its answer."""
