"""A network between browsers and a web server that can hold everything, and deliver it later."""

from __future__ import annotations

import select
import socket
import threading
from contextlib import ExitStack, suppress


class Stall:
    """``address``: where browsers come. While it holds, every byte waits; nothing is lost. The
    server does not learn that a browser has given up: what it sent arrives whole.
    """

    def __init__(self, port: int, ending: ExitStack) -> None:
        self._far = port
        self._flows, self._answers = threading.Event(), threading.Event()
        self.go()
        self._over = False
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()
        ending.callback(self.close)

    def hold(self) -> None:
        """Nothing passes from now on."""
        self._flows.clear()
        self._answers.clear()

    def hold_answers(self) -> None:
        """Nothing comes back from the server."""
        self._answers.clear()

    def go(self) -> None:
        """Release the held bytes, in order."""
        self._flows.set()
        self._answers.set()

    def close(self) -> None:
        self._over = True
        self.go()
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._door.accept()[0]
                threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        with near, suppress(OSError), socket.create_connection(("127.0.0.1", self._far)) as far:
            to = {near: far, far: near}
            while to and not self._over:
                for source in select.select([*to], [], [], 0.5)[0]:
                    data = source.recv(1 << 16)
                    (self._answers if source is far else self._flows).wait()
                    if data:
                        to[source].sendall(data)
                        continue
                    if source is far:
                        return
                    del to[near]
