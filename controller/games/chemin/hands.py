"""Rules about the cards of a round: where each belongs, who acts, the bank's duty, who wins.
Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from common.contract.events import Hand
from controller.games.baccarat import Cell, banker_draws, player_draws, points, value
from controller.games.chemin.state import CheminCoup, Fate
from controller.games.dealt.cards import Table, TableCard, hand, up
from controller.rulebooks.chemin import Chemin

NATURAL = 8
Outcome = Literal["win", "lose", "tie"]

_SETTLED: tuple[Fate, ...] = ("natural_nine", "loses", "void")
"""Fates of a hand against which the bank no longer plays."""


def first(coup: CheminCoup, who: str) -> Table:
    """The cards that a hand has of the deal."""
    return tuple(
        card for at, card in enumerate(coup.cards) if card.to == who and at not in coup.third
    )


def thirds(coup: CheminCoup, who: str) -> Table:
    """The cards of a hand after the deal."""
    return tuple(coup.cards[at] for at in coup.third if coup.cards[at].to == who)


def any_third(coup: CheminCoup) -> bool:
    """Whether a hand got a third card that was not taken back."""
    return any(coup.cards[at].to or (coup.cards[at].gone and at in coup.left) for at in coup.third)


def worth(cards: Sequence[TableCard]) -> int:
    """The points of these cards; every card on the table was read."""
    return points([card.card for card in cards if card.card is not None])


def opening(book: Chemin, coup: CheminCoup, who: str) -> int:
    """The points of the first two cards. More than two first cards make the bank zero."""
    if coup.fates.get(who) == "natural_nine":
        return 9
    return 0 if coup.overdealt and who == book.bank else worth(first(coup, who))


def total(book: Chemin, coup: CheminCoup, who: str) -> int:
    """The final points of a hand."""
    match coup.fates.get(who):
        case "nine" | "natural_nine":
            return 9
        case "zero" | "loses" | "void":  # its cards are not published
            return 0
    return (opening(book, coup, who) + worth(thirds(coup, who))) % 10


def is_open(coup: CheminCoup, who: str) -> bool:
    """Whether the first two cards of a hand are face up."""
    cards = first(coup, who)
    return len(cards) >= 2 and all(card.up for card in cards)


# Which hand a card belongs to, and who acts next


def next_dealt(book: Chemin, coup: CheminCoup) -> str | None:
    """The hand that the next card of the deal goes to; None: all have two."""
    due = [
        (2 if who in coup.fates else len(first(coup, who)), at, who)
        for at, who in enumerate(book.everyone)
    ]
    fewest, _, who = min(due)
    return who if fewest < 2 else None


def awaited(book: Chemin, coup: CheminCoup) -> str | None:
    """The first hand that asked for a third card and does not have it, if all before it have
    decided.
    """
    if coup.words.get(book.bank) == "natural":
        return None
    for who in book.everyone:
        if who not in coup.fates and who not in coup.words:
            return None
        if who not in coup.fates and coup.words[who] == "draw" and not thirds(coup, who):
            return who
    return None


def next_place(book: Chemin, coup: CheminCoup) -> str | None:
    """The hand that the next card goes to without a further decision: the deal in its order, then
    third cards, with those who asked for one.
    """
    return next_dealt(book, coup) or awaited(book, coup)


def next_to_act(book: Chemin, coup: CheminCoup) -> str | None:
    """The hand to act; the bank acts last, when the hands have their cards."""
    if not coup.closed or next_dealt(book, coup) is not None or book.bank in coup.words:
        return None
    for who in book.hands:
        if who not in coup.words and who not in coup.fates:
            return who
    return book.bank if bank_plays(book, coup) and awaited(book, coup) is None else None


def bank_plays(book: Chemin, coup: CheminCoup) -> bool:
    """Whether the bank may still take a card: it has shown no natural, nor have all hands."""
    return book.bank not in coup.fates and bool(playing(book, coup))


def playing(book: Chemin, coup: CheminCoup) -> tuple[str, ...]:
    """The hands that have neither shown a natural nor lost."""
    return tuple(
        who
        for who in book.hands
        if coup.words.get(who) != "natural" and coup.fates.get(who) not in _SETTLED
    )


def is_face_up(book: Chemin, coup: CheminCoup) -> bool:
    """Whether the cards of all hands are face up; a hand whose cards are in the basket lacks
    none.
    """
    return all(
        card.up for who in book.everyone if who not in coup.fates for card in hand(coup.cards, who)
    )


# Rules of the hands


def wrong_word(book: Chemin, coup: CheminCoup, who: str, *, exempt: bool) -> str | None:
    """The mistake in a hand's decision, now that its cards are seen."""
    word, first_two = coup.words.get(who), opening(book, coup, who)
    if word not in ("draw", "stand") or who in coup.fates:
        return None
    if first_two >= NATURAL:
        return "natural_forgotten"
    cell = player_draws(book.third, first_two)
    return "player_word" if not exempt and (cell, word) in (("T", "stand"), ("P", "draw")) else None


def cell(book: Chemin, coup: CheminCoup, who: str) -> Cell:
    """The bank's duty against one hand, by the table of plays."""
    third = thirds(coup, who)
    drawn = value(third[0].card) if third and third[0].card is not None else None
    return banker_draws(book.third, min(opening(book, coup, book.bank), 7), drawn)


def bank_duty(book: Chemin, coup: CheminCoup, *, table: bool) -> Cell:
    """The bank's duty: ``T`` draw, ``P`` do not draw, ``O`` free. ``table``: the table of plays
    always binds it.

    At two cloths it is free in an ordinary round, also against a natural: the decrees' rule for
    «the banker in restored plays» binds it in these only.
    """
    first_two, against = opening(book, coup, book.bank), playing(book, coup)
    if not bank_plays(book, coup) or first_two >= NATURAL:
        return "P"
    if coup.overdealt:
        return "O"
    if first_two == 0:
        return "T"
    if any(coup.fates.get(who) == "nine" for who in against):
        return "P" if first_two == 7 else "O"
    cells = {cell(book, coup, who) for who in against}
    if own_error(book, coup):
        return "T" if first_two <= 5 else "P"
    laid_down = coup.restored and "natural" in map(coup.words.get, book.hands)
    if len(cells) > 1 or not (table or coup.table or coup.restored):
        return "O"
    (only,) = cells
    return "T" if only == "O" and (laid_down or coup.optional) else only


def own_error(book: Chemin, coup: CheminCoup) -> bool:
    """Whether, after the banker's own error, the table of plays requires a card against one hand
    and forbids it against the other.
    """
    return coup.bank_fault and {cell(book, coup, who) for who in playing(book, coup)} == {"T", "P"}


def bank_bound_by(book: Chemin, coup: CheminCoup) -> str:
    """The name of the law behind the bank's duty."""
    if opening(book, coup, book.bank) == 0:
        return "bank_word"
    if len(book.hands) > 1:
        return "bank_own_error" if own_error(book, coup) else "bank_word"
    if any(coup.fates.get(who) == "nine" for who in playing(book, coup)):
        return "basket_nine"
    if "false_card" in coup.said:
        return "false_card"
    return "cards_shown" if coup.optional or len(coup.owed) > 1 else "table_followed"


# Who wins


def outcome(book: Chemin, coup: CheminCoup, who: str, *, nine_beats: bool) -> Outcome | None:
    """The hand's outcome against the bank; None if it is void."""
    bank, fate = book.bank, coup.fates.get(who)
    if fate == "void":
        return None
    if fate == "loses" or coup.fates.get(bank) == "loses":
        return "lose" if fate == "loses" else "win"
    own, other = total(book, coup, who), total(book, coup, bank)
    if own == other or (book.natural_beats and {own, other} == {8, 9}):
        return _by_two_cards(book, coup, who, (own, other), nine_beats=nine_beats)
    forgot = opening(book, coup, who) == 9 and coup.words.get(who) in ("draw", "stand")
    if forgot and coup.words.get(bank) == "natural" and len(book.hands) == 1:
        return "lose"
    return "win" if own > other else "lose"


def _by_two_cards(
    book: Chemin, coup: CheminCoup, who: str, totals: tuple[int, int], *, nine_beats: bool
) -> Outcome:
    """The outcome where an eight of two cards beats an eight or nine of three; otherwise the higher
    wins, and equal is void.
    """
    own, other = totals
    mine, theirs = (len(hand(coup.cards, holder)) == 2 for holder in (who, book.bank))
    if book.natural_beats and mine != theirs:
        two = own if mine else other
        if two == NATURAL or (two == 9 and own == other and nine_beats):
            return "win" if mine else "lose"
    return "tie" if own == other else "win" if own > other else "lose"


def hands_of(book: Chemin, coup: CheminCoup, *, nine_beats: bool) -> tuple[Hand, ...]:
    """The hands as the result shows them: of each, the cards face up."""
    against = {who: outcome(book, coup, who, nine_beats=nine_beats) for who in book.hands}
    mirror: dict[Outcome | None, Outcome | None] = {
        "win": "lose",
        "lose": "win",
        "tie": "tie",
        None: None,
    }
    banks = {mirror[result] for result in against.values()}
    return tuple(
        Hand(
            who=who,
            cards=up(coup.cards, who),
            points=total(book, coup, who),
            kind=coup.fates.get(who) or ("natural" if coup.words.get(who) == "natural" else None),
            outcome=against[who] if who in against else banks.pop() if len(banks) == 1 else None,
        )
        for who in book.everyone
    )
