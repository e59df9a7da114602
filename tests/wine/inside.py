"""Runs one command on the Windows machine and tells all about it; the machine's own Python runs this file.

JSON on stdin (command, input, cwd, env, timeout), JSON on stdout (returncode, stdout, stderr, seconds); bytes as
base64. The command's streams are Windows' own pipes, read to their end as Claude Code reads them: those of Wine
itself stay open for as long as any process that it started.
"""

import base64
import json
import os
import subprocess
import sys
import time

asked = json.load(sys.stdin)
environment = {**os.environ, **asked["env"]}
began = time.monotonic()
done = subprocess.run(
    asked["command"],
    input=base64.b64decode(asked["input"]),
    capture_output=True,
    cwd=asked["cwd"],
    env={name: value for name, value in environment.items() if value is not None},
    timeout=asked["timeout"],
)
answer = {
    "returncode": done.returncode,
    "stdout": base64.b64encode(done.stdout).decode(),
    "stderr": base64.b64encode(done.stderr).decode(),
    "seconds": time.monotonic() - began,
}
print(json.dumps(answer))
