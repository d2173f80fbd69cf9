"""State shared by the parts of the jackpot controller: its open books, whether it may take bets,
and the event that wakes the writer.
"""

from __future__ import annotations

import asyncio

from nacl.signing import SigningKey

from common.contract.jackpot import OutOfPlay
from subscribers.carrousel.books import Books
from subscribers.carrousel.jackpot import initial_state
from subscribers.carrousel.ledger_state import JackpotLedgerState


class ControllerStatus:
    """The state of the controller as a whole."""

    def __init__(self) -> None:
        self.why: OutOfPlay | None = "not_verified"
        """Why the controller itself keeps everything out of play."""
        self.is_checking = True
        """Whether the self-check is running."""
        self.is_ending = False
        self.books: Books | None = None
        """None until the ledger is open."""
        self.key: SigningKey | None = None
        """Signs checkpoints and marks; None until the ledger was verified."""
        self.work = asyncio.Event()
        """Set if the writer has something to do."""
        self.tables_checked_at = 0.0
        """Monotonic time of the last check of whether tables may take bets."""

    def check_tables_soon(self) -> None:
        """Have the writer check again whether tables may take bets."""
        self.tables_checked_at = 0.0
        self.work.set()

    def state_of(self, jackpot: str) -> JackpotLedgerState:
        """Return the state of a jackpot; its initial one until the ledger is open."""
        return initial_state(jackpot) if self.books is None else self.books.states[jackpot]
