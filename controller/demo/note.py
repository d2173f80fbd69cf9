"""The line below the demo's picture, which its display reads from a file."""

from __future__ import annotations

from pathlib import Path

from devices.new_file import named_in_errors


class Note:
    """``always``: what stands at the end of the line; ``told``: what happened, in order."""

    def __init__(self, path: Path) -> None:
        self.path, self.always = path, ""
        self.told: list[str] = []
        self._write()

    def say(self, always: str) -> None:
        """Let this stand in the line from now on."""
        self.always = always
        self._write()

    def tell(self, line: str) -> None:
        """Something happened: it stands first in the line until the next thing does."""
        self.told.append(line)
        self._write()

    def _write(self) -> None:
        parts = (*self.told[-1:], self.always)
        whole = self.path.with_suffix(".new")
        with named_in_errors(whole):
            whole.write_text("  ·  ".join(filter(None, parts)), encoding="utf-8")
        whole.replace(self.path)  # never half of it
