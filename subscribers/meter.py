"""What is known of one jackpot from MQTT alone: the last statement of its controller, and whether
it still holds. Without clock or I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from controller.contract.jackpot import JackpotState, OutOfPlay
from controller.contract.messages.messages import text, word
from controller.contract.retained import Alert
from controller.contract.times import moment

Silence = Literal["no_broker", "unreadable", "unsaid", "expired"]


class Silent(msgspec.Struct, frozen=True):
    """Why nothing of a jackpot may be shown as current. ``since``: UTC, ISO 8601; None where it is
    not known.
    """

    why: Silence
    since: str | None


class Meter(msgspec.Struct, frozen=True, kw_only=True):
    """One jackpot. What was not heard of yet is None."""

    jackpot: str
    simulated: bool = False
    state: JackpotState | None = None
    heard: str = ""
    """When that was heard: UTC, ISO 8601."""
    unread: str | None = None
    """Since when its last message cannot be read; None: it can."""
    alerts: Mapping[str, Alert] = {}
    """Those that are open, by id."""


def hear(meter: Meter, body: bytes, at: str) -> Meter:
    """What is known after a message on its topic ``state``, which came at ``at``."""
    change = msgspec.structs.replace
    try:
        state = msgspec.json.decode(body, type=JackpotState) if body else None
        if state is not None:
            moment(state.time), moment(state.until)
    except (ValueError, RecursionError):
        return change(meter, unread=meter.unread or at)
    return change(meter, state=state, heard=at, unread=None)


def hear_alert(meter: Meter, name: str, body: bytes) -> Meter:
    """What is known after a message on its topic ``alert/<name>``. One that cannot be read is as if
    it were not there.
    """
    others = {known: alert for known, alert in meter.alerts.items() if known != name}
    try:
        told = {name: msgspec.json.decode(body, type=Alert)} if body else {}
    except (ValueError, RecursionError):
        told = {}
    return msgspec.structs.replace(meter, alerts={**others, **told})


def holds(meter: Meter, now: str) -> float:
    """Seconds for which its last statement still holds; 0 or less: it does not.

    It ends when it says so. A controller whose clock is ahead of ours would have it end too late,
    so it ends as well when as long has passed since it was heard as it was said for.
    """
    if meter.state is None:
        return 0.0
    until = moment(meter.state.until)
    known = moment(meter.heard) + until - moment(meter.state.time)
    return min(until, known) - moment(now)


def silence(meter: Meter, no_broker: str | None, now: str) -> Silent | None:
    """Why nothing of it is current; None: it is. ``no_broker``: since when the broker is not
    heard; None: it is.
    """
    if no_broker is not None:
        return Silent("no_broker", no_broker)
    if meter.unread is not None:
        return Silent("unreadable", meter.unread)
    if meter.state is None:
        return Silent("unsaid", meter.heard or None)
    return None if holds(meter, now) > 0 else Silent("expired", meter.state.until)


def silent_text(silent: Silent, language: str) -> str:
    """The same for a person."""
    group = "trouble" if silent.why in ("no_broker", "unreadable") else "jackpot"
    return text(f"{group}.{silent.why}", language)


def reason(why: OutOfPlay | str | None, language: str) -> str:
    """Why bets are not in play, for a person; empty where nobody said it."""
    return "" if why is None else word("jackpot", f"out_of_play.{why}", language)


def title(meter: Meter, language: str) -> str:
    """What it is called: in this language, else in the first that its site gave, else its id."""
    told = {} if meter.state is None else meter.state.title
    return told.get(language) or next(iter(told.values()), "") or meter.jackpot
