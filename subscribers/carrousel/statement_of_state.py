"""The retained topics of a jackpot: its state, valid for a limited time, and its alerts."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from common.contract.jackpot import (
    KEPT_ALERTS,
    JackpotAlert,
    JackpotAward,
    JackpotState,
    OutOfPlay,
)
from common.contract.retained import Alert
from common.contract.times import format_utc, parse_utc
from subscribers.carrousel.jackpot import JackpotView, view
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.settings import JackpotSettings
from subscribers.feed.alerts import OpenAlerts

STATEMENT_LIFETIME_KEEPALIVES = 3.0
"""Number of keepalive intervals for which a statement is valid."""
MAX_PENDING_ECHOES = 256
"""Maximum number of statements that the broker has not delivered back yet."""


class ControllerRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the controller. ``keepalive``: seconds between two statements."""

    site: str
    boot: str
    keepalive: float


def encode_state(
    run: ControllerRun,
    settings: JackpotSettings,
    state: JackpotLedgerState,
    meter: int,
    position: int,
    now: float,
    why: OutOfPlay | None = None,
) -> bytes:
    """Return the body of the topic ``state`` at ``now`` (seconds since 1970). ``position``: the
    last entry of the ledger; ``why``: why the controller itself keeps the jackpot out of play.
    """
    time = format_utc(now)
    jackpot = view(state, time)
    terms = state.terms or settings.terms
    return msgspec.json.encode(
        JackpotState(
            site=run.site,
            jackpot=settings.terms.jackpot,
            title=settings.title,
            decree=terms.decree,
            currency=terms.currency,
            boot=run.boot,
            time=time,
            until=format_utc(now + STATEMENT_LIFETIME_KEEPALIVES * run.keepalive),
            in_play=jackpot.in_play and why is None,
            why=why or jackpot.why,
            value=meter,
            seq=position,
            generation=state.generation,
            awards=jackpot.awards,
            won=_shown_award(jackpot, terms.shown, now),
            last=jackpot.last,
            tables=jackpot.tables,
            authorisation=jackpot.authorisation,
            terms_wait=jackpot.terms_wait,
            asks=jackpot.asks,
            unordered=jackpot.unordered,
            simulated=settings.simulated,
        )
    )


def _shown_award(jackpot: JackpotView, seconds: int, now: float) -> JackpotAward | None:
    """Return the latest award while it is to be shown."""
    last = next((award for award in jackpot.last if award.status != "withdrawn"), None)
    return None if last is None or now >= parse_utc(last.time) + seconds else last


class JackpotAlerts(OpenAlerts):
    """The open alerts of one jackpot, published on ``alert/<id>``; one for each table and kind.

    ``unstored``: alerts that the ledger must store and does not have yet.
    """

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}
        self.unstored: dict[str, JackpotAlert] = {}
        self.stored: Mapping[str, Alert] = {}
        """Alerts in the committed ledger."""

    def report(
        self, name: str, kind: JackpotAlert, detail: str, time: str, *, fault: bool = False
    ) -> None:
        """Raise an alert, or update it with the latest occurrence. Occurrences are counted."""
        count = self._counts[name] = self._counts.get(name, 0) + 1
        open_alert = self.open.get(name)
        if kind in KEPT_ALERTS and (open_alert is None or open_alert.acknowledged_by is not None):
            self.unstored[name] = kind
        again = f"{count} times since the start; the last: {detail}"
        self.put(
            Alert(
                alert=name,
                what=f"jackpot.{kind}",
                severity="fault" if fault else "warning",
                raised=time if open_alert is None else open_alert.raised,
                detail=detail if count == 1 else again,
            )
        )

    def sync(self, stored: Mapping[str, Alert]) -> None:
        """Take over the ledger's version of its alerts: after a start, an order, or a failed
        commit.
        """
        for name, alert in tuple(self.open.items()):
            if _is_stored(alert) and name not in stored and name not in self.unstored:
                self._counts.pop(name, None)
                self.clear(name)
        for name, alert in stored.items():
            open_alert = self.open.get(name)
            updated = replace(
                open_alert or alert,
                acknowledged_by=alert.acknowledged_by,
                acknowledged_role=alert.acknowledged_role,
                acknowledged=alert.acknowledged,
            )
            if name not in self.unstored and open_alert != updated:
                self.put(updated)


def _is_stored(alert: Alert) -> bool:
    """Return whether an alert is stored in the ledger until a person clears it."""
    return alert.what.removeprefix("jackpot.") in KEPT_ALERTS
