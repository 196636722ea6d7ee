"""A proxy that changes bytes on the way, as a bad network card would.

Clients sign for the proxy's address, so the server sees requests that are right but for what was changed in their bodies.
"""

import socket
import threading
import urllib.parse

# What it looks for in what clients send, and what it makes of it.
MARKER, CHANGED = b"CHANGE THIS ON THE WAY", b"CHANGED IT ON THE WAY!"


class Corrupting:
    """Listens until the program ends."""

    def __init__(self, endpoint: str):
        parts = urllib.parse.urlsplit(endpoint)
        self.server = (parts.hostname, parts.port)
        self.changed = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(self.server)
            threading.Thread(target=self.pass_on, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(server, client, False), daemon=True).start()

    def pass_on(self, source: socket.socket, target: socket.socket, change: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                if change and MARKER in data:
                    self.changed += 1
                    data = data.replace(MARKER, CHANGED)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # Whoever is still there hears of it.
            for end in (source, target):
                end.close()
