"""When a table whose boxes play one deck takes a command, whatever the command says, besides what
its phase refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from controller.contract import commands as person
from controller.games.banked.commands import CONTINUABLE_STOPS
from controller.games.banked.readings import Turn
from controller.games.dealt import cards as on_table
from controller.games.when import (
    Whens,
    bets_closed,
    every,
    has_result,
    is_closed,
    is_open,
    last_rounds_unsaid,
    passes,
    rounds_left,
    voidable,
)


def running(turn: Turn) -> bool:
    """Bets are closed, and nothing stops the round."""
    return bets_closed(turn) and turn.state.stop is None


def _bets_not_closed(turn: Turn) -> bool:
    return is_open(turn) and not bets_closed(turn)


def _playable(turn: Turn) -> bool:
    """Boxes are in play, and nothing is wrong with them or with the deck."""
    state = turn.state
    return bool(state.boxes) and not state.defective and passes(turn.require_playable)


def _shuffler_ready(turn: Turn) -> bool:
    return turn.state.shuffler is None and passes(turn.require_playable)


def _by_hand(turn: Turn) -> bool:
    """Cards are due, and none waits but behind a silence."""
    state = turn.state
    if not bets_closed(turn) or state.doubt is not None:
        return False
    deal, held = state.current, state.held
    waits = bool(held) and not (deal.gap and held[0].trouble is None)
    return not waits and turn.too_early() is None and bool(deal.due)


def showing(turn: Turn) -> Iterator[str]:
    """The hands that may be shown now."""
    state = turn.state
    if not bets_closed(turn) or (state.stop is not None and "cards.show" not in state.asks):
        return
    cards = state.current.cards
    for who in dict.fromkeys(card.to for card in cards if not card.gone):
        reshown = state.doubt == "shown_differs" and on_table.is_up(cards, who)
        if state.doubt is None or (reshown and who != state.about):
            if passes(turn.require_showable, who):
                yield who
        elif state.about in (None, who):
            yield who


def _to_show(turn: Turn) -> bool:
    return any(showing(turn))


def to_turn(turn: Turn) -> bool:
    """A card that was read lies face down in a hand that may be shown."""
    return any(
        card.card is not None and not card.up
        for who in showing(turn)
        for card in on_table.hand(turn.state.current.cards, who)
    )


def _unconfirmed(turn: Turn) -> bool:
    state = turn.state
    return bool(state.unresolved()) or (bets_closed(turn) and state.doubt in CONTINUABLE_STOPS)


def _card_waits(turn: Turn) -> bool:
    state = turn.state
    if state.doubt is not None:
        return state.doubt == "shown_differs" and state.shown is not None
    return bool(state.held) or (state.current is not None and state.current.gap)


WHEN: Whens = {
    person.SessionOpen: is_closed,
    person.SessionClose: is_open,
    person.BoxesSet: _bets_not_closed,
    person.BetsOpen: every(rounds_left, _playable),
    person.BetsClose: _shuffler_ready,
    person.CardsDeal: _by_hand,
    person.CardsShow: _to_show,
    person.CardsTurn: to_turn,
    person.DeckCheck: is_open,
    person.LastRoundsAnnounce: last_rounds_unsaid,
    person.DealError: bets_closed,
    person.RoundVoid: voidable,
    person.RoundConfirm: _unconfirmed,
    person.ResultCorrect: has_result,
    person.CardDecide: every(is_open, _card_waits),
}
