"""State of a jackpot while the controller runs."""

from __future__ import annotations

from common.broker.echoes import Echoes
from common.contract.topics import Topics
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.orders import Orders
from subscribers.carrousel.settings import JackpotSettings
from subscribers.carrousel.statement_of_state import MAX_PENDING_ECHOES, JackpotAlerts


class JackpotRuntime:
    """State of a jackpot that the ledger does not hold: what is published of it, and when."""

    def __init__(self, *, settings: JackpotSettings, topics: Topics, orders: Orders) -> None:
        self.id = settings.terms.jackpot
        self.settings, self.topics, self.orders = settings, topics, orders
        self.alerts = JackpotAlerts()
        self.former_alerts: set[str] = set()
        """Retained alerts of a previous run, kept until the ledger is open."""
        self.changed = True
        self.published_at = 0.0
        self.last_hit = 0.0
        """Monotonic time of the last hit."""
        self.last_recall = 0.0
        self.echoes = Echoes(MAX_PENDING_ECHOES)
        self.last_statement = b""
        """The last published statement."""
        self.foreign_seen_at = self.corrected_at = 0.0
        """When another client's statement was last received, and when one was last replaced."""
        self.foreign_alerts: set[str] = set()
        """Alerts whose retained body is another client's."""
        self.alerts_corrected_at = 0.0
        """Monotonic time of the last replacement of such alerts."""

    def topic(self, leaf: str) -> str:
        """Return one of its topics."""
        return self.topics.jackpot(self.id, leaf)

    def publish_soon(self) -> None:
        """Have its statement published as soon as the writer has run."""
        self.changed, self.published_at = True, 0.0


def has_open_hit(state: JackpotLedgerState) -> bool:
    """Return whether the value of a hit is not final."""
    return any(not hit.fixed for hit in state.hits)
