"""The cards of one round on the table: known or not, face down or up, in the order of the deal.

All pure. A game has the :data:`Table` of the round in its state and emits the events; a
contradiction is returned as a :data:`Trouble` and changes nothing. Cards become known in three
ways: a reader names one as it is dealt (``place_card`` with a card), a packet or a person counts
several (``place_card`` without one), a person names those that are face up (``show``). An unknown
card is never guessed.

A card that left its hand (folded, discarded, burned) stays in the table as ``gone``, so that it is
recognised if it is reported again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from common.contract.events import CardDealt, CardTurned
from common.contract.refusals import RejectedError

Trouble = Literal[
    "card_foreign",  # it is no card of the deck
    "card_duplicate",  # already in the hand
    "shown_differs",  # the shown card differs from the reader's for that place
]


class TableCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One card on the table. ``card``: None while unknown; ``up``: it is face up; ``gone``: it left
    the hand ``to`` which it was dealt. ``reading``: the number of its reading.
    """

    to: str
    card: str | None = None
    up: bool = False
    gone: bool = False
    reading: int | None = None

    @property
    def face(self) -> str | None:
        """The card if it lies face up with its hand, else None."""
        return self.card if self.up and not self.gone else None


Table = tuple[TableCard, ...]
"""All cards of the round, in the order in which they were dealt."""


# What lies there


def dealt(table: Table, who: str) -> Table:
    """All cards dealt to a hand, including those that left it; the ``index`` in events counts them
    from 1.
    """
    return tuple(card for card in table if card.to == who)


def hand(table: Table, who: str) -> Table:
    """The cards of a hand, without those that left it."""
    return tuple(card for card in table if card.to == who and not card.gone)


def known(table: Table, who: str) -> tuple[str, ...]:
    """The known cards of a hand, in the order of the deal."""
    return tuple(card.card for card in hand(table, who) if card.card is not None)


def is_known(table: Table, who: str) -> bool:
    """Whether every card of a hand is known."""
    return len(known(table, who)) == len(hand(table, who))


def up(table: Table, who: str) -> tuple[str, ...]:
    """The cards of a hand that are face up."""
    return tuple(card.card for card in hand(table, who) if card.up and card.card is not None)


def is_up(table: Table, who: str) -> bool:
    """Whether a hand has cards and all of them are face up."""
    own = hand(table, who)
    return bool(own) and all(card.up and card.card is not None for card in own)


def readings(table: Table) -> tuple[int, ...]:
    """The numbers of the readings of these cards, each once, oldest first. Face-down cards are
    included: a number reveals no card.
    """
    return tuple(sorted({card.reading for card in table if card.reading is not None}))


def seen(table: Table, shown: Collection[str]) -> Table:
    """The cards that are or were face up, without those ``shown``: the cards of a finished round
    that may be stored.
    """
    return tuple(
        card for card in table if card.up and card.card is not None and card.card not in shown
    )


def trouble(
    table: Table, cards: Iterable[str], deck: Collection[str], but: str | None = None
) -> Trouble | None:
    """Why these cards cannot be on the table: foreign to the deck, or there already. Cards of the
    hand ``but`` are not compared.
    """
    cards = tuple(cards)
    if not set(cards) <= set(deck):
        return "card_foreign"
    there = {card.card for card in table if card.gone or card.to != but}
    return "card_duplicate" if len(set(cards)) < len(cards) or there & set(cards) else None


# Fates


def _changed(table: Table, who: str, change: Callable[[int, TableCard], TableCard]) -> Table:
    """The table with ``change(index, card)`` applied to each card of a hand."""
    index, changed = 0, []
    for card in table:
        index += card.to == who
        changed.append(change(index, card) if card.to == who and not card.gone else card)
    return tuple(changed)


def place_card(
    table: Table,
    to: str,
    card: str | None = None,
    *,
    up: bool = False,
    reading: int | None = None,
    count: int = 1,
) -> Table:
    """Deal cards to a hand: a known one, or unknown ones."""
    return (
        table + (TableCard(to=to, card=card, up=up and card is not None, reading=reading),) * count
    )


def turn(table: Table, who: str, index: int | None = None) -> Table:
    """Turn the known cards of a hand face up, or only its ``index``-th."""
    return _changed(
        table, who, lambda place, card: _faced(card) if index in (None, place) else card
    )


def drop(table: Table, who: str, cards: Collection[str] | None = None) -> Table:
    """Fold a hand, or discard these cards of it."""
    return _changed(
        table,
        who,
        lambda _, card: replace(card, gone=True) if cards is None or card.card in cards else card,
    )


def restore(table: Table, who: str) -> Table:
    """Restore the cards of a hand that was folded by mistake."""
    return tuple(replace(card, gone=False) if card.to == who else card for card in table)


def show(
    table: Table,
    who: str,
    cards: Sequence[str],
    *,
    dropped: int = 0,
    first: int = 0,
    trust: bool = False,
) -> Table | Trouble:
    """Turn a hand face up: these are its cards, in any order.

    ``dropped``: how many of the ``first`` cards dealt to it were discarded unseen; they are those
    not among ``cards``. ``trust``: believe the person where the reader disagrees. Raises
    ``RejectedError`` for a wrong number of cards.
    """
    own = hand(table, who)
    if len(cards) != len(own) - dropped:
        raise RejectedError("cards_counted", who=who, cards=len(own) - dropped, count=len(cards))
    if trust:
        own = tuple(
            card if card.card in cards else replace(card, card=None, up=False) for card in own
        )
    named = {card.card for card in own}
    rest = [card for card in cards if card not in named]
    laid: list[TableCard] = []
    for place, seen in reversed(
        list(enumerate(own))
    ):  # the card dealt last was not discarded: it is matched first
        if seen.card in cards:
            laid.append(_faced(seen))
        elif seen.card is None and rest:
            laid.append(replace(seen, card=rest.pop(), up=True))
        elif place < first and not seen.up and dropped:
            laid.append(replace(seen, gone=True))
            dropped -= 1
        else:
            return "shown_differs"
    if rest:
        return "shown_differs"
    new = iter(reversed(laid))
    return tuple(next(new) if card.to == who and not card.gone else card for card in table)


def unread(table: Table, who: str, cards: Collection[str]) -> Table:
    """Forget these cards wherever else the reader reported them, face down or gone: a person has
    named them in this hand.
    """
    return tuple(
        replace(card, card=None)
        if card.card in cards and not card.up and (card.gone or card.to != who)
        else card
        for card in table
    )


def show_one(
    table: Table, who: str, index: int, card: str, *, trust: bool = False
) -> Table | Trouble:
    """Turn the ``index``-th card dealt to a hand face up as this card. Raises ``RejectedError`` if
    there is none.
    """
    own = dealt(table, who)
    if not 0 < index <= len(own) or own[index - 1].gone:
        raise RejectedError("no_card_at_index", who=who, index=index)
    dealt_card = own[index - 1]
    if dealt_card.card not in (None, card) and not trust:
        return "shown_differs"
    return _changed(
        table,
        who,
        lambda place, seen: replace(seen, card=card, up=True) if place == index else seen,
    )


def _faced(card: TableCard) -> TableCard:
    return replace(card, up=card.card is not None)


# Events


def laid_down(before: Table, after: Table) -> list[CardDealt]:
    """The events of dealt cards; face-down cards are not named."""
    events = []
    for place in range(len(before), len(after)):
        card = after[place]
        index = len(dealt(after[: place + 1], card.to))
        events.append(CardDealt(to=card.to, index=index, card=card.card if card.up else None))
    return events


def turned(before: Table, after: Table) -> list[CardTurned]:
    """The events of the cards that were turned, or whose published value was wrong."""
    events = []
    for place, card in enumerate(after[: len(before)]):
        if (
            card.up
            and card.card is not None
            and (not before[place].up or before[place].card != card.card)
        ):
            events.append(
                CardTurned(
                    to=card.to, index=len(dealt(after[: place + 1], card.to)), card=card.card
                )
            )
    return events
