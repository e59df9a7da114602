"""Ring 0: what every process shares to find and talk to the daemon. Standard library only."""
