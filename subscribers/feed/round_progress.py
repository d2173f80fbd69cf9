"""Actions in the round in progress, from one table's events: a fold without clock or I/O.

The retained state does not include each hand's last action and who acts first in a betting
interval; only events do. A client that connects in mid-round does not have them.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class HandAction(msgspec.Struct, frozen=True):
    """A hand's latest action. ``count``: number of cards it discarded."""

    decision: str
    count: int | None = None


class RoundProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The latest round that an event belongs to."""

    boot: str = ""
    seq: int = 0
    """The last event applied."""
    session: int = 0
    round: int = 0
    actions: Mapping[str, HandAction] = {}
    """By hand."""
    spoken: tuple[str, ...] = ()
    """The hands that have acted in this betting interval, in order."""
    first: str | None = None
    """The hand that acts first in this betting interval, if the rules name one."""
    burned: int = 0
    """Cards burned before the first round of the shoe, or in the round."""
    burn_card: str | None = None
    """The card that was turned up and set the number of burned cards."""


class ProgressEvent(msgspec.Struct, frozen=True):
    """The event fields that this fold uses."""

    type: str
    boot: str = ""
    seq: int = 0
    session: int = 0
    round: int = 0
    who: str | None = None
    decision: str | None = None
    count: int | None = None
    valid: bool = True
    first: str | None = None
    shown: str | None = None


def follow(progress: RoundProgress, body: bytes) -> RoundProgress:
    """Apply an event and return the result. Events of an earlier round, repeated events and other
    messages change nothing.
    """
    try:
        event = msgspec.json.decode(body, type=ProgressEvent)
    except (ValueError, RecursionError):  # an event with a field of that name and another type
        return progress
    now = progress.session, progress.round
    here = event.session == progress.session
    place = event.session, event.round or (progress.round if here else 0)
    if place < now or (event.boot == progress.boot and event.seq <= progress.seq):
        return progress
    change = msgspec.structs.replace
    if place > now:
        progress = RoundProgress(session=place[0], round=place[1])
    progress = change(progress, boot=event.boot, seq=event.seq)
    match event.type:
        case "hand.decided" if event.who is not None:
            others = {who: last for who, last in progress.actions.items() if who != event.who}
            spoken = (*(who for who in progress.spoken if who != event.who), event.who)
            if not event.valid:
                return change(progress, actions=others, spoken=spoken[:-1])
            actions = {**others, event.who: HandAction(event.decision or "", event.count)}
            return change(progress, actions=actions, spoken=spoken)
        case "betting.opened":
            return change(progress, actions={}, spoken=(), first=event.first)
        case "betting.closed":
            return change(progress, spoken=(), first=None)
        case "cards.burned":
            return change(progress, burned=event.count or 0, burn_card=event.shown)
        case "shoe.started":
            return change(progress, actions={}, burned=0, burn_card=None)
    return progress
