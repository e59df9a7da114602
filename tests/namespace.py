"""Disks of a test's own: programs run where they see another file system than everybody else (Linux)."""

import shutil
import subprocess
import sys

import pytest

#: Behind it: commands of a shell that mount something, and $0, $1 ... for them.
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]

needs_namespace = pytest.mark.skipif(
    sys.platform != "linux"
    or shutil.which("unshare") is None
    or subprocess.run([*NAMESPACE, "mount -t tmpfs none /mnt"], capture_output=True).returncode != 0,
    reason="this system lets no program mount a disk of its own",
)
