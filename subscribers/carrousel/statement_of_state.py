"""The retained topics of a jackpot: its state, with until when it holds, and its alerts."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from controller.contract.jackpot import (
    KEPT_ALERTS,
    JackpotAlert,
    JackpotAward,
    JackpotState,
    OutOfPlay,
)
from controller.contract.retained import Alert
from controller.contract.times import moment, utc
from subscribers.carrousel.jackpot import JackpotView, view
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.settings import JackpotSettings

STATEMENT_LIFETIME_KEEPALIVES = 3.0
"""For how many keepalives a statement holds."""
MAX_PENDING_ECHOES = 256
"""Statements that have not come back from the broker, at most."""


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
    """The topic ``state`` at ``now`` (seconds since 1970). ``position``: the last entry of the
    ledger; ``why``: why the controller itself keeps the jackpot out of play.
    """
    time = utc(now)
    told = view(state, time)
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
            until=utc(now + STATEMENT_LIFETIME_KEEPALIVES * run.keepalive),
            in_play=told.in_play and why is None,
            why=why or told.why,
            value=meter,
            seq=position,
            generation=state.generation,
            awards=told.awards,
            won=_shown_award(told, terms.shown, now),
            last=told.last,
            tables=told.tables,
            authorisation=told.authorisation,
            terms_wait=told.terms_wait,
            asks=told.asks,
            unordered=told.unordered,
            simulated=settings.simulated,
        )
    )


def _shown_award(told: JackpotView, seconds: int, now: float) -> JackpotAward | None:
    """The last award, while it is to be shown."""
    last = next((each for each in told.last if each.status != "withdrawn"), None)
    return None if last is None or now >= moment(last.time) + seconds else last


class PendingEchoes:
    """The statements of a jackpot that were published and have not come back from the broker."""

    def __init__(self) -> None:
        self._pending: dict[bytes, None] = {}

    def add(self, body: bytes) -> None:
        """It is said now."""
        self._pending[body] = None
        while len(self._pending) > MAX_PENDING_ECHOES:
            del self._pending[next(iter(self._pending))]

    def remove(self, body: bytes) -> bool:
        """Whether it is one of them. Those before it do not come any more."""
        if body not in self._pending:
            return False
        for each in tuple(self._pending):
            del self._pending[each]
            if each == body:
                break
        return True


class JackpotAlerts:
    """The open alerts of one jackpot. ``alert/<id>``: one for each table and kind.

    ``unkept``: those that the ledger is to keep, and does not know of.
    """

    def __init__(self) -> None:
        self.open: dict[str, Alert] = {}
        self._counts: dict[str, int] = {}
        self.changed: set[str] = set()
        self.unstored: dict[str, JackpotAlert] = {}
        self.stored: Mapping[str, Alert] = {}
        """Those that the ledger has, as it is committed."""

    def report(
        self, name: str, what: JackpotAlert, detail: str, time: str, *, fault: bool = False
    ) -> None:
        """Raise an alert, or tell the latest of its kind. It is counted."""
        count = self._counts[name] = self._counts.get(name, 0) + 1
        known = self.open.get(name)
        if what in KEPT_ALERTS and (known is None or known.acknowledged_by is not None):
            self.unstored[name] = what
        self.open[name] = Alert(
            alert=name,
            what=f"jackpot.{what}",
            severity="fault" if fault else "warning",
            raised=time if known is None else known.raised,
            detail=detail if count == 1 else f"{count} times since the start; the last: {detail}",
        )
        self.changed.add(name)

    def clear(self, name: str) -> None:
        """Close an alert."""
        if self.open.pop(name, None) is not None:
            self.changed.add(name)

    def sync(self, kept: Mapping[str, Alert]) -> None:
        """Take over what the ledger says of the alerts that it keeps: after a start, an order, or a
        commit that failed.
        """
        for name, alert in tuple(self.open.items()):
            if _is_stored(alert) and name not in kept and name not in self.unstored:
                self._counts.pop(name, None)
                self.clear(name)
        for name, alert in kept.items():
            known = self.open.get(name)
            now = replace(
                known or alert,
                acknowledged_by=alert.acknowledged_by,
                acknowledged_role=alert.acknowledged_role,
                acknowledged=alert.acknowledged,
            )
            if name not in self.unstored and known != now:
                self.open[name] = now
                self.changed.add(name)

    def body(self, name: str) -> bytes:
        """What is on its topic; empty: nothing any more."""
        alert = self.open.get(name)
        return b"" if alert is None else msgspec.json.encode(alert)


def _is_stored(alert: Alert) -> bool:
    """Whether it stands until a person clears it."""
    return alert.what.removeprefix("jackpot.") in KEPT_ALERTS
