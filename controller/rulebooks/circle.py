"""Circle poker, as one decree has it: the structs behind its variants in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.commands import Role, VoidReason
from controller.contract.events import Announcement
from controller.rulebooks.law import Doubt, Law

Direction = Literal["clockwise", "anticlockwise"]
FirstToAct = Literal["left_of_button", "bettor", "lowest_up", "best_up", "opener", "after_blinds"]
Remedy = Literal[
    "restart",
    "restart_if_several",
    "restart_if_seen",
    "collect",
    "ask",
    "put_right",
    "note",
    "replace",
    "annul",
    "reshuffle",
    "seat",
    "restart_if_first",
    "hole_cards",
    "next_up",
    "dead_card",
    "burn",
    "top",
    "recut",
    "false_opening",
]
"""What becomes of an error. ``restart``: the cards are collected and the round begins anew, as long
as no bet was made (after that a person decides); ``restart_if_several``: so for more than one card;
``restart_if_seen``: so for a card that was seen; ``collect``: so at any time. ``ask``: a person
says whether it was put right; ``put_right``: so before the bets begin, after that the round is
void; ``note``: it is told and the play stays valid; ``replace``: the common card is void, another
takes its place; ``annul``: the hands are void; ``reshuffle``: before any card is dealt; ``seat``:
it is dealt to, its cards are collected.

At stud, ``hole_cards``: by which covered card was seen; ``next_up``: the player's next card comes
face up; ``dead_card``: who was skipped at the last card gets the first dead one; ``burn``: a card
that came too early goes, and as many as there are players with it. At draw, ``restart_if_first``:
as ``restart`` for the first card of a player; ``top``: cards go to or come from the top of the
pack, if nobody has seen them; ``recut``: what is left of the pack is shuffled and cut, a card is
burned; ``false_opening``: the opener cannot win.
"""
TO = ("seats", "board", "board:2", "burn", "dead")


class Rake(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One way in which the house may take its share, in per cent, from ``least`` to ``most``."""

    of: Literal["pot", "session", "hand"]
    """Of the pot; of the table's maximum or of the stakes, per session; of the table's minimum, per
    hand and player.
    """
    least: int = 0
    most: int


class Stakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a player brings to the table, as a multiple of the lowest bet: from, to."""

    initial: tuple[int, int]
    reposition: tuple[int, int]


class Few(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The pack for few players, up to this number."""

    players: int
    deck: str
    ranking: str


class Draw(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How players discard and draw."""

    opening: tuple[str, ...] = ()
    """The rank of the lowest pair that opens the pot, then after each blank hand the next; empty:
    no hand is needed.
    """
    most: int
    """Cards that a player may discard."""
    last_apart: int | None = None
    """Of this many cards, the last comes after all others have been served."""
    short: Literal["penultimate", "empty"]
    """When the discards are mixed in where the pack is short: when one card is left, or none. In
    the first case those of the opener and of who is served next stay out; in the second only the
    latter's, if nobody else has to be served.
    """


class Circle(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One variant. Its cards come street by street: what is dealt, then a betting interval.

    A street is a list of deals, each a receiver and a letter per card: ``"seats dd"`` two rounds of
    the table with a card face down, ``"burn d"``, ``"dead d"`` (burned, and kept for the last
    card), ``"board uuu"`` three common cards face up. ``d``: down, ``u``: up, ``t``: a common card
    that lies covered is turned (a new one, face up, where it lies there no more).
    """

    title: Announcement
    article: str
    deck: str
    """The pack, as ``decks`` names it."""
    ranking: str
    """How hands are ranked, as ``hands`` names it."""
    few: Few | None = None
    """Another pack and ranking for fewer players."""
    own_exactly: int | None = None
    """How many of their own cards players must use; None: any."""
    low: str | None = None
    """The ranking of the low hand, where it takes half the pot."""
    streets: tuple[tuple[str, ...], ...]
    """An empty street: the players discard and draw."""
    draw: Draw | None = None
    first_to_act: tuple[FirstToAct, ...] = ("left_of_button",)
    """Who opens each interval; the last word holds for all that follow."""
    fewest: int
    """Least number of players at all times."""
    most: int | None = None
    """Most players; None: the decree does not say."""
    direction: Direction | None = None
    """The direction of cards and button; None: the decree does not say."""
    deck_check: Literal["each", "periodic"] = "periodic"
    """How often the pack must be checked for completeness: before each game, or now and then."""
    rest: int
    """Rounds that a player may sit out without losing the seat."""
    rest_in: Literal["row", "match"] = "row"
    """Whether they are counted each time, or over the whole match."""
    raises: int | None = None
    """Raises of a player in an interval, while more than two play; None: no limit."""
    rake: tuple[Rake, ...]
    split: Literal["stakes", "equal"]
    """How equal hands share the pot: in proportion to what each has left, or unspecified."""
    minimum: tuple[int, int] | None = None
    """The lowest bet, in per cent of the highest: from, to."""
    ante: int | None = None
    """The most that the ante may be, in per cent of the lowest bet."""
    limits: tuple[str, ...] = ()
    """The ways in which bets may be limited: ``split pot fixed none``."""
    stakes: Stakes | None = None
    last_rounds: int | None = None
    """How many last rounds are announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement] = {}
    """Calls; empty where the decree does not word them."""
    errors: dict[str, Remedy]
    """By the name of the error: those of ``deal.error``; ``extra_common``, a common card too many
    in an interval; ``shown_by_player``, cards that a player shows by his own mistake.
    """
    void: dict[VoidReason, Law]
    """Reasons that void a round, and their laws."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, Doubt] = {}
    """By the name of the table setting that decides it."""

    def __post_init__(self) -> None:
        for deal in (deal for street in self.streets for deal in street):
            to, _, letters = deal.partition(" ")
            if to not in TO or not letters or {*letters} - {*"dut"}:
                raise ValueError(
                    f"streets: {deal!r} is not a deal; write a receiver ({', '.join(TO)}) and "
                    "letters d, u or t"
                )
