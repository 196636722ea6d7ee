"""A proxy between clients and a server.

Clients sign for the proxy's address, and the server sees that name, so that signatures are right.
"""

import socket
import threading
import urllib.parse


class Proxy:
    """Passes on what clients send, and the answers, until the program ends."""

    def __init__(self, endpoint: str):
        parts = urllib.parse.urlsplit(endpoint)
        self.server = (parts.hostname, parts.port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def sent(self, data: bytes) -> bytes:
        """What the server is to get of what a client sent."""
        raise NotImplementedError

    def accept(self) -> None:
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(self.server)
            threading.Thread(target=self.pass_on, args=(client, server, self.sent), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(server, client, bytes), daemon=True).start()

    def pass_on(self, source: socket.socket, target: socket.socket, change) -> None:
        try:
            while data := source.recv(1 << 16):
                target.sendall(change(data))
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # Whoever is still there hears of it.
            for end in (source, target):
                end.close()
