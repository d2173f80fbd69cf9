"""Commands that need two persons: the first signs one, and the second signs the same within a time
limit.

Both sign the whole command, for one state of a session, a round or an award: if that changes in
between, the first signature is void. So no person confirms what he did not see. Uses no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from common.contract.commands import ResultCorrect, RoundConfirm, RoundVoid
from common.contract.refusals import RejectedError
from common.people.roles import EnrolledRole

Mark = Literal["result.correct", "round.confirm", "round.void"]
"""The commands for which a site can require two persons: every correction; the confirmation of a
result that no device saw; voiding a round that has a result.
"""
MARKED_BY_DEFAULT: tuple[Mark, ...] = ("result.correct", "round.confirm", "round.void")
"""The default of a site."""

SECOND_PERSON_SECONDS = 120.0
"""The second person must sign within this time."""
MAX_WAITING = 8
"""Maximum commands of one table that wait for a second person."""


class CommandSubject(msgspec.Struct, frozen=True):
    """The state of the rounds that a command is about. A first signature is valid while it does not
    change.
    """

    has_result: bool = False
    """Whether its result was published."""
    seen: Any = None
    """The number, winner or dice that a device saw, or None."""
    session: int = 0
    """The open session; 0 without one."""
    rounds: tuple[tuple[int, int], ...] = ()
    """The rounds that the command would change, each with the number of its last event."""


def needs_two(
    command: object, subject: CommandSubject, marked: tuple[Mark, ...] = MARKED_BY_DEFAULT
) -> bool:
    """Return True if this command needs two persons."""
    match command:
        case ResultCorrect():
            return "result.correct" in marked
        case RoundConfirm():
            reported = next(
                (
                    value
                    for value in (command.number, command.winner, command.dice)
                    if value is not None
                ),
                subject.seen,
            )
            unseen = reported is not None and reported != subject.seen
            return unseen and "round.confirm" in marked
        case RoundVoid():
            return subject.has_result and "round.void" in marked
        case _:
            return False


class CommandSigner(msgspec.Struct, frozen=True):
    """A person who signed a command."""

    person: str
    """The person's id, not the key's: one person can have several keys."""
    name: str
    role: EnrolledRole
    token: str = ""
    """The signed command, for the journal."""


EndReason = Literal["second_person_late", "second_person_over"]
"""Why a command no longer waits, by the key of its refusal: no second person signed it in time, or
its subject changed or ended.
"""


class WaitingCommand(msgspec.Struct, frozen=True):
    """A command that waits for a second person."""

    command: msgspec.Struct
    """The command as the first person gave it."""
    first: CommandSigner
    until: float
    """Seconds since 1970."""
    subject: object = None
    """The state of its subject when the first person signed it."""
    over: EndReason = "second_person_late"
    """Why it no longer waits, if it does not."""


class WaitingCommands(msgspec.Struct, frozen=True):
    """The commands of one table that wait for a second person."""

    waiting: tuple[WaitingCommand, ...] = ()


def content(command: msgspec.Struct) -> bytes:
    """Return the content of a command without its person, time and note, to compare two of them."""
    fields = msgspec.to_builtins(command)
    return msgspec.json.encode(
        {key: value for key, value in fields.items() if key not in ("at", "by", "role", "note")},
        order="deterministic",
    )


def drop_expired(
    state: WaitingCommands, now: float, subject: Callable[[Any], object] | None = None
) -> tuple[WaitingCommands, tuple[WaitingCommand, ...]]:
    """Drop the commands that no second person signed in time, and those whose subject, as returned
    by ``subject``, has changed. Return the remaining and the dropped ones.
    """
    remaining: list[WaitingCommand] = []
    dropped: list[WaitingCommand] = []
    for entry in state.waiting:
        if entry.until <= now:
            dropped.append(entry)
        elif subject is not None and subject(entry.command) != entry.subject:
            dropped.append(replace(entry, over="second_person_over"))
        else:
            remaining.append(entry)
    return WaitingCommands(tuple(remaining)), tuple(dropped)


def add_signature(
    state: WaitingCommands,
    new_command: msgspec.Struct,
    signer: CommandSigner,
    now: float,
    subject: object = None,
) -> tuple[WaitingCommands, CommandSigner | None]:
    """Add the signature of an authorised person to a command that needs two, whose subject is in
    the state ``subject``.

    Returns the first signer if this is the second one: the command must now be executed, in both
    names. Returns None if this is the first one. Raises :class:`RejectedError` if the same person
    signs again.
    """
    state, _ = drop_expired(state, now)
    command = content(new_command)
    waiting_command = next(
        (
            entry
            for entry in state.waiting
            if entry.subject == subject and content(entry.command) == command
        ),
        None,
    )
    if waiting_command is None:
        if len(state.waiting) >= MAX_WAITING:
            raise RejectedError("second_too_many", count=MAX_WAITING)
        waiting = WaitingCommand(new_command, signer, now + SECOND_PERSON_SECONDS, subject)
        return WaitingCommands((*state.waiting, waiting)), None
    if waiting_command.first.person == signer.person:
        raise RejectedError("second_person_same", by=signer.name)
    return WaitingCommands(
        tuple(entry for entry in state.waiting if entry is not waiting_command)
    ), waiting_command.first


def second_person_wanted(first: CommandSigner, roles: tuple[EnrolledRole, ...]) -> RejectedError:
    """Return the refusal for the first person: not executed yet, with the roles that must sign
    too.
    """
    return RejectedError(
        "second_person_wanted", by=first.name, roles=roles, seconds=int(SECOND_PERSON_SECONDS)
    )
