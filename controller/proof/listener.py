"""Receives the entries of a journal that is verified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from common.chain.schema import Entry
from controller.proof.pieces import Lead


class EntryListener:
    """Receives every entry once, in order. This one calls ``each``; a subclass has findings.
    ``sound``: False if its findings may depend on entries before the seam at which it began.
    """

    sound = True

    def __init__(self, each: Callable[[Entry], None] = lambda _: None) -> None:
        self._each = each

    def on_entry(self, entry: Entry) -> None:
        """Handle the next entry."""
        self._each(entry)

    def end(self) -> None:
        """Handle the end of the entries."""

    def begin(self, lead: Lead) -> None:
        """Begin at a seam, with its lead."""

    def state_digest(self) -> bytes:
        """Return a digest of the present state, on which alone the later findings depend."""
        return b""

    def pop_findings(self) -> Any:
        """Return the findings since the last call, for :meth:`add` in another process."""

    def add(self, found: Any) -> None:
        """Add what another process has found in later entries."""
