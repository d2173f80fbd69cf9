"""Progress on the terminal: one line on standard error, removed when the work is done. Not shown if
standard error is not a terminal.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import TextIO


def use_colours(stream: TextIO) -> bool:
    """True if colours should be used: on a terminal, unless ``NO_COLOR`` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


class Percent:
    """Use as ``with Percent("verifying") as percent: percent.show(done, total)``. Nothing is shown
    if the stream ``unless``, to which the command writes meanwhile, is a terminal too.
    """

    def __init__(self, label: str = "", unless: TextIO | None = None) -> None:
        self._label = label
        self._shown = -1
        self._on = sys.stderr.isatty() and not (unless is not None and unless.isatty())

    def __enter__(self) -> Percent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown >= 0:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def show_part(self, label: str, done: int, total: int) -> None:
        """Show the progress of one of several parts."""
        if label != self._label and self._shown >= 0:
            print("\r\x1b[K", end="", file=sys.stderr)
            self._shown = -1
        self._label = label
        self.show(done, total)

    def show(self, done: int, total: int) -> None:
        """Show the progress."""
        if not self._on:
            return
        percent = 100 * done // total if total else 100
        if percent != self._shown:
            self._shown = percent
            print(f"\r{self._label} {percent} %", end="", file=sys.stderr, flush=True)
