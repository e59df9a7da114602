"""Version constants: the only place where the version stands, read by every process without package metadata."""

from typing import Final

VERSION: Final = "0.1.0"

#: Order of builds on the wire: major * 1_000_000 + minor * 1_000 + patch. A newer client replaces an older daemon.
BUILD: Final = 1_000

#: Version of the wire format; it stands in the first word of every request and reply (`RECALL/1`).
PROTOCOL: Final = 1
