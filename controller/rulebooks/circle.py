"""Circle poker as one decree defines it: the structs of its variants in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.law import Law, LawDoubt

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
"""How an error is remedied.

- ``restart``: collect the cards and restart the round if there are no bets; otherwise a person
  decides.
- ``restart_if_several``: as ``restart``, for more than one card.
- ``restart_if_seen``: as ``restart``, for a card that was seen.
- ``collect``: as ``restart``, at any time.
- ``ask``: a person states whether the error was corrected.
- ``put_right``: as ``ask`` before betting begins; after that the round is void.
- ``note``: report the error; the play stays valid.
- ``replace``: the common card is void, and another takes its place.
- ``annul``: the hands are void.
- ``reshuffle``: shuffle again, before any card is dealt.
- ``seat``: the seat is dealt in, and its cards are collected.

At stud:

- ``hole_cards``: the remedy depends on which covered card was seen.
- ``next_up``: the player's next card is dealt face up.
- ``dead_card``: a player who was skipped at the last card gets the first dead card.
- ``burn``: burn the card that came too early, and with it as many as there are players.

At draw:

- ``restart_if_first``: as ``restart``, for a player's first card.
- ``top``: unseen cards return to the top of the pack, or are dealt from it.
- ``recut``: shuffle and cut the rest of the pack, and burn a card.
- ``false_opening``: the opener cannot win.
"""
RECEIVERS = ("seats", "board", "board:2", "burn", "dead")


class Rake(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One way in which the house may take its share: ``least`` to ``most`` per cent."""

    of: Literal["pot", "session", "hand"]
    """The base of the share. ``pot``: the pot; ``session``: the table's maximum or the stakes, once
    per session; ``hand``: the table's minimum, per hand and player.
    """
    least: int = 0
    most: int


class StakeRange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The chips that a player must bring, as minimum and maximum multiple of the lowest bet."""

    initial: tuple[int, int]
    reposition: tuple[int, int]


class SmallPack(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The pack used when at most ``players`` play."""

    players: int
    deck: str
    ranking: str


class DrawRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How players discard and draw."""

    opening: tuple[str, ...] = ()
    """The rank of the lowest pair that may open the pot: first at the start, then after each hand
    without an opener. Empty if any hand may open.
    """
    most: int
    """Maximum number of cards that a player may discard."""
    last_apart: int | None = None
    """A player who draws this many gets the last of them after all others are served."""
    short: Literal["penultimate", "empty"]
    """When a short pack is refilled from the discards: at one card left, or at none. At one card,
    the discards of the opener and of the next player served stay out; at none, only those of the
    next player, if no other must be served.
    """


class Circle(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One variant. Each street deals cards and is followed by a betting interval.

    A street is a list of deals; each names a receiver and has one letter per card. ``d`` is dealt
    face down, ``u`` face up; ``t`` turns a covered common card, or deals a new one face up if it is
    gone. ``"seats dd"`` deals each seat two cards face down, one at a time; ``"board uuu"`` three
    common cards face up; ``"burn d"`` burns a card; ``"dead d"`` burns one and keeps it for the
    last card.
    """

    title: Announcement
    article: str
    deck: str
    """The name of the pack in ``decks``."""
    ranking: str
    """The name of the ranking in ``hands``."""
    few: SmallPack | None = None
    """Another pack and ranking for fewer players."""
    own_exactly: int | None = None
    """The number of hole cards that players must use; None if any number."""
    low: str | None = None
    """The ranking of the low hand that takes half the pot; None: no low hand."""
    streets: tuple[tuple[str, ...], ...]
    """In an empty street the players discard and draw."""
    draw: DrawRules | None = None
    first_to_act: tuple[FirstToAct, ...] = ("left_of_button",)
    """Who acts first in each interval; the last entry holds for all later ones."""
    fewest: int
    """Minimum number of players at any time."""
    most: int | None = None
    """Maximum number of players; None if the decree does not say."""
    direction: Direction | None = None
    """The direction in which cards and button move; None if the decree does not say."""
    deck_check: Literal["each", "periodic"] = "periodic"
    """How often the pack must be checked for completeness: before each game or periodically."""
    rest: int
    """The rounds that a player may sit out without losing the seat."""
    rest_in: Literal["row", "match"] = "row"
    """Whether the rounds sat out are counted in a row or over the whole match."""
    raises: int | None = None
    """Maximum raises of one player in an interval while more than two play; None: unlimited."""
    rake: tuple[Rake, ...]
    split: Literal["stakes", "equal"]
    """How equal hands share the pot. ``stakes``: in proportion to what each has left; ``equal``:
    the decree does not specify the proportion.
    """
    minimum: tuple[int, int] | None = None
    """The range of the lowest bet, in per cent of the highest."""
    ante: int | None = None
    """The highest ante, in per cent of the lowest bet."""
    limits: tuple[str, ...] = ()
    """The limits on bets that a table may choose: ``split``, ``pot``, ``fixed``, ``none``."""
    stakes: StakeRange | None = None
    last_rounds: int | None = None
    """The number of last rounds announced before closing; None if the decree does not say."""
    announcements: dict[str, Announcement] = {}
    """The calls that the decree words, by name."""
    errors: dict[str, Remedy]
    """The remedy of each error: those of ``deal.error``, ``extra_common`` (a common card too many
    in an interval) and ``shown_by_player`` (cards that a player exposes by mistake).
    """
    void: dict[VoidReason, Law]
    """The law behind each reason that voids a round."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, LawDoubt] = {}
    """Doubts about the decree, by the table setting that decides each."""

    def __post_init__(self) -> None:
        for deal in (deal for street in self.streets for deal in street):
            to, _, letters = deal.partition(" ")
            if to not in RECEIVERS or not letters or {*letters} - {*"dut"}:
                raise ValueError(
                    f"streets: {deal!r} is not a deal; write a receiver "
                    f"({', '.join(RECEIVERS)}) and letters d, u or t"
                )
