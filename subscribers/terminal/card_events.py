"""Cards at a table as a subscriber knows them: a fold over the events of card games, without clock
or I/O.

A face-down card is ``None`` until it is turned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from subscribers.terminal.outcomes import outcome_of

Fields = dict[str, Any]
Kind = Literal["result", "void", "unresolved"]
PAIR_CARDS = 2
"""Number of cards of a hand that is split."""
MAX_ROUNDS_PER_SHOE = 120
"""Maximum number of rounds stored per shoe; six decks give fewer."""


class BeadView(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one round. ``winner`` of a result: a hand, or ``tie``; empty where each box is
    settled separately. ``marks``: other outcomes on which bets win or lose.
    """

    round: int
    kind: Kind = "result"
    winner: str = ""
    marks: tuple[str, ...] = ()
    corrected: bool = False


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """The combination of a hand at the end of its round, as in the event."""

    points: int | None = None
    kind: str | None = None
    low: str | None = None
    outcome: str | None = None


class Cards:
    """The cards of one table. ``hands``: of the current round, or of the last; ``outcome``: its
    bead, once known.

    ``made``: the combination of each hand; ``decisions``: the decision of each hand in this round,
    and the number of its cards. ``round``: its number. ``expected``: who gets the next card.
    ``shown``: the card that determines how many are ``burned``. ``beads``: the rounds of this shoe.
    """

    def __init__(self) -> None:
        self.hands: dict[str, list[str | None]] = {}
        self.made: dict[str, Made] = {}
        self.decisions: dict[str, tuple[str, int | None]] = {}
        self.outcome: BeadView | None = None
        self.expected: str | None = None
        self.burned = 0
        self.shown: str | None = None
        self.shoe: Fields = {}
        self.beads: deque[BeadView] = deque(maxlen=MAX_ROUNDS_PER_SHOE)
        self.round = 0
        self._since = 0

    def event(self, fields: Fields) -> None:
        """Apply one event."""
        # a late event of an earlier round does not return to that round
        self.round = max(self.round, fields.get("round") or 0)
        handle = _EVENTS.get(str(fields.get("type")))
        if handle is not None:
            handle(self, fields)

    def state(self, shown: Fields, joining: bool) -> None:
        """Apply the retained state: counts of the shoe, and hands that no event has reported."""
        self.shoe = shown.get("shoe") or {}
        self.round = shown.get("round") or self.round
        if joining:
            self.hands = {
                str(who): cards
                for who, hand in (shown.get("hands") or {}).items()
                if (cards := _lying(hand))
            }
            if dealer := _lying(shown.get("dealer")):
                self.hands["dealer"] = dealer
            self.expected = shown.get("expected")

    def history(self, results: list[Fields]) -> None:
        """Apply the latest rounds, which include missed ones; skip those of an earlier shoe."""
        known = {bead.round: bead for bead in self.beads}
        known |= {bead.round: bead for bead in map(_bead, results) if bead.round > self._since}
        self.beads = deque((known[number] for number in sorted(known)), maxlen=MAX_ROUNDS_PER_SHOE)

    def deal(self, to: str, index: int, card: str | None) -> None:
        """Put a card into a hand, or turn it over."""
        hand, place = self.hands.setdefault(to, []), max(1, index)
        hand += [None] * (place - len(hand))
        hand[place - 1] = card

    def take_back(self, to: str | None) -> None:
        """Remove the last card of a hand."""
        if to is not None and self.hands.get(to):
            self.hands[to].pop()

    def put(self, bead: BeadView) -> None:
        """Add the outcome of a round, or replace that of the same round."""
        others = [other for other in self.beads if other.round != bead.round]
        self.beads = deque(
            sorted((*others, bead), key=lambda other: other.round), maxlen=MAX_ROUNDS_PER_SHOE
        )
        if bead.round == self.round:
            self.outcome, self.expected = bead, None

    def clear(self) -> None:
        """Clear the table and the rounds of this shoe."""
        self.hands, self.made, self.decisions, self.outcome, self.expected = {}, {}, {}, None, None
        self.burned, self.shown = 0, None
        self.beads.clear()
        self._since = self.round


def _bead(fields: Fields, kind: Kind | None = None) -> BeadView:
    kind = kind or fields.get("kind", "result")
    outcome = outcome_of(fields)
    return BeadView(
        round=fields.get("round", 0),
        kind=kind or "result",
        winner=str(outcome.get("winner") or "") if kind == "result" else "",
        marks=tuple(map(str, outcome.get("marks") or ())),
        corrected=bool(fields.get("corrected")),
    )


def _made(hand: Fields) -> Made:
    return Made(
        points=hand.get("points"),
        kind=hand.get("kind"),
        low=hand.get("low_kind"),
        outcome=hand.get("outcome"),
    )


def _lying(hand: Any) -> list[str | None]:
    """Return the cards of a hand in the state; some games publish them with their combination."""
    cards = hand.get("cards") if isinstance(hand, dict) else hand
    return list(cards) if isinstance(cards, list) else []


def _split(cards: Cards, who: str) -> None:
    """Move the second card of a pair to a separate hand, named by its number in the box."""
    box = who.partition(".")[0]
    own = cards.hands.get(who, [])
    if len(own) == PAIR_CARDS:
        count = sum(name.partition(".")[0] == box for name in cards.hands)
        cards.hands[f"{box}.{count + 1}"] = [own.pop()]


def _decided(cards: Cards, fields: Fields) -> None:
    if fields.get("decision") == "split":
        _split(cards, str(fields.get("who")))
    if not fields.get("valid", True):
        cards.decisions.pop(str(fields.get("who")), None)
        return
    cards.decisions[str(fields.get("who"))] = str(fields.get("decision")), fields.get("count")


def _opened(cards: Cards, _fields: Fields) -> None:
    cards.hands, cards.made, cards.decisions, cards.outcome = {}, {}, {}, None


def _dealt(cards: Cards, fields: Fields) -> None:
    to, card = str(fields.get("to")), fields.get("card")
    if to == "burn":
        cards.shown = card
        return
    cards.take_back(fields.get("was"))
    cards.deal(to, int(fields.get("index", 1)), card)


def _turned(cards: Cards, fields: Fields) -> None:
    if fields.get("to") == "burn":
        cards.shown = fields.get("card")
    else:
        cards.deal(str(fields.get("to")), int(fields.get("index", 1)), fields.get("card"))


def _burned(cards: Cards, fields: Fields) -> None:
    cards.burned, cards.shown = fields.get("count", 0), fields.get("shown")


def _expected(cards: Cards, fields: Fields) -> None:
    cards.expected = fields.get("to")


def _result(cards: Cards, fields: Fields) -> None:
    _lay(cards, fields)
    cards.put(_bead(fields, "result"))


def _lay(cards: Cards, fields: Fields) -> None:
    hands = outcome_of(fields).get("hands") or ()
    if hands:
        cards.hands |= {str(hand.get("who")): list(hand.get("cards") or ()) for hand in hands}
        cards.made = {str(hand.get("who")): _made(hand) for hand in hands}


def _corrected(cards: Cards, fields: Fields) -> None:
    if fields.get("round") == cards.round:  # otherwise they have been taken off the table
        _lay(cards, fields)
    cards.put(_bead({**fields, "corrected": True}, "result"))


def _session(cards: Cards, _fields: Fields) -> None:
    cards.round = 0
    cards.clear()


_EVENTS: dict[str, Callable[[Cards, Fields], None]] = {
    "session.opened": _session,
    "shoe.started": lambda cards, _: cards.clear(),
    "cards.burned": _burned,
    "round.opened": _opened,
    "card.dealt": _dealt,
    "card.turned": _turned,
    "card.removed": lambda cards, fields: cards.take_back(fields.get("to")),
    "card.expected": _expected,
    "hand.decided": _decided,
    "round.result": _result,
    "round.void": lambda cards, fields: cards.put(_bead(fields, "void")),
    "round.unresolved": lambda cards, fields: cards.put(_bead(fields, "unresolved")),
    "result.corrected": _corrected,
}
