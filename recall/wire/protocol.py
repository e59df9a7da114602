"""The wire format: one text line, then raw bytes.

    request   RECALL/1 <verb> <budget_ms> <build> <length>[ <secret>]\\n<body>
    reply     RECALL/1 <status> <build> <length>[ <proof>]\\n<body>

Bodies of `hook` are raw stdin and final stdout; other verbs carry JSON objects. `stop` is frozen for ever: every
daemon understands it from every client, so that a new program can always end an old one.
"""

import re

from recall.version import BUILD, PROTOCOL

MAX_HEADER = 512  # bytes, newline included
MAX_BODY = 4 * 1024 * 1024  # bytes; a message longer than this is not searched
MAX_ANSWER = 64 * 1024  # bytes of a hook's answer; the budget of headlines is far below

_REQUEST = re.compile(rb"RECALL/(\d{1,4}) ([a-z-]{1,16}) (\d{1,8}) (\d{1,10}) (\d{1,10})(?: ([0-9a-f]{1,64}))?\n\Z")
_REPLY = re.compile(rb"RECALL/(\d{1,4}) ([a-z]{1,16}) (\d{1,10}) (\d{1,10})(?: ([0-9a-f]{1,64}))?\n\Z")


class Request:
    """Header of a request. `budget_ms` is the time that the asker still has; 0 means that it waits."""

    __slots__ = ("budget_ms", "build", "length", "protocol", "secret", "verb")

    def __init__(self, verb: str, budget_ms: int, length: int, secret: str = "") -> None:
        self.protocol = PROTOCOL
        self.verb = verb
        self.budget_ms = budget_ms
        self.build = BUILD
        self.length = length
        self.secret = secret

    def encode(self) -> bytes:
        tail = f" {self.secret}" if self.secret else ""
        return f"RECALL/{self.protocol} {self.verb} {self.budget_ms} {self.build} {self.length}{tail}\n".encode()

    @classmethod
    def decode(cls, line: bytes) -> "Request":
        """Raises ValueError when the line is not a request header."""
        found = _REQUEST.match(line)
        if not found:
            raise ValueError("not a request header")
        request = cls(found[2].decode(), int(found[3]), int(found[5]), (found[6] or b"").decode())
        request.protocol, request.build = int(found[1]), int(found[4])
        return request


class Reply:
    """Header of a reply. `proof` shows on TCP that the answer comes from the daemon that wrote the endpoint file."""

    __slots__ = ("build", "length", "proof", "protocol", "status")

    def __init__(self, status: str, length: int, proof: str = "") -> None:
        self.protocol = PROTOCOL
        self.status = status
        self.build = BUILD
        self.length = length
        self.proof = proof

    def encode(self) -> bytes:
        tail = f" {self.proof}" if self.proof else ""
        return f"RECALL/{self.protocol} {self.status} {self.build} {self.length}{tail}\n".encode()

    @classmethod
    def decode(cls, line: bytes) -> "Reply":
        """Raises ValueError when the line is not a reply header."""
        found = _REPLY.match(line)
        if not found:
            raise ValueError("not a reply header")
        reply = cls(found[2].decode(), int(found[4]), (found[5] or b"").decode())
        reply.protocol, reply.build = int(found[1]), int(found[3])
        return reply
