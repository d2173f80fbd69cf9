"""Debian's Firefox without a window, driven by WebDriver BiDi, which it speaks itself."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from websockets.sync.client import connect
from websockets.sync.connection import Connection

from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

_ADDRESS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Firefox:
    """One tab. Raises ``RuntimeError`` if a command fails."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._numbers = connection, count(1)
        self._send("session.new", capabilities={})
        self._tab = self._send("browsingContext.create", type="tab")["context"]

    def open(self, url: str) -> None:
        """Open a page, and return once it is loaded."""
        self._send("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression: a text, a number, a boolean or null."""
        target = {"context": self._tab}
        found = self._send("script.evaluate", expression=script, target=target, awaitPromise=True)
        if found["type"] != "success":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return found["result"].get("value")

    def before_scripts(self, function: str) -> None:
        """Run a function in each page before its own scripts."""
        self._send("script.addPreloadScript", functionDeclaration=function)

    def close(self) -> None:
        """End the browser with all its processes."""
        self._send("browser.close")

    def _send(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._connection.send(json.dumps({"id": number, "method": method, "params": params}))
        while (reply := json.loads(self._connection.recv(TIMEOUT_SECONDS))).get("id") != number:
            pass
        if reply["type"] != "success":
            raise RuntimeError(f"{method}: {reply['message']}")
        result: dict[str, Any] = reply["result"]
        return result


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Start it with a profile of its own in a folder; it ends with the context."""
    path = shutil.which("firefox-esr")
    assert path is not None, "firefox-esr is missing: run tests/debian-packages"
    profile, log = folder / "profile", folder / "firefox.log"
    profile.mkdir()
    words = [path, "--headless", "--no-remote", "--profile", str(profile)]
    words += ["--remote-debugging-port", "0", "about:blank"]
    with log.open("wb") as output, running(words, stdout=output, stderr=output):
        found = until("Firefox", lambda: _ADDRESS.search(log.read_text()), log.read_text)
        with connect(f"{found[1]}/session", max_size=None) as connection:
            browser = Firefox(connection)
            yield browser
            browser.close()
