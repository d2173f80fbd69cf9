"""The rules about the cards of a round: whose each one is, who acts, what the bank must do, who
wins. All pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from controller.contract.events import Hand
from controller.games.baccarat import Cell, banker_draws, player_draws, points, value
from controller.games.chemin.state import CheminCard, CheminCoup, Fate, Word
from controller.rulebooks.chemin import Chemin

NATURAL = 8
Outcome = Literal["win", "lose", "tie"]

_SETTLED: tuple[Fate, ...] = ("natural_nine", "loses", "void")
"""Fates of a hand against which the bank no longer plays."""


def cards_of(coup: CheminCoup, who: str) -> tuple[CheminCard, ...]:
    """The cards of a hand."""
    return tuple(card for card in coup.cards if card.to == who and card.out is None)


def first(coup: CheminCoup, who: str) -> tuple[CheminCard, ...]:
    """Its cards of the deal."""
    return tuple(card for card in cards_of(coup, who) if not card.third)


def thirds(coup: CheminCoup, who: str) -> tuple[CheminCard, ...]:
    """Its cards after the deal."""
    return tuple(card for card in cards_of(coup, who) if card.third)


def any_third(coup: CheminCoup) -> bool:
    """Whether a hand other than the bank has a third card."""
    return any(card.third and card.to is not None for card in coup.cards)


def worth(cards: Sequence[CheminCard]) -> int:
    """The points of these cards; every card on the table was read."""
    return points([card.card for card in cards if card.card is not None])


def opening(book: Chemin, coup: CheminCoup, who: str) -> int:
    """The points of the first two cards. More than two first cards make the bank zero."""
    if coup.fates.get(who) == "natural_nine":
        return 9
    return 0 if coup.overdealt and who == book.bank else worth(first(coup, who))


def total(book: Chemin, coup: CheminCoup, who: str) -> int:
    """The points of the hand in the end."""
    match coup.fates.get(who):
        case "nine" | "natural_nine":
            return 9
        case "zero" | "loses" | "void":  # its cards are not published
            return 0
    return (opening(book, coup, who) + worth(thirds(coup, who))) % 10


# Which hand a card belongs to


def next_dealt(book: Chemin, coup: CheminCoup) -> str | None:
    """The hand that the next card of the deal goes to; None: all have two."""
    given = Counter(card.to for card in coup.cards if not card.third and card.out != "removed")
    due = [
        (2 if who in coup.fates else given[who], at, who) for at, who in enumerate(book.everyone)
    ]
    fewest, _, who = min(due)
    return who if fewest < 2 else None


def waits(coup: CheminCoup) -> bool:
    """Whether a person is asked about the round, so that no card is placed."""
    return coup.question is not None or any(card.doubt for card in coup.cards)


def entitled(book: Chemin, coup: CheminCoup) -> tuple[str, ...]:
    """The hands that asked for a third card, in order, as far as all before them have decided."""
    if coup.words.get(book.bank) == "natural":
        return ()
    found = []
    for who in book.everyone:
        if coup.fates.get(who, "nine") != "nine":
            continue
        word: Word | None = "draw" if coup.fates.get(who) == "nine" else coup.words.get(who)
        if word is None:
            break
        if word == "draw":
            found.append(who)
    return tuple(found)


def awaited(book: Chemin, coup: CheminCoup) -> tuple[str, ...]:
    """Those of them that do not have it yet."""
    has = {card.to for card in coup.cards if card.third and card.out != "removed"}
    return tuple(who for who in entitled(book, coup) if who not in has)


def placed(book: Chemin, coup: CheminCoup) -> CheminCoup:
    """Place every card: the deal in its order, then third cards, in their order, with those who
    asked for one.
    """
    if not coup.closed or coup.question is not None:
        return coup
    for at, card in enumerate(coup.cards):
        if card.doubt:
            break
        if card.out is None and card.to is None and not card.third:
            to = next_dealt(book, coup)
            coup = with_card(coup, at, replace(card, to=to, third=to is None))
    fixed = {
        card.to
        for card in coup.cards
        if card.third and card.out != "removed" and (card.kept or card.out == "basket")
    }
    left = [who for who in entitled(book, coup) if who not in fixed]
    for at, card in enumerate(coup.cards):
        if card.doubt:
            break
        if card.third and not card.kept and card.out is None:
            to = left.pop(0) if left else None
            coup = with_card(coup, at, replace(card, to=to, up=card.up or to is not None))
    return coup


def unplaced(coup: CheminCoup) -> list[int]:
    """The positions of third cards that no hand has."""
    return [
        at
        for at, card in enumerate(coup.cards)
        if card.third and card.to is None and card.out is None and not card.doubt
    ]


def with_card(coup: CheminCoup, at: int, card: CheminCard) -> CheminCoup:
    """The round with another card at that position."""
    return replace(coup, cards=(*coup.cards[:at], card, *coup.cards[at + 1 :]))


# Who acts next, and where the next card goes


def next_to_act(book: Chemin, coup: CheminCoup) -> str | None:
    """The hand to act; the bank acts last, when the hands have their cards."""
    if (
        not coup.closed
        or waits(coup)
        or next_dealt(book, coup) is not None
        or book.bank in coup.words
    ):
        return None
    for who in book.hands:
        if who not in coup.words and who not in coup.fates:
            return who
    return book.bank if bank_plays(book, coup) and not awaited(book, coup) else None


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


def expected(book: Chemin, coup: CheminCoup) -> str | None:
    """Where the next card belongs; None: none may come now."""
    if not coup.closed or waits(coup):
        return None
    if (to := next_dealt(book, coup)) is not None:
        return to
    if due := awaited(book, coup):
        return due[0]
    return book.bank if next_to_act(book, coup) == book.bank else None


def shows(book: Chemin, coup: CheminCoup) -> bool:
    """Whether nothing is left but to turn all cards."""
    if not coup.closed or waits(coup) or next_dealt(book, coup) is not None or unplaced(coup):
        return False
    if "loses" in coup.fates.values():
        return True
    return next_to_act(book, coup) is None and not awaited(book, coup)


def is_face_up(book: Chemin, coup: CheminCoup) -> bool:
    """Whether the cards of all hands are face up; a hand whose cards are in the basket lacks
    none.
    """
    return all(
        card.up for who in book.everyone if who not in coup.fates for card in cards_of(coup, who)
    )


# What the rules require


def wrong_word(book: Chemin, coup: CheminCoup, who: str, *, exempt: bool) -> str | None:
    """What is wrong with a hand's decision, now that its cards are seen."""
    word, made = coup.words.get(who), opening(book, coup, who)
    if word not in ("draw", "stand") or who in coup.fates:
        return None
    if made >= NATURAL:
        return "natural_forgotten"
    cell = player_draws(book.third, made)
    return "player_word" if not exempt and (cell, word) in (("T", "stand"), ("P", "draw")) else None


def cell(book: Chemin, coup: CheminCoup, who: str) -> Cell:
    """What the table of plays requires of the bank against one hand."""
    third = thirds(coup, who)
    drawn = value(third[0].card) if third and third[0].card is not None else None
    return banker_draws(book.third, min(opening(book, coup, book.bank), 7), drawn)


def bank_duty(book: Chemin, coup: CheminCoup, *, table: bool) -> Cell:
    """What the bank must do: ``T`` draw, ``P`` stand, ``O`` as it likes. ``table``: it keeps to the
    table in any case.

    At two cloths it is free in an ordinary round, also against a natural; what the decrees say of
    «the banker in restored plays» binds it in these alone.
    """
    made, against = opening(book, coup, book.bank), playing(book, coup)
    if not bank_plays(book, coup) or made >= NATURAL:
        return "P"
    if coup.overdealt:
        return "O"
    if made == 0:
        return "T"
    if any(coup.fates.get(who) == "nine" for who in against):
        return "P" if made == 7 else "O"
    cells = {cell(book, coup, who) for who in against}
    if cells == {"T", "P"} and coup.bank_fault:
        return "T" if made <= 5 else "P"
    laid_down = coup.restored and "natural" in map(coup.words.get, book.hands)
    if len(cells) > 1 or not (table or coup.table or coup.restored):
        return "O"
    (only,) = cells
    return "T" if only == "O" and (laid_down or coup.optional) else only


def bank_bound_by(book: Chemin, coup: CheminCoup) -> str:
    """The name of the law that sets what the bank must do."""
    if len(book.hands) > 1 or opening(book, coup, book.bank) == 0:
        return "bank_word"
    if any(coup.fates.get(who) == "nine" for who in playing(book, coup)):
        return "basket_nine"
    if "false_card" in coup.said:
        return "false_card"
    return "cards_shown" if coup.optional or len(coup.owed) > 1 else "table_followed"


# Who wins


def outcome(book: Chemin, coup: CheminCoup, who: str, *, nine_beats: bool) -> Outcome | None:
    """The hand's outcome against the bank; None: it is void."""
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
    book: Chemin, coup: CheminCoup, who: str, made: tuple[int, int], *, nine_beats: bool
) -> Outcome:
    """The outcome where an eight of two cards beats an eight or nine of three; otherwise the higher
    wins, and equal is void.
    """
    own, other = made
    mine, theirs = (len(cards_of(coup, each)) == 2 for each in (who, book.bank))
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
    banks = {mirror[each] for each in against.values()}
    return tuple(
        Hand(
            who=who,
            cards=tuple(
                card.card for card in cards_of(coup, who) if card.up and card.card is not None
            ),
            points=total(book, coup, who),
            kind=coup.fates.get(who) or ("natural" if coup.words.get(who) == "natural" else None),
            outcome=against[who] if who in against else banks.pop() if len(banks) == 1 else None,
        )
        for who in book.everyone
    )
