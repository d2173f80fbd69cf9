"""The guards of the commands of a table whose boxes play one deck: what its state must be."""

from __future__ import annotations

from common.contract.commands import (
    CardsShow,
    CardsTurn,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from controller.games.banked.moves import Turn
from controller.games.banked.state import BankedDeal
from controller.games.dealt import cards as on_table
from controller.games.dealt.state import DealtEntry
from controller.games.guards import (
    DEALING,
    Refused,
    has_unresolved,
    require,
)
from controller.games.poker.correction import (
    published,
)
from controller.games.session import sent, void_law

CONTINUABLE_STOPS = (
    "card_exposed",
    "deal_error",
    "packet_wrong",
    "shuffler_unready",
    "dealer_early",
    "deck_wrong",
    "leftover_wrong",
)
"""Doubts that a person may overrule, so that the round continues."""


def bets_not_closed(turn: Turn) -> Refused | None:
    """The bets of no round are closed."""
    deal = turn.state.current
    closed = deal is not None and deal.closed
    return Refused("boxes_after_close", {"round": deal.round}) if closed else None


def has_boxes(turn: Turn) -> Refused | None:
    """Boxes are in play."""
    return None if turn.state.boxes else Refused("no_boxes")


def deck_whole(turn: Turn) -> Refused | None:
    """The last check of the deck found nothing wrong."""
    if turn.state.defective:
        return Refused("deck_not_whole", law=turn.book.laws["deck_wrong"])
    return None


def playable(turn: Turn) -> Refused | None:
    """A round can be played with these boxes."""
    return turn.banked.unplayable(turn)


def dealt_by_hand(turn: Turn) -> Refused | None:
    """Nothing waits for a person but what came after the cards that a silence hid."""
    state, deal = turn.state, turn.current
    after_silence = deal.gap and bool(state.held) and state.held[0].trouble is None
    if state.doubt is None and (not state.held or after_silence):
        return None
    asks = ("card.decide",) if state.held else state.asks
    return Refused("table_waits_for", {"commands": sent(asks)})


def not_too_early(turn: Turn) -> Refused | None:
    """A card may come."""
    why = turn.banked.too_early(turn)
    return Refused("card_too_early", law=turn.book.laws[why]) if why else None


def cards_due(turn: Turn) -> Refused | None:
    """Cards are still to be dealt."""
    return None if turn.current.due else Refused("no_more_cards_due")


def shows(turn: Turn) -> Refused | None:
    """Nothing stops the table, or a hand that is shown settles it."""
    state = turn.state
    if state.stop is not None and "cards.show" not in state.asks:
        return Refused("table_waits_for", {"commands": sent(state.asks)})
    return None


def _unshowable(turn: Turn, who: str) -> Refused | None:
    """Why this hand may not be shown now."""
    state, cards = turn.state, turn.current.cards
    if not on_table.hand(cards, who):
        return Refused("no_cards", {"who": who})
    # the other one may be wrong
    reshown = state.doubt == "shown_differs" and on_table.is_up(cards, who)
    if state.doubt is None or (reshown and who != state.about):
        return turn.banked.unshowable(turn, who)
    if state.about not in (None, who):
        return Refused("table_waits_for_cards", {"who": state.about})
    return None


def showing(turn: Turn) -> list[str]:
    """The hands that may be shown now."""
    names = dict.fromkeys(card.to for card in turn.current.cards if not card.gone)
    return [who for who in names if _unshowable(turn, who) is None]


def is_showable(turn: Turn, command: CardsShow) -> None:
    """Reject a hand that may not be shown now."""
    if refused := _unshowable(turn, command.who):
        raise refused.error()


def any_to_show(turn: Turn) -> bool:
    """Some hand may be shown."""
    return bool(showing(turn))


def names_hand(turn: Turn, command: CardsTurn) -> None:  # noqa: ARG001 - at any table
    """Reject a command without a hand."""
    if command.who is None:
        raise RejectedError("who_required")


def is_known(turn: Turn, command: CardsTurn) -> None:
    """Reject a hand that may not be shown now, and cards that were not read."""
    who, index, cards = command.who, command.index, turn.current.cards
    assert who is not None
    if refused := _unshowable(turn, who):
        raise refused.error()
    own = on_table.dealt(cards, who)
    if index is not None and not (0 < index <= len(own) and own[index - 1].card):
        raise RejectedError("card_unknown", who=who, index=index)
    if index is None and not on_table.is_known(cards, who):
        raise RejectedError("hand_cards_unknown", who=who)


def any_to_turn(turn: Turn) -> bool:
    """A card that was read lies face down in a hand that may be shown."""
    return any(
        card.card is not None and not card.up
        for who in showing(turn)
        for card in on_table.hand(turn.current.cards, who)
    )


def round_to_void(turn: Turn, command: RoundVoid) -> int:
    """The number of the round that is to be void. Raises ``RejectedError`` for a reason that the
    decree does not have, and unless exactly one round matches.
    """
    void_law(turn, command)
    deal, waiting = turn.state.current, turn.state.unresolved()
    number = command.round
    if number is None:
        if deal is None and not waiting:
            raise RejectedError("no_round_to_decide")
        if deal is None and len(waiting) > 1:
            raise RejectedError("say_round", rounds=tuple(str(entry.round) for entry in waiting))
        number = deal.round if deal is not None else waiting[0].round
    if (deal is None or deal.round != number) and number not in [entry.round for entry in waiting]:
        raise RejectedError("round_not_open", round=number)
    return number


def round_to_confirm(turn: Turn, command: RoundConfirm) -> DealtEntry | BankedDeal:
    """The unresolved round that was settled at the table, or the suspended one. Raises
    ``RejectedError`` if neither matches.
    """
    if command.winner is not None or command.number is not None or command.dice is not None:
        raise RejectedError("result_from_cards")
    state, waiting = turn.state, turn.state.unresolved()
    alone = waiting[0].round if state.current is None and len(waiting) == 1 else None
    left: DealtEntry | None = next(
        (entry for entry in waiting if entry.round == (command.round or alone)), None
    )
    if left is not None:
        return left
    require(turn, *DEALING)
    if command.round not in (None, turn.number):
        raise RejectedError("round_not_in_progress", round=command.round)
    if state.doubt not in CONTINUABLE_STOPS:
        raise RejectedError("nothing_to_confirm", round=turn.number)
    return turn.current


def unconfirmed(turn: Turn) -> bool:
    """A round is unresolved, or suspended by a doubt that a person may overrule."""
    dealing = all(guard(turn) is None for guard in DEALING)
    return has_unresolved(turn) or (dealing and turn.state.doubt in CONTINUABLE_STOPS)


def result(turn: Turn, command: ResultCorrect) -> DealtEntry:
    """The result that is to be corrected."""
    return published(turn.state, command, decisions=turn.banked.decides)


SHOWN_CARDS_NEED_DECISION = Refused(
    "shown_cards_need_decision", {"commands": sent(("cards.show", "round.void"))}
)
"""The refusal of another decision while shown cards contradict others."""


def card_waits(turn: Turn) -> Refused | None:
    """Contradictory cards wait for a person, or what a silence hid, or a card."""
    state = turn.state
    if state.doubt == "shown_differs":
        return None if state.shown is not None else SHOWN_CARDS_NEED_DECISION
    if state.doubt is not None:
        return Refused("table_waits_for", {"commands": sent(state.asks)})
    waits = state.held or (state.current is not None and state.current.gap)
    return None if waits else Refused("nothing_to_decide")
