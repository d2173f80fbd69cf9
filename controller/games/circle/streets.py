"""How cards go round a table of circle poker, street by street. All pure."""

from __future__ import annotations

from collections.abc import Iterable

from controller.games.circle.settings import CircleSettings
from controller.games.circle.state import CirclePlace, CircleRound, CircleSeat
from controller.games.decks import deck
from controller.rulebooks.circle import Circle

Street = tuple[str, ...]


def around(
    book: Circle, settings: CircleSettings, numbers: Iterable[int], first: int
) -> tuple[int, ...]:
    """These seats in the order of the deal, from ``first`` or the next one after it."""
    against = (book.direction or settings.direction) == "anticlockwise"
    rising = against == (
        settings.numbers == "from_right"
    )  # numbered from the croupier's right they rise against the clock
    ordered = sorted(numbers) if rising else sorted(numbers, reverse=True)
    before = [number for number in ordered if (number < first if rising else number > first)]
    return tuple(ordered[len(before) :] + before)


def streets(book: Circle, settings: CircleSettings) -> tuple[Street, ...]:
    """The streets as this table deals them: where the decree leaves a choice, by its setting."""
    found = book.streets
    if "common" in book.doubts and settings.common == "drawn":
        found = tuple(
            tuple("board u" if deal.startswith("board ud") else deal for deal in street)
            for street in found
        )
    if "first_common" in book.doubts and settings.first_common == "with_deal":
        first, flop, *rest = found
        found = (
            (*first, "board u"),
            tuple("board uu" if deal == "board uuu" else deal for deal in flop),
            *rest,
        )
    return found


def places(
    street: Street, seats: Iterable[CircleSeat], hand: CircleRound | None = None
) -> tuple[CirclePlace, ...]:
    """Where the cards of a street go, in the order of the deal: to the seats one at a time."""
    found: list[CirclePlace] = []
    seated = [seat.who for seat in seats]
    for deal in street:
        to, _, letters = deal.partition(" ")
        for letter in letters:
            if letter == "t":
                found.append(_turned(to, hand))
            else:
                found += [
                    CirclePlace(to=name, up=letter == "u")
                    for name in (seated if to == "seats" else [to])
                ]
    return tuple(found)


def _turned(to: str, hand: CircleRound | None) -> CirclePlace:
    """The next common card: turn the face-down one, or deal a replacement for one that did not
    count.
    """
    if hand is None:
        return CirclePlace(to=to, up=True)
    covered = [index for index, card in hand.by_index(to).items() if not card.up]
    turn = bool(covered) and min(covered) < hand.next_index(to)
    return CirclePlace(to=to, up=True, turn=turn)


def needed(book: Circle, settings: CircleSettings, players: int) -> int:
    """The number of cards that a whole round takes with this number of players."""
    every = streets(book, settings)
    if any(deal.startswith("dead") for street in every for deal in street):
        every = every[:-1]  # a shortage at the last card is provided for
    deals = [deal.partition(" ") for street in every for deal in street]
    laid = any(to == "board" and "d" in letters for to, _, letters in deals)
    count = {to: 0 for to, _, _ in deals}
    for to, _, letters in deals:
        count[to] += len(letters.replace("t", "")) if laid else len(letters)
    return count.pop("seats", 0) * players + sum(count.values())


def pack(book: Circle, players: int) -> tuple[str, ...]:
    """The pack for this number of players."""
    return deck(
        book.few.deck if book.few is not None and players <= book.few.players else book.deck
    )


def ranking(book: Circle, players: int) -> str:
    """The ranking for this number of players."""
    return (
        book.few.ranking if book.few is not None and players <= book.few.players else book.ranking
    )
