"""What really lies on a table with cards, as the people at it see it."""

from __future__ import annotations

from collections import Counter
from math import inf

from tests.world.cards.shoes import Shoe


class Card:
    """A card that was drawn. ``place``: the hand it was dealt to; "" for one that nobody wanted."""

    __slots__ = ("at", "name", "place", "turned_at")

    def __init__(self, name: str, place: str, at: float) -> None:
        self.name, self.place, self.at = name, place, at
        self.turned_at = inf
        """When it was turned face up."""

    def __repr__(self) -> str:
        return (
            f"{self.name} of {self.place}, drawn at {self.at:.1f}, turned at {self.turned_at:.1f}"
        )


class Tabletop:
    """The cards of one table. ``lying``: those of the round in progress, in order; ``seen``: a card
    that came out of turn is face up once a key is pressed: it is then dealt, or removed.
    """

    def __init__(self, shoe: Shoe, *, seen: bool = False) -> None:
        self.shoe = shoe
        self._seen = seen
        self.lying: list[Card] = []
        self.latest: dict[str, Card] = {}
        """By name, the card of that name that was drawn last."""
        self.turned: Counter[str] = Counter()
        """How often a card of a name was turned face up."""

    def draw(self, place: str, *, to: str = "", index: int = 0, up: bool = False) -> Card:
        """Draw a card and lay it there. ``to`` and ``index``: what a shoe knows of its place."""
        card = Card(self.shoe.draw(to or place, index), place, self.shoe.now)
        self.latest[card.name] = card
        self.lying.append(card)
        if up:
            self._turn(card)
        return card

    def turn(self, *places: str) -> None:
        """Turn the cards of these hands face up, and those that were accepted though nobody wanted
        them; of all, if no hand is named.
        """
        for card in self.lying:
            if not places or card.place in ("", *places):
                self._turn(card)

    def pressed(self, key: str, action: str | None = None) -> None:
        """A person presses a key. Who confirms a round has seen its cards, and who says that a card
        is not to be burned, but of a round, has seen it.
        """
        if key == "card.decide" and action in {"accept", "next_round"}:
            last = max(self.latest.values(), key=lambda card: card.at, default=None)
            if last is not None and last.place == "burn":
                last.place = ""
        if self._seen or key == "round.confirm":
            for card in self.latest.values():
                if card.place != "burn":
                    self._turn(card)

    def remove_stray(self) -> None:
        """Take the first card that nobody wanted off the table, as it lies."""
        if strays := self.of(""):
            self.lying.remove(strays[0])

    def of(self, place: str) -> list[Card]:
        """The cards of a hand."""
        return [card for card in self.lying if card.place == place]

    def is_hidden(self, name: str) -> bool:
        """Whether the card of that name lies face down."""
        card = self.latest.get(name)
        return card is not None and card.turned_at == inf

    def clear(self) -> None:
        """Take the cards off the table."""
        self.lying.clear()

    def _turn(self, card: Card) -> None:
        if card.turned_at == inf:
            card.turned_at = self.shoe.now
            self.turned[card.name] += 1
