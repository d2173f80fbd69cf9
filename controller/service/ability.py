"""Whether a daemon of a pair can serve, while it serves."""

from __future__ import annotations

from collections.abc import Mapping

from common.device_health import State
from common.log import structlog
from common.standby.statements import BROKER, DEVICES, JOURNAL, Missing
from controller.journal.journal import Journal
from controller.service.duty import Duty

HUNG_LEASES = 0.5
"""Share of a lease after which a pending commit, or a missing acknowledgement of the broker, means
that the daemon cannot serve.
"""
SENDING_STATES: tuple[State, ...] = ("up", "unintelligible")
MISSING_STATES: Mapping[State, Missing] = {"lost": "lost", "stale": "stale"}


class Ability:
    """What prevents this daemon from serving: ``troubles``, by kind. ``missing``: the devices that
    it cannot reach; ``lease``: its duration in seconds.
    """

    def __init__(self, *, journal: Journal, lease: float) -> None:
        self.troubles: dict[str, str] = {}
        self.missing: dict[str, Missing] = {}
        self._journal = journal
        self._lease = lease
        self._log = structlog.get_logger()

    def check(self, duty: Duty) -> None:
        """Check what prevents this daemon from serving, while it serves."""
        limit, troubles = HUNG_LEASES * self._lease, {}
        if self._journal.failed is not None:
            troubles[JOURNAL] = f"the journal cannot be written: {self._journal.failed}"
        elif (pending := self._journal.busy_seconds) > limit:
            troubles[JOURNAL] = f"the journal's disk has not stored anything for {pending:.0f} s"
        if not duty.connected():
            troubles[BROKER] = "the broker cannot be reached"
        elif (unanswered := duty.unanswered()) > limit:
            troubles[BROKER] = f"the broker has acknowledged nothing for {unanswered:.0f} s"
        states = duty.devices()
        self.missing = {
            name: MISSING_STATES[state] for name, state in states.items() if state in MISSING_STATES
        }
        if self.missing and not any(state in SENDING_STATES for state in states.values()):
            troubles[DEVICES] = f"no device can be reached: {', '.join(self.missing)}"
        if troubles.keys() != self.troubles.keys() and troubles:
            self._log.warning("this daemon cannot serve", reason="; ".join(troubles.values()))
        self.troubles = troubles
