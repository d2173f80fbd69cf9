"""The line below the demo's display, which the display reads from a file."""

from __future__ import annotations

from pathlib import Path

from devices.new_file import named_in_errors


class NoteLine:
    """``always``: the end of the line; ``told``: the reported events, in order."""

    def __init__(self, path: Path) -> None:
        self.path, self.always = path, ""
        self.told: list[str] = []
        self._write()

    def say(self, always: str) -> None:
        """Set the end of the line."""
        self.always = always
        self._write()

    def tell(self, line: str) -> None:
        """Report an event: it is shown first in the line until the next one."""
        self.told.append(line)
        self._write()

    def _write(self) -> None:
        parts = (*self.told[-1:], self.always)
        whole = self.path.with_suffix(".new")
        with named_in_errors(whole):
            whole.write_text("  ·  ".join(filter(None, parts)), encoding="utf-8")
        whole.replace(self.path)  # atomic, so that a reader sees the whole line
