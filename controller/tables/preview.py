"""The rounds that a command would affect, for the rules about a second person."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from common.contract.commands import ResultCorrect, RoundConfirm
from common.contract.commands import RoundVoid as VoidOrder
from common.contract.events import AnyEvent, RoundResult, RoundVoid
from common.contract.refusals import RejectedError
from common.people.two_persons import CommandSubject
from controller.tables.facts import TableFacts

Step = Callable[[Any], tuple[Any, tuple[AnyEvent, ...]]]
"""Steps the game with a command, without an effect on the table. Raises :class:`RejectedError`."""


def affected_rounds(
    command: ResultCorrect | RoundConfirm | VoidOrder,
    step: Step,
    facts: TableFacts,
    *,
    session: int,
    seq_at_start: int,
) -> CommandSubject:
    """Return the rounds of a command. ``session``: the open one, or 0; ``seq_at_start``: number of
    the last event before those facts began. Raises :class:`RejectedError` if the command would be
    refused.

    A device counts as having seen a result if the round could be confirmed without entering it.
    """
    _, events = step(command)
    about = CommandSubject(
        session=session,
        rounds=tuple(
            (number, facts.last_events.get(number, seq_at_start))
            for number in sorted({event.round for event in events if event.round})
        ),
    )
    if isinstance(command, VoidOrder):
        voided = {event.round for event in events if isinstance(event, RoundVoid)}
        return replace(about, has_result=not voided.isdisjoint(facts.result_events))
    if isinstance(command, ResultCorrect):
        return about
    stated = (command.number, command.winner, command.dice)
    entered = next((value for value in stated if value is not None), None)
    if entered is None:
        return about
    try:
        _, unaided = step(replace(command, number=None, winner=None, dice=None))
    except RejectedError:
        return about
    return replace(about, seen=entered if _outcomes_of(unaided) == _outcomes_of(events) else None)


def _outcomes_of(events: Iterable[AnyEvent]) -> list[Any]:
    return [event.outcome for event in events if isinstance(event, RoundResult)]
