"""When a table of circle poker takes a command, whatever the command says, besides what its phase
refuses.
"""

from __future__ import annotations

from controller.contract import commands as person
from controller.games.circle.streets import needed, pack, streets
from controller.games.circle.turn import CircleTurn
from controller.games.when import (
    Whens,
    between_rounds,
    every,
    is_open,
    last_rounds_unsaid,
    rounds_left,
    voidable,
)

DEAD_PLACES = ("burn", "dead")
"""Cards that belong to no hand."""


def _has_winner(turn: CircleTurn) -> bool:
    """A remembered round has a result, and its pot was opened: otherwise it cannot be won."""
    return any(
        entry.kind == "result" and "blank" not in entry.marks for entry in turn.state.entries
    )


def _untroubled(turn: CircleTurn) -> bool:
    return turn.state.stop is None


def _players_enough(turn: CircleTurn) -> bool:
    """Enough are seated and play, and the deck suffices for them."""
    state, book = turn.state, turn.book
    playing, seated = len(state.playing), len(state.seated)
    if seated < book.fewest or playing < 2 or state.deck is False or state.button is None:
        return False
    return needed(book, turn.settings, playing) <= len(pack(book, seated))


def _place_for_button(turn: CircleTurn) -> bool:
    return bool(turn.state.seated) or turn.state.button is not None


def _in_round(turn: CircleTurn) -> bool:
    return turn.state.current is not None


def _cards_due(turn: CircleTurn) -> bool:
    hand = turn.current
    cut_seen = any(doubt.what == "deal_exposed_in_cut" for doubt in turn.state.doubts)
    due = not hand.closed or (bool(hand.due) and not hand.due[0].turn)
    return due and not hand.open and not cut_seen


def _to_burn(turn: CircleTurn) -> bool:
    """The next card belongs to no hand."""
    hand = turn.current
    if hand.closed:
        return hand.due[0].to in DEAD_PLACES
    return streets(turn.book, turn.settings)[0][0].partition(" ")[0] in DEAD_PLACES


def _to_show(turn: CircleTurn) -> bool:
    """Cards lie on the table, or the next ones are common."""
    hand = turn.current
    return bool(hand.lying) or any(place.to.startswith("board") for place in hand.due)


def _to_turn(turn: CircleTurn) -> bool:
    """A card that was read lies face down."""
    return any(card.card is not None and not card.up for card in turn.current.lying)


def _betting(turn: CircleTurn) -> bool:
    return turn.current.open


def _may_act(turn: CircleTurn) -> bool:
    return bool(turn.state.seated) or turn.state.current is not None


def _errors(turn: CircleTurn) -> bool:
    hand = turn.state.current
    dealt = hand is not None and hand.closed
    return dealt or bool(turn.state.doubts) or "reshuffle" in turn.book.errors.values()


def _card_waits(turn: CircleTurn) -> bool:
    doubts = turn.state.doubts
    return bool(turn.state.held) or (bool(doubts) and "card.decide" in doubts[0].asks)


def _unconfirmed(turn: CircleTurn) -> bool:
    hand = turn.state.current
    return bool(turn.state.unresolved()) or (hand is not None and hand.showdown)


WHEN: Whens = {
    person.CardDecide: _card_waits,
    person.RoundVoid: voidable,
    person.RoundConfirm: _unconfirmed,
    person.ResultCorrect: _has_winner,
    person.LimitAnnounce: is_open,
    person.BoxesSet: is_open,
    person.ButtonSet: every(is_open, between_rounds, _place_for_button),
    person.BetsOpen: every(rounds_left, _players_enough),
    person.BetsClose: _untroubled,
    person.CardsDeal: every(_in_round, _cards_due),
    person.CardsBurn: every(_in_round, _cards_due, _to_burn),
    person.CardsShow: every(_in_round, _to_show),
    person.CardsTurn: every(_in_round, _to_turn),
    person.HandAct: _may_act,
    person.BettingClose: every(_in_round, _betting, _untroubled),
    person.DealError: _errors,
    person.LastRoundsAnnounce: last_rounds_unsaid,
}
