"""Trijoker: three cards of one's own and two common ones, against a pay table; two of three bets
may be withdrawn.

After the deal each player takes back his first bet or leaves it (``hand.act``), the left common
card is turned, the same again for the second bet, then the right one; then the hands are face up
(``cards.turn``, ``cards.show``) and the result comes by itself. Where to read on: ``trijoker.turn``
for the rules, ``banked`` for what the game shares with others.
"""

from __future__ import annotations

import msgspec

from common.contract.commands import CardsTurn, HandAct
from common.contract.shown import TrijokerShown
from controller.games.banked import commands, guards
from controller.games.banked import game as banked
from controller.games.dealt import cards as on_table
from controller.games.dealt import game as dealt
from controller.games.dealt.guards import cards_as_seen, unstopped
from controller.games.guards import DEALING, FieldCheck, Row
from controller.games.machine import Choices, Kind, Machine
from controller.games.poker.guards import one_of
from controller.games.poker.machine import named
from controller.games.roles import AT_THE_TABLE
from controller.games.trijoker import turn as moves
from controller.games.trijoker.settings import TrijokerSettings
from controller.games.trijoker.turn import COMMON_PLACES, TrijokerState, TrijokerTurn
from controller.rulebooks.common_poker import Trijoker


def act(turn: TrijokerTurn, command: HandAct) -> None:
    """Record that a player withdraws a bet or leaves it, or undo that decision."""
    assert command.action in ("go", "withdraw")
    (moves.act if command.valid else moves.take_back)(turn, command.who, command.action, command.by)


def may_act(turn: TrijokerTurn) -> bool:
    """Whether a player may decide about a bet, or undo that."""
    return not turn.current.due and turn.current.turned < len(COMMON_PLACES)


def any_to_turn(turn: TrijokerTurn) -> bool:
    """Whether a hand may be turned. A common card also if it was seen too early and is face up
    already: with its turn the next decision begins.
    """
    return guards.any_to_turn(turn) or any(
        who in COMMON_PLACES[turn.current.turned :] and on_table.is_up(turn.current.cards, who)
        for who in guards.showing(turn)
    )


INPUTS = banked.INPUTS.also(
    commands={
        HandAct: Row(
            AT_THE_TABLE, (*DEALING, unstopped, one_of("go", "withdraw", possible=may_act)), act
        ),
        CardsTurn: Row(
            AT_THE_TABLE,
            (
                *DEALING,
                FieldCheck(guards.names_hand),
                FieldCheck(cards_as_seen),
                guards.shows,
                FieldCheck(guards.is_known, any_to_turn),
            ),
            commands.turn_cards,
        ),
    },
    withdrawn=(HandAct,),
    leaves_out={HandAct: ("count", "amount")},
)


def prepare(book: Trijoker, settings: TrijokerSettings) -> Trijoker:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    if not 1 <= settings.decks <= book.decks:
        raise ValueError(f"decks = {settings.decks}: must be 1 to {book.decks}: {book.article}")
    return book


def choices(_game: TrijokerGame) -> Choices:
    """The choices of a hand."""
    return {
        HandAct: {"action": ("go", "withdraw")},
    }


def show(game: TrijokerGame, state: TrijokerState) -> TrijokerShown:
    """The retained state."""
    return TrijokerShown(
        **banked.common(game, state),
        deck=(state.current.round - 1) % game.settings.decks + 1 if state.current else None,
        withdrawn=dict(state.current.withdrawn) if state.current else {},
        pays=msgspec.to_builtins(game.book.pays),
        limits=tuple(game.book.limits),
    )


class TrijokerGame(Machine[Trijoker, TrijokerSettings, TrijokerState, TrijokerTurn]):
    """The game under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.
    """

    kind = Kind(
        state_type=TrijokerState,
        turn_type=TrijokerTurn,
        inputs=INPUTS,
        prepare=prepare,
        show=show,
        history=dealt.history,
        choices=choices,
        named=named,
    )
