"""Progress on the terminal: one line on standard error, gone when the work is done. Nothing where
that is no terminal.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import TextIO


def in_colours(stream: TextIO) -> bool:
    """Whether a person reads it, who wants colours: not so where ``NO_COLOR`` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


class Percent:
    """``with Percent("verifying") as percent: percent.show(done, total)``. Nothing either while the
    stream ``unless``, to which the command writes meanwhile, goes to a terminal too.
    """

    def __init__(self, what: str = "", unless: TextIO | None = None) -> None:
        self._what = what
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

    def of(self, what: str, done: int, total: int) -> None:
        """So much of so much of this is done: for work that has several parts."""
        if what != self._what and self._shown >= 0:
            print("\r\x1b[K", end="", file=sys.stderr)
            self._shown = -1
        self._what = what
        self.show(done, total)

    def show(self, done: int, total: int) -> None:
        """So much of so much is done."""
        if not self._on:
            return
        percent = 100 * done // total if total else 100
        if percent != self._shown:
            self._shown = percent
            print(f"\r{self._what} {percent} %", end="", file=sys.stderr, flush=True)
