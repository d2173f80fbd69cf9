"""What takes two persons: the first says it, the second says the same within a time.

Both sign the whole command, about one state of a session, a round or an award: where that changes
in between, the first signature is void. So nobody confirms what he did not see. It asks no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from controller.contract.commands import ResultCorrect, RoundConfirm, RoundVoid
from controller.contract.refusals import RejectedError
from controller.people.roles import Holds

Mark = Literal["result.correct", "round.confirm", "round.void"]
"""What a site can mark, by the command's name: each correction; the confirmation of a result that
no device saw; making void a round that has a result.
"""
MARKED: tuple[Mark, ...] = ("result.correct", "round.confirm", "round.void")
"""What is marked if the site does not say."""

WAITS = 120.0
"""Seconds within which the second person must say it."""
MOST = 8
"""The most commands of one table that wait for a second person."""


class Standing(msgspec.Struct, frozen=True):
    """What is known of the round that a command is about. What a first person said is valid while
    all of it stays the same.
    """

    has_result: bool = False
    """Whether its result was told."""
    seen: Any = None
    """The number, winner or dice that a device saw, or None."""
    session: int = 0
    """The session that is open; 0: none."""
    rounds: tuple[tuple[int, int], ...] = ()
    """The rounds that it would change, each with the number of its last event."""


def takes_two(given: object, standing: Standing, marked: tuple[Mark, ...] = MARKED) -> bool:
    """Whether this command takes two persons."""
    match given:
        case ResultCorrect():
            return "result.correct" in marked
        case RoundConfirm():
            told = next(
                (each for each in (given.number, given.winner, given.dice) if each is not None),
                standing.seen,
            )
            unseen = told is not None and told != standing.seen
            return unseen and "round.confirm" in marked
        case RoundVoid():
            return standing.has_result and "round.void" in marked
        case _:
            return False


class Said(msgspec.Struct, frozen=True):
    """A person who said a command."""

    person: str
    """The person's id: not the key's, for one person can have several."""
    name: str
    role: Holds
    token: str = ""
    """The signed command, for the journal."""


Over = Literal["second_person_late", "second_person_over"]
"""Why a command waits no longer, by the key of its refusal: no second person signed it in time; or
what it was about changed or ended.
"""


class Waiting(msgspec.Struct, frozen=True):
    """A command that waits for a second person."""

    given: msgspec.Struct
    """As the first person gave it."""
    first: Said
    until: float
    """Seconds since 1970."""
    subject: object = None
    """The state of what it is about, when the first person signed it."""
    over: Over = "second_person_late"
    """Why it waits no longer, once it does not."""


class Waits(msgspec.Struct, frozen=True):
    """The commands of one table that wait for a second person."""

    waiting: tuple[Waiting, ...] = ()


def content(given: msgspec.Struct) -> bytes:
    """What a command says, without who says it and when, so that two of them can be compared."""
    said = msgspec.to_builtins(given)
    return msgspec.json.encode(
        {key: value for key, value in said.items() if key not in ("at", "by", "role", "note")},
        order="deterministic",
    )


def expired(
    state: Waits, now: float, subject: Callable[[Any], object] | None = None
) -> tuple[Waits, tuple[Waiting, ...]]:
    """Drop the commands that no second person signed in time, and those of which ``subject``, the
    state of what a command is about, is not what it was. Returns these too.
    """
    kept: list[Waiting] = []
    over: list[Waiting] = []
    for each in state.waiting:
        if each.until <= now:
            over.append(each)
        elif subject is not None and subject(each.given) != each.subject:
            over.append(replace(each, over="second_person_over"))
        else:
            kept.append(each)
    return Waits(tuple(kept)), tuple(over)


def say(
    state: Waits, given: msgspec.Struct, said: Said, now: float, subject: object = None
) -> tuple[Waits, Said | None]:
    """A person who may says a command that takes two, while what it is about is in the state
    ``subject``.

    Returns the first person if this is the second one: follow the command now, and name both.
    Returns None if this is the first one: nothing is followed yet. Raises :class:`RejectedError` if
    the same person says it again.
    """
    state, _ = expired(state, now)
    command = content(given)
    known = next(
        (
            each
            for each in state.waiting
            if each.subject == subject and content(each.given) == command
        ),
        None,
    )
    if known is None:
        if len(state.waiting) >= MOST:
            raise RejectedError("second_too_many", count=MOST)
        waiting = Waiting(given, said, now + WAITS, subject)
        return Waits((*state.waiting, waiting)), None
    if known.first.person == said.person:
        raise RejectedError("second_person_same", by=said.name)
    return Waits(tuple(each for each in state.waiting if each is not known)), known.first


def wanted(first: Said, roles: tuple[Holds, ...]) -> RejectedError:
    """What the first person is told: not followed yet, and who must say the same."""
    return RejectedError("second_person_wanted", by=first.name, roles=roles, seconds=int(WAITS))
