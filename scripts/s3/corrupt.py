"""A proxy that changes bytes on the way, as a bad network card would."""

from proxy import Proxy

# What it looks for in what clients send, and what it makes of it.
MARKER, CHANGED = b"CHANGE THIS ON THE WAY", b"CHANGED IT ON THE WAY!"


class Corrupting(Proxy):
    """Counts what it changed."""

    def __init__(self, endpoint: str):
        self.changed = 0
        super().__init__(endpoint)

    def sent(self, data: bytes) -> bytes:
        if MARKER in data:
            self.changed += 1
        return data.replace(MARKER, CHANGED)
