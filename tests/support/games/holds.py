"""Invariants of a table of any game: one input after the other, and whole sessions."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st

from common.contract.events import (
    AnyEvent,
    BetsClosed,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundVoid,
)
from common.contract.notation import Input, read_event, write
from common.contract.refusals import RejectedError
from common.readings import Reading
from tests.support.games.play import AnyPlay, make_command

P = TypeVar("P", bound=AnyPlay[Any, Any])


def spoken(
    kind: str, people: st.SearchStrategy[str], **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[Input]:
    """This command, by one of these people."""
    return st.fixed_dictionaries({"role": people, **fields}).map(
        lambda fields: make_command(kind, **fields)
    )


def step(play: AnyPlay[Any, Any], given: Input) -> list[AnyEvent]:
    """One input. A command may be rejected, and then nothing has changed; a reading never is."""
    before = play.state
    try:
        return play.take(given)
    except RejectedError:
        if isinstance(given, Reading) or play.state is not before:
            raise
        return []


def restored(play: P) -> P:
    """Another table with another game, restored from the saved state of this one."""
    other = copy.copy(play)
    other.game = type(play.game)(play.game.book, play.game.settings)
    other.game.appoint(play.game.deciders)
    other.state = msgspec.json.decode(msgspec.json.encode(play.state), type=play.game.state_type)
    other.events, other.sealed, other.readings = [], [], [*play.readings]
    assert other.state == play.state
    return other


def step_and_check(
    play: AnyPlay[Any, Any], given: Input, waits: int | None = None
) -> list[AnyEvent]:
    """Step one input, and check it: a restored table gives the same output; every event can be read
    back and is of the session; retained state can be written; a reading decides no round that
    ``waits`` for a person.
    """
    other = restored(play)
    events = step(play, given)
    assert step(other, given) == events
    assert other.state == play.state
    for event in events:
        assert read_event(write(event)) == event
        assert event.session == play.state.session
    again = restored(play)
    view = again.game.view(again.state)
    msgspec.json.encode([view.shown, view.history()])
    if waits is not None and isinstance(given, Reading):
        assert not [
            event for event in events if isinstance(event, RoundResult) and event.round == waits
        ]
    return events


def continues(play: AnyPlay[Any, Any], script: Sequence[Input], at: int) -> None:
    """A table that is restored before input ``at`` continues like the one that was never
    restored.
    """
    other = play
    for number, each in enumerate(script):
        if number == at:
            other = restored(play)
        events = step(play, each)
        if number >= at:
            assert step(other, each) == events
            assert other.state == play.state


def sessions_of(events: Sequence[AnyEvent], *kinds: type[Any]) -> list[dict[int, list[AnyEvent]]]:
    """The events of these kinds by session and round. Rounds are counted without a gap."""
    sessions: dict[int, dict[int, list[AnyEvent]]] = {}
    for event in events:
        if isinstance(event, kinds):
            sessions.setdefault(event.session, {}).setdefault(event.round, []).append(event)
    for rounds in sessions.values():
        assert sorted(rounds) == list(range(1, len(rounds) + 1))
    return list(sessions.values())


def has_one_end(of_round: Sequence[AnyEvent]) -> None:
    """A round is opened and closed once, and has one result or was null once; then it is only
    corrected.
    """
    final = [event for event in of_round if isinstance(event, RoundResult | RoundVoid)]
    assert len(final) <= 1
    for kind in (RoundOpened, BetsClosed):
        assert len([event for event in of_round if isinstance(event, kind)]) <= 1
    if final:
        assert all(
            isinstance(event, ResultCorrected) for event in of_round[of_round.index(final[0]) + 1 :]
        )
