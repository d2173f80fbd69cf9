"""A card waits because a reader reports it face up where it must be face down.

Until a person has looked, it is not published, and what comes after it waits too.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import (
    BettingClose,
    CardDecide,
    CardsBurn,
    CardsDeal,
    CardsShow,
    CardsTurn,
    DealError,
    HandAct,
    RoundConfirm,
)
from controller.contract.events import CardRemoved
from controller.contract.refusals import RejectedError
from controller.games.cards import is_card
from controller.games.circle import errors
from controller.games.circle.errors import CircleDealError, apply
from controller.games.circle.readings import leave, take_card, take_packet
from controller.games.circle.turn import CircleTurn
from controller.games.moves import frame_of
from controller.games.session import confirmer
from devices.readings import CardDrawn

OF_THE_ROUND = (
    BettingClose,
    CardsBurn,
    CardsDeal,
    CardsShow,
    CardsTurn,
    DealError,
    HandAct,
    RoundConfirm,
)
"""Commands that are rejected until it is known how the card lies."""


def decide(turn: CircleTurn, given: CardDecide) -> None:
    """Decide about the waiting card: it is face down after all, it is face up, or it leaves the
    game. All else as in the base game.
    """
    hand = turn.state.current
    if hand is None or not hand.waiting:
        errors.decide(turn, given)
        return
    first, *others = hand.waiting
    assert isinstance(first, CardDrawn)
    turn.resumed = hand.street
    turn.change_current(waiting=(), confirmed_by=confirmer(given))
    match given.action:
        case "accept":
            turn.put(first.card, frame_of(first), unread=first.card is None)
        case "exposed":
            _is_face_up(turn, first, given)
        case "remove":
            law, to = turn.book.laws["deal_exposed"], hand.due[0].to
            leave(turn, first, 1)
            turn.say(
                CardRemoved(
                    round=hand.round,
                    why="exposed",
                    card=None,
                    to=to,
                    law=law.rule,
                    article=law.article,
                )
            )
        case _:
            raise RejectedError(
                "action_not_allowed", action=given.action, actions=("accept", "exposed", "remove")
            )
    for each in others:
        if turn.state.current is None:
            break
        if isinstance(each, CardDrawn):
            take_card(turn, each)
        else:
            take_packet(turn, each)
    turn.settle()
    turn.expect()


def _is_face_up(turn: CircleTurn, first: CardDrawn, given: CardDecide) -> None:
    """Publish it, as the person reads it if a card is named, and apply the decree's consequence."""
    named = given.card
    if named is not None and not is_card(named):
        raise RejectedError("not_a_card", card=named)
    to = turn.current.due[0].to
    card = replace(first, card=named, frame=None) if named not in (None, first.card) else first
    turn.put(card.card, frame_of(card), exposed=True, unread=card.card is None)
    if turn.state.current is not None:
        apply(
            turn,
            CircleDealError(
                name="shown_by_player" if given.fault == "player" else "exposed", who=to
            ),
        )
