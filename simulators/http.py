"""A web address as the simulator's port: posts the device's messages. Nothing comes back."""

from __future__ import annotations

import http.client
import queue
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

POST_TIMEOUT_SECONDS = 5.0
"""Maximum time for one answer."""


class HttpPort:
    """Posts the payload of each line to an address, one at a time, in a thread. What is not taken
    is reported on standard error, and not sent again.
    """

    readers: tuple[()] = ()

    def __init__(self, url: str, secret_file: Path) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname or not parts.path:
            raise ValueError(f"{url} is not an address; write http://HOST:PORT/PATH")
        self.address = url
        self._host, self._port, self._path = parts.hostname, parts.port or 80, parts.path
        self._token = secret_file.read_text(encoding="utf-8").split()[0]
        self._is_plugged = True
        self._partial_line = b""
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="posts", daemon=True)
        self._thread.start()

    def plug(self) -> None:
        """Post again."""
        self._is_plugged = True

    def unplug(self) -> None:
        """Post nothing until :meth:`plug`: what the device sends is lost."""
        self._is_plugged = False

    def write(self, data: bytes) -> None:
        """Post each complete line."""
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        for line in lines:
            if self._is_plugged:
                self._waiting.put(line.partition(b" ")[2])

    def read(self) -> bytes:
        """Return nothing: no host answers with more than a status."""
        return b""

    def close(self) -> None:
        """Post what waits, and end."""
        self._waiting.put(None)
        self._thread.join(POST_TIMEOUT_SECONDS)

    def _run(self) -> None:
        while (payload := self._waiting.get()) is not None:
            try:
                outcome = self._post(payload)
            except (OSError, http.client.HTTPException) as error:
                outcome = str(error)
            if outcome:
                print(f"simulator: not taken: {outcome}", file=sys.stderr, flush=True)  # noqa: T201

    def _post(self, payload: bytes) -> str:
        """Return why a message was not taken, or nothing."""
        connection = http.client.HTTPConnection(
            self._host, self._port, timeout=POST_TIMEOUT_SECONDS
        )
        try:
            headers = {
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
            }
            connection.request("POST", self._path, payload, headers)
            answer = connection.getresponse()
            text = answer.read(200).decode("utf-8", "replace").strip()
            return "" if answer.status == 200 else f"{answer.status}: {text}"
        finally:
            connection.close()
