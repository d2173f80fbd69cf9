"""What was said in the round in progress, of the events of one table: a fold without clock or I/O.

The state says how a table stands; what a hand said last, and who speaks first in a betting
interval, only events tell. Whoever joins in mid-round has not heard it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Said(msgspec.Struct, frozen=True):
    """What a hand did last. ``count``: how many cards it discarded."""

    decision: str
    count: int | None = None


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """The latest round that an event was about."""

    boot: str = ""
    seq: int = 0
    """The last event that counts here."""
    session: int = 0
    round: int = 0
    said: Mapping[str, Said] = {}
    """By hand."""
    spoken: tuple[str, ...] = ()
    """The hands that spoke in this betting interval."""
    first: str | None = None
    """The hand that speaks first in this betting interval, where the rules say so."""
    burned: int = 0
    """Cards burned before the first round of the shoe, or in the round."""
    burn_card: str | None = None
    """The card that was shown and decided how many are burned."""


class Heard(msgspec.Struct, frozen=True):
    """The fields of an event that are followed here."""

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


def follow(course: Course, body: bytes) -> Course:
    """The course after an event. One of an earlier round, or that was heard before, changes
    nothing; so does one that is none of these.
    """
    try:
        event = msgspec.json.decode(body, type=Heard)
    except (ValueError, RecursionError):  # it has a field of the same name and another meaning
        return course
    now = course.session, course.round
    here = event.session == course.session
    place = event.session, event.round or (course.round if here else 0)
    if place < now or (event.boot == course.boot and event.seq <= course.seq):
        return course
    change = msgspec.structs.replace
    if place > now:
        course = Course(session=place[0], round=place[1])
    course = change(course, boot=event.boot, seq=event.seq)
    match event.type:
        case "hand.decided" if event.who is not None:
            others = {who: said for who, said in course.said.items() if who != event.who}
            spoken = (*(who for who in course.spoken if who != event.who), event.who)
            if not event.valid:
                return change(course, said=others, spoken=spoken[:-1])
            said = {**others, event.who: Said(event.decision or "", event.count)}
            return change(course, said=said, spoken=spoken)
        case "betting.opened":
            return change(course, said={}, spoken=(), first=event.first)
        case "betting.closed":
            return change(course, spoken=(), first=None)
        case "cards.burned":
            return change(course, burned=event.count or 0, burn_card=event.shown)
        case "shoe.started":
            return change(course, said={}, burned=0, burn_card=None)
    return course
