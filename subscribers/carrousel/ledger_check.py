"""Verifies the ledger in a thread, with its progress in the log. Ends early if the controller
ends.
"""

from __future__ import annotations

import asyncio

from nacl.signing import SigningKey

from common import clock
from common.log import structlog
from subscribers.carrousel.self_check import NotVerifiedError, check_ledger
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.store import LedgerStore

PROGRESS_LOG_INTERVAL_SECONDS = 5.0
"""Interval between two log lines about the progress of a verification."""


class LedgerCheck:
    """Verifies the ledger. Raises ``LedgerError``, and ``NotVerifiedError`` if the controller
    ends meanwhile.
    """

    def __init__(self, *, status: ControllerStatus) -> None:
        self._status = status
        self._logged_at = 0.0
        self._log = structlog.get_logger()

    async def run(self, store: LedgerStore, key: SigningKey) -> None:
        """Verify the ledger in a thread."""
        await asyncio.to_thread(self.verify, store, key)

    def verify(self, store: LedgerStore, key: SigningKey) -> None:
        """Verify the ledger in this thread."""
        check_ledger(store, key, self._on_progress, self._on_full_verification)

    def _on_full_verification(self, reason: str) -> None:
        self._log.warning("the whole ledger is verified: not in play until then", reason=reason)

    def _on_progress(self, position: int, total: int) -> None:
        if self._status.is_ending:
            raise NotVerifiedError("the controller is ending")
        if clock.monotonic() - self._logged_at >= PROGRESS_LOG_INTERVAL_SECONDS:
            self._logged_at = clock.monotonic()
            self._log.info("verifying the ledger", entry=position, of=total)
