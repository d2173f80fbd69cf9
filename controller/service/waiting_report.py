"""What a daemon that waits for the lease of its tables reports to its log and service manager."""

from __future__ import annotations

from collections.abc import Callable, Collection

from common.contract.node import ReloadHealth
from common.log import structlog
from common.standby.record import LeaseRecord
from controller.service.systemd_notify import notify


class WaitingReport:
    """The present report. ``reloaded`` returns the outcome of the last reload."""

    def __init__(self, reloaded: Callable[[], ReloadHealth | None]) -> None:
        self.waits = True
        """False once this daemon has the lease."""
        self.logged: Collection[str] | None = None
        """Kinds of trouble last logged; None: not checked yet."""
        self._troubles: dict[str, str] = {}
        self._reloaded = reloaded
        self._status = ""
        self._holder = "", 0
        """Who was last logged to have the lease, and in which term."""
        self._log = structlog.get_logger()

    def set_status(self, status: str, *lines: str) -> None:
        """Set the status shown by the service manager, with the reason of a refused reload."""
        self._status = status
        if self.logged and self.waits:
            status += f"; could not serve: {'; '.join(self._troubles.values())[:200]}"
        reloaded = self._reloaded()
        if reloaded is not None and reloaded.trouble is not None:
            trouble = " ".join(reloaded.trouble.split())[:200]
            status += f"; configuration not taken over: {trouble}"
        notify(*lines, f"STATUS={status}")

    def repeat_status(self, *lines: str) -> None:
        """Set the status again: what is added to it has changed."""
        self.set_status(self._status, *lines)

    def on_troubles(self, troubles: dict[str, str], *, is_known: bool) -> None:
        """Log what would prevent this daemon from serving, if other kinds of it than before.
        ``is_known``: everything was looked at.
        """
        self._troubles = troubles
        if is_known and troubles.keys() != self.logged:
            self.logged = troubles.keys()
            if troubles:
                self._log.warning(
                    "this daemon could not serve", reason="; ".join(troubles.values())
                )
            else:
                self._log.info("this daemon could serve")
            self.repeat_status()

    def on_lease(self, record: LeaseRecord | None, trouble: str | None) -> None:
        """Report who has the lease, or why its store does not answer."""
        if trouble is not None:
            self._log.warning("the store of the lease does not answer", reason=trouble)
            self.set_status(f"waits; the store of the lease does not answer: {trouble[:200]}")
        elif record is None:
            self.set_status("waits; nobody has had the lease yet")
        else:
            holder = f"{record.instance} {'gave back' if record.released else 'has'} the tables"
            if self._holder != (holder, record.term):
                self._holder = holder, record.term
                self._log.info(
                    "another daemon has the lease",
                    instance=record.instance,
                    term=record.term,
                    released=record.released,
                )
            self.set_status(f"waits: {holder}, term {record.term}")
