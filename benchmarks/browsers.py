"""Browsers that look at pictures of tables: ``python -m benchmarks.browsers PORT STREAMS TABLES
TABLE...``.

Each stream has so many of the tables, one after the other, and is read as fast as it comes. Like a
browser, one that has ended is asked for again after a second. Ends with SIGTERM.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import sys
import time
from collections.abc import Sequence
from itertools import cycle, islice

AGAIN = 1.0
"""Seconds after which a stream is asked for again."""
PATIENCE = 10.0
"""Seconds in which the server has to take a connection."""


def ask(port: int, tables: Sequence[str]) -> socket.socket | None:
    """A stream of the pictures of these tables; None: the server takes no connection."""
    query = "&".join(f"table={table}" for table in tables)
    with contextlib.suppress(OSError):
        made = socket.create_connection(("127.0.0.1", port), PATIENCE)
        made.sendall(f"GET /stream?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        made.setblocking(False)
        return made
    return None


def look(port: int, streams: Sequence[Sequence[str]]) -> None:
    """Read all streams until the process is ended."""
    missing = dict.fromkeys(range(len(streams)), 0.0)
    """When to ask for each that is not there."""
    selector = selectors.DefaultSelector()
    while True:
        now = time.monotonic()
        for number in [each for each, due in missing.items() if due <= now]:
            made = ask(port, streams[number])
            if made is None:
                missing[number] = now + AGAIN
            else:
                del missing[number]
                selector.register(made, selectors.EVENT_READ, number)
        for key, _ in selector.select(AGAIN / 4):
            stream = key.fileobj
            assert isinstance(stream, socket.socket)
            try:
                ended = not stream.recv(1 << 16)
            except OSError:
                ended = True
            if ended:
                selector.unregister(stream)
                stream.close()
                missing[key.data] = time.monotonic() + AGAIN


def main(port: int, streams: int, each: int, tables: Sequence[str]) -> None:
    """Share the tables out among the streams."""
    turn = cycle(tables)
    look(port, [list(islice(turn, each)) for _ in range(streams)])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
