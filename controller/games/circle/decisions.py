"""Decisions of people: about a card that a reader reported face up, or about another stop of the
table.

Until a person has looked, that card is not published, and what comes after it waits too.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import CardDecide
from common.contract.refusals import RejectedError
from common.readings import CardDrawn
from controller.games.cards import is_card
from controller.games.circle import arrivals, doubts, moves
from controller.games.circle.state import EARLY_PLACE
from controller.games.circle.turn import CircleDealError, CircleTurn
from controller.games.dealt.arrivals import follow_all
from controller.games.guards import Refused
from controller.games.session import confirmer, sent

DISBELIEVED_TROUBLES = ("card_duplicate", "card_foreign", "shown_differs")
"""After these a person has decided that the cards are right: then the reader's report of the
covered ones is wrong. After a ``silence`` it is, as long as every card that was due comes from the
reader (``CircleTurn.mistrust``).
"""


def decide(turn: CircleTurn, command: CardDecide) -> None:
    """Decide about the waiting card, else about the first doubt."""
    if turn.state.held:
        _about_card(turn, command)
    else:
        _about_doubt(turn, command)
    turn.settle()


def card_waits(turn: CircleTurn) -> Refused | None:
    """A card waits, or the first doubt is one that a person decides so."""
    if turn.state.held:
        return None
    if not turn.state.doubts:
        return Refused("nothing_to_decide")
    doubt = turn.state.doubts[0]
    if "card.decide" in doubt.asks:
        return None
    return Refused("decide_first", {"what": doubt.what, "commands": sent(doubt.asks)})


def _about_card(turn: CircleTurn, command: CardDecide) -> None:
    """Decide about the card: face down after all, face up, or removed; then deal the later ones."""
    (held, *others), card, to = turn.state.held, turn.state.held[0].given, turn.current.due[0].to
    turn.resumed = turn.current.street
    turn.change(held=())
    turn.change_current(confirmed_by=confirmer(command))
    match command.action:
        case "accept":
            turn.variant.deal(turn, card.card, card.reading, unread=card.card is None)
        case "exposed":
            _is_face_up(turn, card, command, to)
        case "remove":
            arrivals.leave_out(turn, held)
            moves.emit_removed(turn, "exposed", turn.book.laws["deal_exposed"], to)
        case _:
            _refuse(command, "accept", "exposed", "remove")
    follow_all(turn, others)


def _is_face_up(turn: CircleTurn, card: CardDrawn, command: CardDecide, to: str) -> None:
    """Publish the card, as the person reads it if a card is named, and apply the decree's
    consequence.
    """
    named = command.card
    if named is not None and not is_card(named):
        raise RejectedError("not_a_card", card=named)
    if named not in (None, card.card):
        card = replace(card, card=named)
    turn.variant.deal(turn, card.card, card.reading, exposed=True, unread=card.card is None)
    if turn.state.current is not None:
        error = "shown_by_player" if command.fault == "player" else "exposed"
        moves.apply(turn, CircleDealError(name=error, who=to))


def _about_doubt(turn: CircleTurn, command: CardDecide) -> None:
    """Record that the trouble was corrected, or remove the cards that came too early."""
    doubt = turn.state.doubts[0]
    if command.action not in ("accept", "remove"):
        _refuse(command, "accept", "remove")
    hand = turn.state.current
    if command.action == "remove":
        if hand is None or not hand.early:
            raise RejectedError("no_card_waiting")
        moves.remove_hand(turn, EARLY_PLACE)
    doubts.resolve(turn, doubt)
    if hand is not None:
        turn.change_current(confirmed_by=confirmer(command))
        if doubt.what in DISBELIEVED_TROUBLES:
            doubts.disbelieve(turn)


def _refuse(command: CardDecide, *actions: str) -> None:
    raise RejectedError("action_not_allowed", action=command.action, actions=actions)
