"""The lines below the demo's display, which the display reads from a file."""

from __future__ import annotations

from pathlib import Path

from common.new_file import replacing


class NoteLines:
    """``always``: the constant lines; ``events``: the reported events, in order, of which the last
    one is shown below them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.always: tuple[str, ...] = ()
        self.events: list[str] = []
        self._write()

    def set_always(self, *lines: str) -> None:
        """Set the constant lines."""
        self.always = lines
        self._write()

    def add_event(self, line: str) -> None:
        """Report an event: it is shown until the next one."""
        self.events.append(line)
        self._write()

    def _write(self) -> None:
        with replacing(self.path, sync=False) as file:  # a reader sees all lines
            file.write("\n".join((*self.always, *self.events[-1:])).encode())
