"""How a round proceeds by itself after each input: cards go to their hands, decisions are compared
with cards, the result follows.

Whatever the cards are, nothing about them is published before they are face up: a decision that
breaks the rule is found when the hand is turned, and then put right as the decree says.
"""

from __future__ import annotations

from controller.games.chemin.hands import (
    NATURAL,
    any_third,
    bank_bound_by,
    bank_duty,
    bank_plays,
    cards_of,
    first,
    is_face_up,
    next_dealt,
    next_to_act,
    opening,
    shows,
    unplaced,
    waits,
    worth,
    wrong_word,
)
from controller.games.chemin.state import CheminCoup
from controller.games.chemin.turn import CheminTurn


def settle(turn: CheminTurn) -> None:
    """Proceed as far as the rules leave no choice."""
    while (before := turn.state.current) is not None and before.closed and before.question is None:
        turn.place()
        for move in (_naturals, _words, _two_thirds, _unclaimed, _finish):
            if turn.state.current is not None and not waits(turn.current):
                move(turn)
        if turn.state.current == before:
            break
    turn.expect()


def exempt(turn: CheminTurn) -> bool:
    """Whether the hand is free of the rule: whoever plays alone for the whole bank may be."""
    free = turn.book.banco == "always" or turn.settings.banco == "free"
    return turn.current.banco and free and "ruled" not in turn.current.said


def is_open(coup: CheminCoup, who: str) -> bool:
    """Whether the first two cards of a hand are face up."""
    cards = first(coup, who)
    return len(cards) >= 2 and all(card.up for card in cards)


def _naturals(turn: CheminTurn) -> None:
    """Eight or nine with two cards that are face up."""
    if next_dealt(turn.book, turn.current) is not None:
        return
    for who in turn.book.hands:
        coup = turn.current
        if (
            who not in coup.words
            and who not in coup.fates
            and is_open(coup, who)
            and opening(turn.book, coup, who) >= NATURAL
        ):
            turn.decide(who, "natural")
    bank, coup = turn.book.bank, turn.current
    if bank in coup.fates or not is_open(coup, bank) or opening(turn.book, coup, bank) < NATURAL:
        return
    if coup.words.get(bank) == "natural" or any(card.third for card in cards_of(coup, bank)):
        return
    if any_third(coup):  # giving a card forfeits the natural
        if bank not in coup.words:
            turn.once(
                f"natural_forgotten {bank}",
                lambda: turn.irregular("natural_forgotten", detail=bank),
            )
            turn.decide(bank, "stand")
        return
    if any(who not in coup.words and who not in coup.fates for who in turn.book.hands):
        turn.once("bank_before_hands", lambda: turn.irregular("bank_before_hands"))
    turn.decide(bank, "natural")


def _words(turn: CheminTurn) -> None:
    """Compare the hands' decisions with their cards, once these are face up."""
    for who in turn.book.hands:
        coup = turn.current
        if not is_open(coup, who) or who not in coup.words:
            continue
        what = wrong_word(turn.book, coup, who, exempt=exempt(turn))
        if what is None or f"{what} {who}" in coup.said:
            continue
        turn.change_current(said=(*coup.said, f"{what} {who}"))
        if "restored" in turn.book.errors:
            _restore(turn, who, what)
        else:
            _wrong(turn, who, what)
        if turn.current.question is not None:
            return


def _wrong(turn: CheminTurn, who: str, what: str) -> None:
    """Chemin de fer: the banker gives or denies the card, and a player alone against the bank bears
    the error.
    """
    drew = turn.current.words[who] == "draw"
    bears = what == "player_word" and turn.current.banco and not baccarat(turn, who)
    natural = turn.current.words.get(turn.book.bank) == "natural" or (
        what == "natural_forgotten" and not drew
    )
    if bears or natural:
        turn.irregular(what, detail=who)
    else:
        turn.question(what, detail=who)


def baccarat(turn: CheminTurn, who: str) -> bool:
    """Whether a hand with zero was denied its card, which may not be."""
    return opening(turn.book, turn.current, who) == 0 and turn.current.words.get(who) == "stand"


def _restore(turn: CheminTurn, who: str, what: str) -> None:
    """Two cloths: the decision is put right, third cards go where they belong, and the banker
    decides again.
    """
    if what == "natural_forgotten":
        turn.irregular(what, detail=who)
        if turn.current.words[who] == "stand":
            return
    right = "stand" if turn.current.words[who] == "draw" else "draw"
    restore(turn, who, right)


def restore(turn: CheminTurn, who: str, right: str) -> None:
    """Put the play right: this is the hand's decision."""
    turn.irregular("restored", detail=f"{who} {right}")
    if turn.current.words.get(turn.book.bank) != "natural":
        turn.unsay(turn.book.bank)
        turn.change_current(restored=True)
        _hold_before(turn, who)
    turn.decide(who, "draw" if right == "draw" else "stand")
    turn.place()


def _hold_before(turn: CheminTurn, who: str) -> None:
    """Third cards of the hands before this one stay; its own and all later ones are placed again,
    even those that a person had placed.
    """
    before = turn.book.everyone[: turn.book.everyone.index(who)]
    for at, card in enumerate(turn.current.cards):
        if card.third and card.out is None and card.to is not None:
            turn.change_card(at, kept=card.to in before)


def _two_thirds(turn: CheminTurn) -> None:
    """Of two third cards, now face up, a hand keeps the one that makes more and the bank the one
    that makes less.
    """
    for who in turn.book.everyone:
        key = f"two_third_cards {who}"
        if key not in turn.current.said or not is_open(turn.current, who):
            continue
        turn.change_current(said=tuple(each for each in turn.current.said if each != key))
        keep_one(turn, who)
        if turn.state.current is not None and turn.current.question is not None:
            return


def keep_one(turn: CheminTurn, who: str) -> None:
    """The other leaves the game. If a person chose the wrong one, a person decides what becomes of
    it.
    """
    coup = turn.current
    both = [
        at
        for at, card in enumerate(coup.cards)
        if card.kept and card.third and card.to == who and card.out != "basket"
    ]
    makes = {at: (opening(turn.book, coup, who) + worth([coup.cards[at]])) % 10 for at in both}
    has = [at for at in both if coup.cards[at].out is None]
    if not has:
        return
    right = (min if who == turn.book.bank else max)(both, key=makes.__getitem__)
    if len(has) > 1:
        for at in has:
            if at != right:
                turn.remove(at, "two_third_cards")
    elif makes[has[0]] != makes[right]:
        turn.question("two_third_cards", detail=who)


def _unclaimed(turn: CheminTurn) -> None:
    """A third card that nobody asked for."""
    lying = unplaced(turn.current)
    if not lying:
        return
    book, coup = turn.book, turn.current
    who = next_to_act(book, coup)
    if who == book.bank:
        _to_the_bank(turn, lying)
    elif who is not None:
        _before_the_word(turn, lying)
    elif "false_card" in coup.said or coup.restored:
        for at in lying:
            turn.remove(at, "restored" if coup.restored else "false_card")
    elif any(
        f"fifth_card {at}" in coup.said for at in lying
    ):  # it came too early, and no hand may have it
        for at in lying:
            turn.remove(at, "fifth_card")
    else:
        turn.doubt(lying[0], "card_surplus")


def _to_the_bank(turn: CheminTurn, lying: list[int]) -> None:
    """All hands have decided and have their cards: a card that comes now was drawn by the bank. If
    a play is put right, the banker says whether he takes one that was there before.
    """
    if all(turn.current.cards[at].last_announced_to is None for at in lying):
        turn.decide(turn.book.bank, "draw")
        return
    turn.change_current(question="bank_choice")
    turn.irregular(
        "restored" if turn.current.restored else "false_card",
        asks=turn.asks(),
        detail=turn.book.bank,
    )


def _before_the_word(turn: CheminTurn, lying: list[int]) -> None:
    """A card came before the hand decided."""
    for at in lying:
        if (
            turn.current.restored
            or turn.current.cards[at].kept
            or f"fifth_card {at}" in turn.current.said
        ):
            continue
        if "fifth_card" in turn.book.errors:
            turn.change_current(said=(*turn.current.said, f"fifth_card {at}"))
            turn.irregular("fifth_card")
        else:
            turn.doubt(at, "irregular_deal")
            return


def _finish(turn: CheminTurn) -> None:
    """Nothing is left to draw and all cards are face up: check what the bank had to do, then
    publish the result.
    """
    book, coup = turn.book, turn.current
    if not shows(book, coup) or not is_face_up(book, coup):
        return
    if (
        "loses" not in coup.fates.values()
        and bank_plays(book, coup)
        and coup.words.get(book.bank) in ("draw", "stand")
    ):
        duty = bank_duty(book, coup, table=turn.settings.banker == "table")
        if made_natural(turn):
            turn.once(
                f"natural_forgotten {book.bank}",
                lambda: turn.irregular("natural_forgotten", detail=book.bank),
            )
        if (duty, coup.words[book.bank]) in (
            ("T", "stand"),
            ("P", "draw"),
        ) and "bank_word" not in turn.current.said:
            turn.change_current(said=(*turn.current.said, "bank_word"))
            law = book.laws[bank_bound_by(book, coup)]
            turn.question("bank_word", law, detail=coup.words[book.bank])
            return
    turn.result()


def made_natural(turn: CheminTurn) -> bool:
    """Whether the bank drew to an eight or nine."""
    bank = turn.book.bank
    return (
        turn.current.words.get(bank) == "draw" and opening(turn.book, turn.current, bank) >= NATURAL
    )
