"""What a person decides about cards at a table of chemin de fer or two-cloth baccarat, and what
only people see of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from controller.contract.commands import CardDecide
from controller.contract.events import CardRemoved, CardTurned
from controller.contract.refusals import RejectedError
from controller.games import shoe
from controller.games.cards import is_card
from controller.games.chemin.commands import closed_round
from controller.games.chemin.course import settle
from controller.games.chemin.hands import any_third, cards_of, first, next_dealt, thirds, waits
from controller.games.chemin.readings import face_up
from controller.games.chemin.state import CheminCard, Fate
from controller.games.chemin.turn import CheminTurn
from controller.games.session import confirmer, sent
from controller.games.talla import read_card

IN_BASKET = "card_in_basket"


def decide(turn: CheminTurn, given: CardDecide) -> None:
    """Decide about a fact that people saw; else about the first waiting card, the question, or the
    last card.
    """
    act, first = _SEEN.get(given.action), _first_doubt(turn)
    if (
        given.action == "exposed"
        and first is not None
        and turn.current.cards[first].doubt == "card_exposed"
    ):
        _came_face_up(turn, given, first)
    elif act is not None:
        act(turn, given)
    elif any(card.doubt for card in turn.state.unplaced):
        _loose(turn, given)
    elif first is not None:
        _DOUBTED[given.action](turn, given, first)
    elif turn.state.current is not None and turn.current.question is not None:
        _question(turn, given)
    else:
        _last(turn, given)
    settle(turn)


# A waiting card


def _first_doubt(turn: CheminTurn) -> int | None:
    """The first waiting card of the round in progress."""
    cards = () if turn.state.current is None else turn.current.cards
    return next((at for at, card in enumerate(cards) if card.doubt), None)


def _came_face_up(turn: CheminTurn, given: CardDecide, at: int) -> None:
    """The shoe was right: discard the card, the one it reported or the one that the person
    names.
    """
    was = turn.current.cards[at]
    card = (
        was if given.card in (None, was.card) else _sound(turn, replace(given, action="read"), was)
    )
    turn.change_card(at, card=card.card, frame=card.frame, up=True)
    turn.change_current(confirmed_by=confirmer(given))
    turn.remove(at, "card_exposed")


def _loose(turn: CheminTurn, given: CardDecide) -> None:
    """Between rounds: keep the card as the first of the next round, or remove it."""
    at = next(at for at, card in enumerate(turn.state.unplaced) if card.doubt)
    card, others = turn.state.unplaced[at], list(turn.state.unplaced)
    if given.action == "remove":
        del others[at]
        law = turn.book.laws[card.doubt or "card_before_close"]
        turn.say(CardRemoved(why=card.doubt or "", card=None, law=law.rule, article=law.article))
    elif given.action in ("accept", "next_round", "read"):
        others[at] = _sound(turn, given, card)
    else:
        raise RejectedError("no_round_for_card")
    turn.change(unplaced=tuple(others))


def _sound(turn: CheminTurn, given: CardDecide, card: CheminCard) -> CheminCard:
    """The card without its doubt."""
    now = turn.state.shoe
    if card.doubt == "shoe_over":
        raise RejectedError("shoe_over_remove_card")
    if given.action == "read":
        name = read_card(given)
        if now is not None:
            turn.change(
                shoe=(
                    shoe.read(now, name) if card.card is None else shoe.reread(now, card.card, name)
                )[0]
            )
        # Drop the frame: it encodes the misread card.
        return replace(card, card=name, doubt=None, frame=card.frame if card.card is None else None)
    if card.card is None or not is_card(card.card):
        raise RejectedError("card_not_read")
    return replace(card, doubt=None)


def _accept(turn: CheminTurn, given: CardDecide, at: int) -> None:
    """Accept the card as it came, or as the person read it."""
    card = turn.current.cards[at]
    if card.doubt == "card_surplus" and given.action != "read":
        raise RejectedError("card_unplaced")
    sound = _sound(turn, given, card)
    if card.doubt == "card_surplus":
        sound = replace(sound, doubt="card_surplus")
    if card.doubt == "irregular_deal":
        turn.change_current(said=(*turn.current.said, f"fifth_card {at}"))
    turn.change_card(at, card=sound.card, doubt=sound.doubt, frame=sound.frame)
    turn.change_current(confirmed_by=confirmer(given))
    if sound.up and sound.card is not None and sound.to is not None and card.card != sound.card:
        turn.say(
            CardTurned(
                round=turn.number,
                to=sound.to,
                index=len(cards_of(turn.current, sound.to)),
                card=sound.card,
            )
        )


def _remove(turn: CheminTurn, given: CardDecide, at: int) -> None:
    """Remove the card."""
    turn.remove(at, turn.current.cards[at].doubt or "card_exposed")
    turn.change_current(confirmed_by=confirmer(given))


def _next_round(turn: CheminTurn, given: CardDecide, at: int) -> None:
    """Keep the card as the first of the next round."""
    now = turn.state.shoe
    card = turn.current.cards[at]
    if now is None or now.over or now.cut_at is not None:
        raise RejectedError("next_round_none")
    if card.doubt not in ("card_surplus", "card_before_close") or card.card is None:
        raise RejectedError("card_of_this_round")
    turn.change(unplaced=(*turn.state.unplaced, CheminCard(card=card.card, frame=card.frame)))
    turn.change_card(at, doubt=None, out="removed", frame=None)
    turn.change_current(confirmed_by=confirmer(given))


def _for(turn: CheminTurn, given: CardDecide, at: int) -> None:
    """Give the card to a hand."""
    if turn.current.cards[at].doubt not in ("card_surplus", "irregular_deal"):
        raise RejectedError("card_first_decided")
    turn.change_card(at, doubt=None)
    _give(turn, given, at)


_DOUBTED: Mapping[str, Callable[[CheminTurn, CardDecide, int], None]] = {
    "accept": _accept,
    "read": _accept,
    "remove": _remove,
    "next_round": _next_round,
    "for": _for,
}


# The question of the round


def _question(turn: CheminTurn, given: CardDecide) -> None:
    coup = turn.current
    what, words = (
        coup.question,
        {"player_word": turn.book.hands[0], "natural_forgotten": turn.book.hands[0]},
    )
    whose = words.get(what or "", turn.book.bank)
    if "card.decide" not in turn.asks():
        raise RejectedError("table_waits_for", commands=sent(turn.asks()))
    if what == "two_third_cards":
        _which(turn, given)
    elif what in ("silence", "overdraw", IN_BASKET) and given.action == "accept":
        turn.change_current(question=None, confirmed_by=confirmer(given))
    elif (
        what in ("player_word", "bank_word", "natural_forgotten")
        and given.action == "remove"
        and thirds(coup, whose)
    ):
        _keep_thirds(turn)
        for at, card in enumerate(turn.current.cards):
            if card.third and card.to == whose and card.out is None:
                turn.remove(at, what or "")
        turn.change_current(question=None, confirmed_by=confirmer(given))
        turn.decide(whose, "stand", given.by)
    elif what == "cards_shown":
        raise RejectedError("exposed_unsaid")
    elif what in ("silence", "overdraw", IN_BASKET):
        raise RejectedError("accept_only")
    else:
        raise RejectedError("no_third_card_to_remove", who=whose)


# The last card


def _last(turn: CheminTurn, given: CardDecide) -> None:
    """The last card came face up, or went to the wrong hand."""
    coup = closed_round(turn)
    at = max((at for at, card in enumerate(coup.cards) if card.out is None), default=None)
    if at is None or given.action not in ("remove", "for"):
        raise RejectedError("no_card_to_decide")
    if given.action == "for":
        _give(turn, given, at)
        return
    card = coup.cards[at]
    if card.to is not None and coup.words and not card.third:
        raise RejectedError("hands_have_acted")
    if given.who not in (None, card.to):
        raise RejectedError("last_card_with", who=card.to or "")
    face_up(turn, at)


def _give(turn: CheminTurn, given: CardDecide, at: int) -> None:
    """Give the card to another hand than the order says."""
    coup, who, bank = turn.current, given.who, turn.book.bank
    card = coup.cards[at]
    if who not in turn.book.everyone or who is None:
        raise RejectedError("who_one_of", players=turn.book.everyone)
    if card.to == who:
        raise RejectedError("card_with_already", who=who)
    dealing = not card.third or (card.to is None and not coup.words)
    if dealing:
        _over_the_deal(turn, at, who)
        return
    if who != bank and coup.words.get(who) != "draw":
        raise RejectedError("hand_not_asked", who=who)
    if coup.words.get(bank) == "natural" or who in coup.fates:
        raise RejectedError("hand_out", who=who)
    if thirds(coup, who) and "two_third_cards" not in turn.book.errors:
        raise RejectedError("hand_has_three", who=who)
    if card.to == bank:
        turn.unsay(bank)
    _keep_thirds(turn)
    turn.change_card(at, to=who, third=True, kept=True, up=True)
    if who == bank and coup.words.get(bank) != "draw":
        turn.decide(bank, "draw", given.by)
    turn.place()
    _one_of_two(turn, who)


def _keep_thirds(turn: CheminTurn) -> None:
    """Keep third cards where they are, whatever is decided from now on."""
    for at, card in enumerate(turn.current.cards):
        if card.third and card.to is not None and card.out is None:
            turn.change_card(at, kept=True)


def _over_the_deal(turn: CheminTurn, at: int, who: str) -> None:
    """The banker has given himself more than two first cards; any other hand can have only two."""
    over = who == turn.book.bank and "bank_overdealt" in turn.book.errors
    if len(first(turn.current, who)) >= 2 and not over:
        raise RejectedError("hand_has_two", who=who)
    turn.change_card(at, to=who, third=False, kept=True)
    turn.place()
    if len(first(turn.current, who)) > 2:
        turn.change_current(overdealt=True)
        turn.once("bank_overdealt", lambda: turn.irregular("bank_overdealt"))


def _one_of_two(turn: CheminTurn, who: str) -> None:
    """Of two third cards the law leaves the hand one. Which one depends on the cards: they are
    turned, or a person says.
    """
    if len(thirds(turn.current, who)) > 1:
        _keep_thirds(turn)
        turn.change_current(said=(*turn.current.said, f"two_third_cards {who}"))
        turn.question("two_third_cards", detail=who)


def _which(turn: CheminTurn, given: CardDecide) -> None:
    """A person says which of two third cards counts."""
    two = [who for who in turn.book.everyone if len(thirds(turn.current, who)) > 1]
    places = [
        at
        for at, card in enumerate(turn.current.cards)
        if card.third and card.to in two and card.out is None
    ]
    named = [at for at in places if turn.current.cards[at].card == given.card]
    if given.action != "accept" or not named or len(places) < 2:
        raise RejectedError("which_third_card")
    turn.change_current(question=None, confirmed_by=confirmer(given))
    for at in places:
        if at != named[0]:
            turn.remove(at, "two_third_cards")


# What only people see


def _whose(turn: CheminTurn, given: CardDecide) -> tuple[str, list[int]]:
    """The named hand, and the positions of the cards meant."""
    who = given.who
    if who is None or who not in turn.book.everyone:
        raise RejectedError("who_one_of", players=turn.book.everyone)
    mine = [at for at, card in enumerate(turn.current.cards) if card.to == who and card.out is None]
    meant = (
        mine
        if given.index is None
        else mine[given.index - 1 : given.index]
        if given.index > 0
        else []
    )
    if not meant and given.index is None:
        raise RejectedError("no_cards", who=who)
    if not meant:
        raise RejectedError("no_card_at_index", who=who, index=given.index or 0)
    return who, meant


def _fault(given: CardDecide) -> str:
    if given.fault is None:
        raise RejectedError("fault_missing")
    return given.fault


def _floor(turn: CheminTurn, given: CardDecide) -> None:
    """A card on the floor keeps its value; the house's staff pick it up."""
    closed_round(turn)
    who, _ = _whose(turn, given)
    turn.irregular("card_on_floor", detail=who)


def _exposed(turn: CheminTurn, given: CardDecide) -> None:
    """Cards were exposed too early."""
    coup = closed_round(turn, unasked=False)
    if coup.question not in (None, "cards_shown") or any(card.doubt for card in coup.cards):
        raise RejectedError("table_waits_for", commands=sent(turn.asks()))
    who, _ = _whose(turn, given)
    fault = _fault(given)
    turn.change_current(question=None)
    turn.turn_up(who, given.index)
    shown = tuple(index for index, card in enumerate(first(turn.current, who), 1) if card.up)
    turn.change_current(shown={**turn.current.shown, who: shown})
    turn.irregular(
        "cards_shown", detail=f"{who} {' '.join(map(str, shown))}, {fault}".replace(" ,", ",")
    )
    if who == turn.book.bank or fault == "player":
        return
    both = len(shown) == 2
    if len(turn.book.hands) > 1:
        if both:
            turn.change_current(bank_fault=fault == "banker")
    elif fault == "croupier":
        turn.change_current(
            said=(*turn.current.said, "ruled"), table=both or coup.table, optional=both
        )
    else:
        turn.change_current(owed=shown, table=both or coup.table)


def _basket(turn: CheminTurn, given: CardDecide) -> None:
    """Cards fell or were thrown into the basket before they were seen."""
    coup = closed_round(turn)
    who, meant = _whose(turn, given)
    fault = _fault(given)
    card = coup.cards[meant[-1]]
    fate = _fate(turn, who, fault, card)
    if fate is None and (card.up or fault == "croupier") and "basket_void" in turn.book.errors:
        turn.irregular(IN_BASKET, detail=f"{who}, recovered")
    elif fate is None:
        turn.question(IN_BASKET, detail=who)
    else:
        turn.irregular(IN_BASKET, law=turn.book.laws[_BASKET[fate]], detail=who)
        for at in meant if fate != "nine" else meant[-1:]:
            turn.remove(at, IN_BASKET, _BASKET[fate], basket=True)
        _meets(turn, who, fate)


_BASKET: dict[Fate, str] = {
    "nine": "basket_nine",
    "natural_nine": "basket_nine",
    "loses": "basket_loses",
    "void": "basket_void",
    "zero": "basket_zero",
}
"""Which cards of the hand decide its fate."""


def _fate(turn: CheminTurn, who: str, fault: str, card: CheminCard) -> Fate | None:
    """The fate that the decree gives the hand; None: none by itself."""
    errors, bank = turn.book.errors, turn.book.bank
    if "basket_nine" in errors:
        if who == bank:
            return "loses" if fault == "banker" else None
        if fault == "player":
            return None if card.up else "loses"
        dealt = not card.third and not any_third(turn.current) and who not in turn.current.words
        return (
            None
            if fault == "croupier"
            else "nine"
            if card.third
            else "natural_nine"
            if dealt
            else None
        )
    if card.up:
        return None
    if next_dealt(turn.book, turn.current) is not None:
        return "void"
    return "zero" if fault != "croupier" and "basket_zero" in errors else None


def _meets(turn: CheminTurn, who: str, fate: Fate) -> None:
    """Record the hand's fate: it makes no more decisions."""
    coup = turn.current
    if fate == "void" and who == turn.book.bank:
        turn.void(coup, "misdeal", turn.book.laws["basket_void"])
        return
    if fate != "nine":
        turn.unsay(who)
    turn.change_current(fates={**turn.current.fates, who: fate})
    assert not waits(turn.current)


_SEEN: Mapping[str, Callable[[CheminTurn, CardDecide], None]] = {
    "floor": _floor,
    "exposed": _exposed,
    "basket": _basket,
}
