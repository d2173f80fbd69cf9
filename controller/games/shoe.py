"""The shoe: one talla from the first card to the last, for every game that is dealt from one.

All pure. A game has a :class:`Shoe` in its state (None between tallas) and the shoes of its last
sessions; it emits the events and cites the law. In the order of a talla:

- ``objections(rules, settings, command)``: breaches of the decree in the fields of ``shoe.start``;
- ``put_in(rules, settings, command)``: the shoe, ``started(shoe, command)``: the event
  ``shoe.started``;
- ``assign(past, number)`` and ``systematic(past, number, sessions)``: the same shoe at the same
  table, session after session;
- ``draw(shoe, card)``: a card left the shoe; with it comes the :data:`Trouble` that a person must
  decide about, or None;
- ``cut(shoe)`` and ``cut_misplaced(rules, shoe)``: the cut card came;
- ``lose_count(shoe)``: the device was silent, cards may have gone unseen: from here nothing is
  counted;
- ``ended(shoe, why, left)``: the event ``shoe.ended``; ``miscounted(shoe, left)``: the count does
  not match the composition.

Objections and troubles are names of irregularities: the rulebook's ``laws`` has an entry for each
of :data:`LAWS`. Events of a shoe name no card that was not turned: missing cards are named only if
the shoe was drawn to its last card.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

import msgspec
from msgspec.structs import replace

from common.contract.commands import ShoeStart
from common.contract.events import Announcement, ShoeEnded, ShoeStarted
from common.contract.shown import ShoeCounts
from common.readings import ShoeFault
from controller.games.amounts import Times
from controller.games.cards import CARDS, composition
from controller.rulebooks.cards import ShoeRules

DECK = 52
Trouble = Literal["card_unread", "card_foreign", "card_too_many"]
LAWS = (
    "shoe_model",
    "shoe_systematic",
    "shoe_count",
    "cards_backs",
    "cards_index",
    "cards_new",
    "cut_card",
    "card_unread",
    "card_foreign",
    "card_too_many",
)
"""The irregularities that this module names."""
CARD_FAULTS = ("unread", "overdraw", "card_code")
"""Shoe faults about a card, which the device may name."""
_CARD = re.compile(
    r"(?<![a-z0-9])(?:(?:10|[a2-9tjqk])[-_ ]?[cdhs]|[cdhs][-_ ]?(?:10|[a2-9tjqk]))(?![a-z0-9])"
    r"|\b(?:ace|king|queen|jack|club|diamond|heart|spade|joker)s?\b|[\u2660-\u2667]|\\x",
    re.IGNORECASE,
)
"""Words in a device's text that may name a card; also bytes that are not text."""
MAX_REMEMBERED_SESSIONS = 12
"""Number of sessions whose shoes are remembered."""


class ShoeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A site's settings for the shoes at a table: the base of the settings of every game dealt from
    one.
    """

    models: tuple[str, ...] = ()
    """The homologated models; if empty, models are not checked."""
    continuous: bool = False
    """The shoe shuffles continuously: no cut card, no count."""
    same_shoe_sessions: Times = 3
    """Number of consecutive sessions with the same shoe from which it counts as assigned
    systematically. No decree has a number.
    """


class Shoe(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One shoe of rounds. ``behind``: cards behind the cut card. ``drawn``: cards that left,
    ``unread`` of them without a value. ``seen``: how often each card was read, turned or not; never
    shown. ``cut_at``: cards drawn before the cut card came. ``counted``: no silence has hidden a
    card so far. ``over``: no further round may begin. ``first_round``: the first that may be dealt
    from it.
    """

    number: str
    model: str | None = None
    decks: int
    behind: int
    continuous: bool = False
    drawn: int = 0
    unread: int = 0
    seen: dict[str, int] = {}
    cut_at: int | None = None
    counted: bool = True
    over: bool = False
    first_round: int | None = None

    @property
    def cards(self) -> int:
        """The number of cards that it held at first."""
        return self.decks * DECK

    @property
    def left(self) -> int | None:
        """The number of cards left in it; None if unknown."""
        return self.cards - self.drawn if self.counted and not self.continuous else None


def own_word(reading: ShoeFault) -> str | None:
    """The device's text about its fault; None if it is about a card or may name one, as it must not
    be published then.
    """
    return (
        None
        if reading.fault in CARD_FAULTS or _CARD.search(reading.detail or "")
        else reading.detail
    )


def objections(rules: ShoeRules, settings: ShoeSettings, command: ShoeStart) -> tuple[str, ...]:
    """The breaches of the decree by the shoe and its cards, as ``shoe.start`` describes them."""
    allowed_cut = command.cut is None or (
        command.cut == rules.behind if rules.behind_exact else command.cut >= rules.behind
    )
    wrong = {
        "shoe_model": bool(settings.models) and command.model not in settings.models,
        "shoe_count": command.cards not in (None, rules.decks * DECK),
        "cards_backs": command.backs is not None and sorted(command.backs) != sorted(rules.backs),
        "cards_index": None not in (command.index, rules.index) and command.index != rules.index,
        "cards_new": command.new is False and rules.new is True,
        "cut_card": not settings.continuous and not allowed_cut,
    }
    return tuple(name for name, is_wrong in wrong.items() if is_wrong)


def put_in(
    rules: ShoeRules, settings: ShoeSettings, command: ShoeStart, first_round: int | None = None
) -> Shoe:
    """The shoe at its start."""
    behind = rules.behind if command.cut is None else command.cut
    return Shoe(
        number=command.shoe,
        model=command.model,
        decks=rules.decks,
        behind=behind,
        continuous=settings.continuous,
        first_round=first_round,
    )


def started(
    shoe: Shoe, command: ShoeStart, announcement: Announcement | None = None
) -> ShoeStarted:
    """The event ``shoe.started``."""
    return ShoeStarted(
        shoe=shoe.number,
        model=shoe.model,
        decks=shoe.decks,
        cards=shoe.cards,
        cut=0 if shoe.continuous else shoe.behind,
        by=command.by,
        role=command.role,
        announcement=announcement,
    )


Past = tuple[tuple[str, ...], ...]
"""The numbers of the shoes at a table, session by session, the current one last."""


def new_session(past: Past) -> Past:
    """The shoes with a new session, which has none yet."""
    return (*past, ())[-MAX_REMEMBERED_SESSIONS:]


def assign(past: Past, number: str) -> Past:
    """Assign the shoe to the table in this session."""
    *before, now = past or ((),)
    return (*before, now if number in now else (*now, number))


def systematic(past: Past, number: str, sessions: int) -> bool:
    """Whether the shoe was at the table in each of the last ``sessions`` sessions, including this
    one.
    """
    return len(past) >= sessions > 0 and all(number in used for used in past[-sessions:])


def draw(shoe: Shoe, card: str | None) -> tuple[Shoe, Trouble | None]:
    """The shoe without a drawn card (None: unread), and the trouble with it: unread, foreign to the
    game, or drawn too often.
    """
    shoe = replace(shoe, drawn=shoe.drawn + 1)
    if card is None:
        return replace(shoe, unread=shoe.unread + 1), "card_unread"
    if card not in CARDS:
        return shoe, "card_foreign"
    if shoe.continuous:  # its cards come back
        return shoe, None
    times = shoe.seen.get(card, 0) + 1
    return replace(
        shoe, seen={**shoe.seen, card: times}
    ), "card_too_many" if times > shoe.decks else None


def read(shoe: Shoe, card: str) -> tuple[Shoe, Trouble | None]:
    """The shoe after a person read its unread card. Same troubles as :func:`draw`."""
    return draw(replace(shoe, drawn=shoe.drawn - 1, unread=max(0, shoe.unread - 1)), card)


def reread(shoe: Shoe, was: str | None, card: str) -> tuple[Shoe, Trouble | None]:
    """The shoe after a person corrected the card that was read as ``was``. Same troubles as
    :func:`draw`.
    """
    if was is None:
        return read(shoe, card)
    times = shoe.seen.get(was, 0) - 1
    seen = {name: n for name, n in shoe.seen.items() if name != was} | (
        {was: times} if times > 0 else {}
    )
    return draw(replace(shoe, drawn=shoe.drawn - 1, seen=seen), card)


def cut(shoe: Shoe) -> Shoe:
    """The shoe after its cut card came; a second one changes nothing."""
    return shoe if shoe.cut_at is not None else replace(shoe, cut_at=shoe.drawn)


def cut_misplaced(rules: ShoeRules, shoe: Shoe) -> bool:
    """Whether the number of cards behind the cut card is not the decree's."""
    if shoe.cut_at is None or shoe.continuous or not shoe.counted:
        return False
    behind = shoe.cards - shoe.cut_at
    return behind != rules.behind if rules.behind_exact else behind < rules.behind


def lose_count(shoe: Shoe) -> Shoe:
    """The shoe without a count: cards may have passed unseen."""
    return replace(shoe, counted=False)


def miscounted(shoe: Shoe, left: int | None) -> bool:
    """Whether ``left`` cards, counted in the shoe at its end, differ from those that must be
    left.
    """
    return left is not None and shoe.left is not None and left != shoe.left


def ended(shoe: Shoe, why: Literal["cut", "person", "reset"], left: int | None = None) -> ShoeEnded:
    """The event ``shoe.ended``. ``left``: the cards left by a person's count; None: by the
    shoe's.
    """
    left = shoe.left if left is None else left
    seen, held = Counter(shoe.seen), composition(shoe.decks)
    whole = (
        left == shoe.left == 0 and shoe.unread == 0
    )  # else the missing cards would reveal those drawn, seen or not
    return ShoeEnded(
        why=why,
        drawn=shoe.drawn,
        unread=shoe.unread,
        left=left,
        missing=tuple((held - seen).elements()) if whole else (),
        extra=tuple((seen - held).elements()) if whole else (),
    )


def show(shoe: Shoe | None) -> ShoeCounts | None:
    """The shoe in the retained topics: counts, never cards."""
    if shoe is None:
        return None
    return ShoeCounts(
        number=shoe.number,
        model=shoe.model,
        decks=shoe.decks,
        continuous=shoe.continuous,
        drawn=shoe.drawn,
        unread=shoe.unread,
        left=shoe.left,
        cut=shoe.cut_at is not None,
        over=shoe.over,
        first_round=shoe.first_round,
    )
