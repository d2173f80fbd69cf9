"""The line below the demo's display, which the display reads from a file."""

from __future__ import annotations

from pathlib import Path

from common.new_file import replacing


class NoteLine:
    """``always``: the constant end of the line; ``events``: the reported events, in order."""

    def __init__(self, path: Path) -> None:
        self.path, self.always = path, ""
        self.events: list[str] = []
        self._write()

    def set_end(self, always: str) -> None:
        """Set the end of the line."""
        self.always = always
        self._write()

    def add_event(self, line: str) -> None:
        """Report an event: it is shown first in the line until the next one."""
        self.events.append(line)
        self._write()

    def _write(self) -> None:
        parts = (*self.events[-1:], self.always)
        with replacing(self.path, sync=False) as file:  # a reader sees the whole line
            file.write("  ·  ".join(filter(None, parts)).encode())
