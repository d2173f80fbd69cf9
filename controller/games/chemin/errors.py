"""People's decisions about cards at chemin de fer and two-cloth baccarat, and errors that only
people see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from common.contract.commands import CardDecide
from common.contract.refusals import RejectedError
from controller.games import shoe
from controller.games.cards import is_card
from controller.games.chemin import course, moves
from controller.games.chemin.commands import closed_round
from controller.games.chemin.course import CheminTurn
from controller.games.chemin.hands import any_third, bank_bound_by, first, next_dealt, thirds
from controller.games.chemin.state import EARLY_CARD, KEEPABLE_TROUBLES, Fate
from controller.games.dealt.cards import TableCard
from controller.games.dealt.state import Held
from controller.games.guards import bets_closed, has_round, require
from controller.games.session import confirmer, sent
from controller.games.talla import read_card
from controller.rulebooks.law import Law

IN_BASKET = "card_in_basket"


def card_waits(turn: CheminTurn) -> bool:
    """A question is asked; or the round has cards of which people may have seen something."""
    coup = turn.state.current
    seen = coup is not None and coup.closed and bool(coup.cards or turn.state.held)
    return seen or "card.decide" in turn.asks()


def decide(turn: CheminTurn, command: CardDecide) -> None:
    """Handle ``card.decide``: a fact that people saw; else the first doubtful card, the question,
    or the last card.
    """
    act, state = _SEEN.get(command.action), turn.state
    held = state.held[state.doubt] if state.doubt is not None else None
    if command.action == "exposed" and held is not None and held.trouble == "card_exposed":
        _came_face_up(turn, command, held)
    elif act is not None:
        act(turn, command)
    elif held is not None and state.current is None:
        _between_rounds(turn, command, held)
    elif held is not None:
        _DOUBTED[command.action](turn, command, held)
    elif state.current is not None and turn.current.question is not None:
        _question(turn, command)
    else:
        _last(turn, command)


# A card in doubt


def _pop_doubtful(turn: CheminTurn) -> Held:
    """Remove and return the doubtful card."""
    assert turn.state.doubt is not None
    return moves.pop_held(turn, turn.state.doubt)


def _waits_on(turn: CheminTurn, now: Held) -> None:
    assert turn.state.doubt is not None
    moves.replace_held(turn, turn.state.doubt, now)


def _came_face_up(turn: CheminTurn, command: CardDecide, held: Held) -> None:
    """Discard a card that did come face up: the one reported, or the one that the person names."""
    if command.card not in (None, held.given.card):
        held = _sound(turn, replace(command, action="read"), held)
    _pop_doubtful(turn)
    turn.change_current(confirmed_by=confirmer(command))
    moves.discard(turn, held.given, "card_exposed", up=True)


def _between_rounds(turn: CheminTurn, command: CardDecide, held: Held) -> None:
    """Keep the card as the first of the next round, or remove it."""
    if command.action == "remove":
        moves.discard(turn, _pop_doubtful(turn).given, held.trouble or "card_out_of_round")
    elif command.action in ("accept", "next_round", "read"):
        _waits_on(turn, _sound(turn, command, held))
    else:
        raise RejectedError("no_round_for_card")


def _sound(turn: CheminTurn, command: CardDecide, held: Held) -> Held:
    """The card without doubt: as it came, or as the person read it."""
    now, drawn = turn.state.shoe, held.given
    if held.trouble == "shoe_over":
        raise RejectedError("shoe_over_remove_card")
    if command.action == "read":
        name = read_card(command)
        if now is not None:
            turn.change(shoe=shoe.reread(now, drawn.card, name)[0])
        if drawn.card is not None:  # the reading and its frame are those of the misread card
            drawn = replace(drawn, frame=None, reading=None)
        return Held(given=replace(drawn, card=name))
    if drawn.card is None or not is_card(drawn.card):
        raise RejectedError("card_not_read")
    return Held(given=drawn)


def _accept(turn: CheminTurn, command: CardDecide, held: Held) -> None:
    """Accept the card as it came, or as the person read it."""
    if held.trouble == "card_surplus" and command.action != "read":
        raise RejectedError("card_unplaced")
    still = {"card_surplus": "card_surplus", "irregular_deal": EARLY_CARD}.get(held.trouble or "")
    _waits_on(turn, replace(_sound(turn, command, held), trouble=still))
    turn.change_current(confirmed_by=confirmer(command))


def _remove(turn: CheminTurn, command: CardDecide, held: Held) -> None:
    moves.discard(turn, _pop_doubtful(turn).given, held.trouble or "card_exposed")
    turn.change_current(confirmed_by=confirmer(command))


def _next_round(turn: CheminTurn, command: CardDecide, held: Held) -> None:
    """Keep the card as the first of the next round."""
    now = turn.state.shoe
    if now is None or now.over or now.cut_at is not None:
        raise RejectedError("next_round_none")
    if held.trouble not in KEEPABLE_TROUBLES or held.given.card is None:
        raise RejectedError("card_of_this_round")
    turn.change(carried=(*turn.state.carried, Held(given=_pop_doubtful(turn).given)))
    cards = (*turn.current.cards, TableCard(to="", gone=True))
    turn.change_current(cards=cards, confirmed_by=confirmer(command))


def _for(turn: CheminTurn, command: CardDecide, held: Held) -> None:
    if held.trouble not in ("card_surplus", "irregular_deal"):
        raise RejectedError("card_first_decided")
    _pop_doubtful(turn)
    _give(turn, command, _laid(turn, held))


_DOUBTED: Mapping[str, Callable[[CheminTurn, CardDecide, Held], None]] = {
    "accept": _accept,
    "read": _accept,
    "remove": _remove,
    "next_round": _next_round,
    "for": _for,
}


# The question of the round


def _question(turn: CheminTurn, command: CardDecide) -> None:
    coup = turn.current
    what, words = (
        coup.question,
        {"player_word": turn.book.hands[0], "natural_forgotten": turn.book.hands[0]},
    )
    whose = words.get(what or "", turn.book.bank)
    if "card.decide" not in turn.asks():
        raise RejectedError("table_waits_for", commands=sent(turn.asks()))
    if what == "two_third_cards":
        _which(turn, command)
    elif what in ("silence", "overdraw", IN_BASKET) and command.action == "accept":
        turn.change_current(question=None, confirmed_by=confirmer(command))
    elif (
        what in ("player_word", "bank_word", "natural_forgotten")
        and command.action == "remove"
        and thirds(coup, whose)
    ):
        law = bank_bound_by(turn.book, coup) if what == "bank_word" else None
        for at in coup.third:
            if coup.cards[at].to == whose:
                moves.remove(turn, at, what, law)
        turn.change_current(question=None, confirmed_by=confirmer(command))
        moves.decide(turn, whose, "stand", command.by)
    elif what == "cards_shown":
        raise RejectedError("exposed_unsaid")
    elif what in ("silence", "overdraw", IN_BASKET):
        raise RejectedError("accept_only")
    else:
        raise RejectedError("no_third_card_to_remove", who=whose)


# The last card


def _last(turn: CheminTurn, command: CardDecide) -> None:
    """Handle a last card that came face up or went to the wrong hand."""
    coup, held = closed_round(turn), turn.state.held
    lie = [at for at, card in enumerate(coup.cards) if not card.gone]
    if command.action not in ("remove", "for") or not (held or lie):
        raise RejectedError("no_card_to_decide")
    if command.action == "for":
        _give(turn, command, _laid(turn, moves.pop_held(turn, len(held) - 1)) if held else lie[-1])
        return
    to = "" if held else coup.cards[lie[-1]].to
    if to and coup.words and lie[-1] not in coup.third:
        raise RejectedError("hands_have_acted")
    if command.who not in (None, to or None):
        raise RejectedError("last_card_with", who=to)
    if held:
        course.expose(turn, moves.pop_held(turn, len(held) - 1).given)
    else:
        turn.irregular("card_exposed")
        moves.show(turn, lie[-1])
        moves.remove(turn, lie[-1], "card_exposed")


def _laid(turn: CheminTurn, held: Held) -> int:
    """Lay a waiting card on the table, for a person to give it to a hand. Returns its position."""
    coup, at = turn.current, len(turn.current.cards)
    card = TableCard(to="", card=held.given.card, reading=held.given.reading)
    turn.change_current(cards=(*coup.cards, card), third=(*coup.third, at))
    return at


def _give(turn: CheminTurn, command: CardDecide, at: int) -> None:
    """Give the card to the hand named by the person."""
    coup, who, bank = turn.current, command.who, turn.book.bank
    to = coup.cards[at].to
    if who not in turn.book.everyone or who is None:
        raise RejectedError("who_one_of", players=turn.book.everyone)
    if to == who:
        raise RejectedError("card_with_already", who=who)
    if at not in coup.third or (not to and not coup.words):
        _over_the_deal(turn, at, who)
        return
    if who != bank and coup.words.get(who) != "draw":
        raise RejectedError("hand_not_asked", who=who)
    if coup.words.get(bank) == "natural" or who in coup.fates:
        raise RejectedError("hand_out", who=who)
    if thirds(coup, who) and "two_third_cards" not in turn.book.errors:
        raise RejectedError("hand_has_three", who=who)
    if to == bank:
        moves.withdraw_word(turn, bank)
    if who == bank and coup.words.get(bank) != "draw":
        moves.decide(turn, bank, "draw", command.by)
    moves.move(turn, at, who)
    two = tuple(place for place in coup.third if turn.current.cards[place].to == who)
    if len(two) > 1:  # the law leaves it one; which, its cards say when turned, or a person
        pair = tuple(sorted({*coup.pairs.get(who, ()), *two}))
        turn.change_current(pairs={**coup.pairs, who: pair})
        moves.ask(turn, "two_third_cards", detail=who)


def _over_the_deal(turn: CheminTurn, at: int, who: str) -> None:
    """Record that the banker dealt himself more than two first cards. Rejected for other hands."""
    over = who == turn.book.bank and "bank_overdealt" in turn.book.errors
    if len(first(turn.current, who)) >= 2 and not over:
        raise RejectedError("hand_has_two", who=who)
    moves.move(turn, at, who, third=False)
    if len(first(turn.current, who)) > 2:
        turn.change_current(overdealt=True)
        moves.once(turn, "bank_overdealt", lambda: turn.irregular("bank_overdealt"))


def _which(turn: CheminTurn, command: CardDecide) -> None:
    """Keep the one of two third cards that a person names."""
    coup = turn.current
    two = [who for who in turn.book.everyone if len(thirds(coup, who)) > 1]
    places = [at for at in coup.third if coup.cards[at].to in two]
    named = [at for at in places if coup.cards[at].card == command.card]
    if command.action != "accept" or not named or len(places) < 2:
        raise RejectedError("which_third_card")
    turn.change_current(question=None, confirmed_by=confirmer(command))
    for at in places:
        if at != named[0]:
            moves.remove(turn, at, "two_third_cards")


# What only people see


def _whose(turn: CheminTurn, command: CardDecide) -> tuple[str, list[int]]:
    """The named hand, and the positions of the cards meant."""
    who = command.who
    if who is None or who not in turn.book.everyone:
        raise RejectedError("who_one_of", players=turn.book.everyone)
    mine = [at for at, card in enumerate(turn.current.cards) if card.to == who]
    meant = (
        mine
        if command.index is None
        else mine[command.index - 1 : command.index]
        if command.index > 0
        else []
    )
    if not meant and command.index is None:
        raise RejectedError("no_cards", who=who)
    if not meant:
        raise RejectedError("no_card_at_index", who=who, index=command.index or 0)
    return who, meant


def _fault(command: CardDecide) -> str:
    if command.fault is None:
        raise RejectedError("fault_missing")
    return command.fault


def _floor(turn: CheminTurn, command: CardDecide) -> None:
    """A card on the floor keeps its value; the house's staff pick it up."""
    closed_round(turn)
    who, _ = _whose(turn, command)
    turn.irregular("card_on_floor", detail=who)


def _exposed(turn: CheminTurn, command: CardDecide) -> None:
    """Cards were exposed too early."""
    require(turn, has_round, bets_closed)
    coup = turn.current
    if turn.stop is not None and turn.stop.what != "cards_shown":
        raise RejectedError("table_waits_for", commands=sent(turn.asks()))
    who, _ = _whose(turn, command)
    fault = _fault(command)
    turn.change_current(question=None)
    moves.turn_up(turn, who, command.index)
    shown = tuple(index for index, card in enumerate(first(turn.current, who), 1) if card.up)
    turn.change_current(shown={**turn.current.shown, who: shown})
    by_bank = fault == "banker" and len(turn.book.hands) == 1
    turn.irregular(
        "cards_shown",
        turn.book.laws["cards_shown_by_bank"] if by_bank else None,
        detail=f"{who} {' '.join(map(str, shown))}, {fault}".replace(" ,", ","),
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


def _basket(turn: CheminTurn, command: CardDecide) -> None:
    """Cards fell or were thrown into the basket before they were seen."""
    coup = closed_round(turn)
    who, meant = _whose(turn, command)
    fault = _fault(command)
    last = meant[-1]
    seen = all(coup.cards[at].up for at in meant)
    fate = _fate(turn, who, fault, last, seen=seen)
    law = _recovered(turn, fault, seen and last in coup.third)
    if fate is None and law is not None:
        turn.irregular(IN_BASKET, law, detail=f"{who}, recovered")
    elif fate is None:
        two_cloths = "basket_void" in turn.book.errors
        unforeseen = two_cloths or fault != "croupier"
        moves.ask(turn, IN_BASKET, turn.book.void["inspector"] if unforeseen else None, detail=who)
    else:
        turn.irregular(IN_BASKET, law=turn.book.laws[_BASKET[fate]], detail=who)
        for at in meant if fate != "nine" else (last,):
            moves.remove(turn, at, IN_BASKET, _BASKET[fate])
        _set_fate(turn, who, fate)


_BASKET: dict[Fate, str] = {
    "nine": "basket_nine",
    "natural_nine": "basket_nine",
    "loses": "basket_loses",
    "void": "basket_void",
    "zero": "basket_zero",
}
"""Which cards of the hand decide its fate."""


def _recovered(turn: CheminTurn, fault: str, seen_third: bool) -> Law | None:
    """The law by which the croupier takes the cards out of the basket and the play continues; None:
    no law does.
    """
    if "basket_void" not in turn.book.errors:
        return None
    if seen_third:
        return turn.book.laws[IN_BASKET]
    return turn.book.laws.get("basket_gathered") if fault == "croupier" else None


def _fate(turn: CheminTurn, who: str, fault: str, at: int, *, seen: bool) -> Fate | None:
    """The fate that the decree gives the hand; None: none by itself. ``seen``: all its cards that
    went into the basket were face up.
    """
    errors, bank, coup = turn.book.errors, turn.book.bank, turn.current
    third = at in coup.third
    if "basket_nine" in errors:
        if who == bank:
            return "loses" if fault == "banker" and not seen else None
        if fault == "player":
            return None if seen else "loses"
        dealt = not third and not any_third(coup) and who not in coup.words
        return (
            None if fault == "croupier" else "nine" if third else "natural_nine" if dealt else None
        )
    if seen:
        return None
    if next_dealt(turn.book, coup) is not None:
        return "void"
    return "zero" if fault != "croupier" and "basket_zero" in errors else None


def _set_fate(turn: CheminTurn, who: str, fate: Fate) -> None:
    """Record the hand's fate: it makes no more decisions."""
    coup = turn.current
    if fate == "void" and who == turn.book.bank:
        moves.void(turn, coup.round, "misdeal", turn.book.laws["basket_void"])
        return
    if fate != "nine":
        moves.withdraw_word(turn, who)
    turn.change_current(fates={**turn.current.fates, who: fate})


_SEEN: Mapping[str, Callable[[CheminTurn, CardDecide], None]] = {
    "floor": _floor,
    "exposed": _exposed,
    "basket": _basket,
}
