"""Browsers that watch pictures of tables: ``python -m benchmarks.browsers PORT STREAMS TABLES
TABLE...``.

Each stream has this many tables, assigned in turn, and is read as fast as it arrives. Like a
browser, it reconnects a second after a stream ends. Ends with SIGTERM.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import sys
import time
from collections.abc import Sequence
from itertools import cycle, islice

RETRY_SECONDS = 1.0
"""Seconds before a stream is requested again."""
CONNECT_TIMEOUT_SECONDS = 10.0
"""Maximum seconds to connect to the server."""


def request_stream(port: int, tables: Sequence[str]) -> socket.socket | None:
    """Return a stream with the pictures of these tables; None if the server refuses."""
    query = "&".join(f"table={table}" for table in tables)
    with contextlib.suppress(OSError):
        made = socket.create_connection(("127.0.0.1", port), CONNECT_TIMEOUT_SECONDS)
        made.sendall(f"GET /stream?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        made.setblocking(False)
        return made
    return None


def watch(port: int, streams: Sequence[Sequence[str]]) -> None:
    """Read all streams until the process ends."""
    missing = dict.fromkeys(range(len(streams)), 0.0)
    """By missing stream, when to request it."""
    selector = selectors.DefaultSelector()
    while True:
        now = time.monotonic()
        for number in [round_ for round_, due in missing.items() if due <= now]:
            made = request_stream(port, streams[number])
            if made is None:
                missing[number] = now + RETRY_SECONDS
            else:
                del missing[number]
                selector.register(made, selectors.EVENT_READ, number)
        for key, _ in selector.select(RETRY_SECONDS / 4):
            stream = key.fileobj
            assert isinstance(stream, socket.socket)
            try:
                ended = not stream.recv(1 << 16)
            except OSError:
                ended = True
            if ended:
                selector.unregister(stream)
                stream.close()
                missing[key.data] = time.monotonic() + RETRY_SECONDS


def main(port: int, streams: int, per_process: int, tables: Sequence[str]) -> None:
    """Assign the tables to the streams."""
    turn = cycle(tables)
    watch(port, [list(islice(turn, per_process)) for _ in range(streams)])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
