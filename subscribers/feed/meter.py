"""State of one jackpot as received over MQTT: the last statement of its controller, and whether it
is still valid. Without clock or I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from common.contract.jackpot import JackpotState, OutOfPlay
from common.contract.messages.messages import text, word
from common.contract.retained import Alert
from common.contract.times import parse_utc

SilenceReason = Literal["no_broker", "unreadable", "unsaid", "expired"]


class MeterSilence(msgspec.Struct, frozen=True):
    """Why a jackpot's meter must not be shown as current. ``since``: UTC, ISO 8601; None if
    unknown.
    """

    why: SilenceReason
    since: str | None


class Meter(msgspec.Struct, frozen=True, kw_only=True):
    """One jackpot. Fields that have not been received yet are None."""

    jackpot: str
    simulated: bool = False
    state: JackpotState | None = None
    received_at: str = ""
    """When ``state`` was received: UTC, ISO 8601."""
    unreadable_since: str | None = None
    """Since when its last message cannot be decoded; None if it can."""
    alerts: Mapping[str, Alert] = {}
    """Open alerts, by id."""


def on_state(meter: Meter, body: bytes, at: str) -> Meter:
    """Apply a message on its topic ``state``, received at ``at``, and return the result."""
    change = msgspec.structs.replace
    try:
        state = msgspec.json.decode(body, type=JackpotState) if body else None
        if state is not None:
            parse_utc(state.time), parse_utc(state.until)
    except (ValueError, RecursionError):
        return change(meter, unreadable_since=meter.unreadable_since or at)
    return change(meter, state=state, received_at=at, unreadable_since=None)


def on_alert(meter: Meter, name: str, body: bytes) -> Meter:
    """Apply a message on its topic ``alert/<name>``. An unreadable one counts as cleared."""
    others = {alert_id: alert for alert_id, alert in meter.alerts.items() if alert_id != name}
    try:
        alert = {name: msgspec.json.decode(body, type=Alert)} if body else {}
    except (ValueError, RecursionError):
        alert = {}
    return msgspec.structs.replace(meter, alerts={**others, **alert})


def remaining_seconds(meter: Meter, now: str) -> float:
    """Return the seconds for which its last statement is still valid; 0 or less: expired.

    A statement expires at its own ``until``, or when its lifetime has passed since it was received,
    whichever is sooner: the controller's clock may be ahead of this machine's.
    """
    if meter.state is None:
        return 0.0
    until = parse_utc(meter.state.until)
    expiry = parse_utc(meter.received_at) + until - parse_utc(meter.state.time)
    return min(until, expiry) - parse_utc(now)


def silence(meter: Meter, no_broker: str | None, now: str) -> MeterSilence | None:
    """Return why the meter is not current, or None if it is. ``no_broker``: since when the broker
    is unreachable, or None.
    """
    if no_broker is not None:
        return MeterSilence("no_broker", no_broker)
    if meter.unreadable_since is not None:
        return MeterSilence("unreadable", meter.unreadable_since)
    if meter.state is None:
        return MeterSilence("unsaid", meter.received_at or None)
    return None if remaining_seconds(meter, now) > 0 else MeterSilence("expired", meter.state.until)


def silence_text(silent: MeterSilence, language: str) -> str:
    """Return the reason of a silence as text for a person."""
    group = "trouble" if silent.why in ("no_broker", "unreadable") else "jackpot"
    return text(f"{group}.{silent.why}", language)


def out_of_play_text(why: OutOfPlay | str | None, language: str) -> str:
    """Return why bets are not in play, as text for a person; empty if no reason is known."""
    return "" if why is None else word("jackpot", f"out_of_play.{why}", language)


def title(meter: Meter, language: str) -> str:
    """Return its title in this language, else in the site's first language, else its id."""
    titles = {} if meter.state is None else meter.state.title
    return titles.get(language) or next(iter(titles.values()), "") or meter.jackpot
