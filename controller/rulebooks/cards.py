"""A decree's rules about cards and shoes, as data: the part of a rulebook that all games with a
shoe share.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class ShoeRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The cards of one game, and the cut card; under ``shoe`` in a game's rulebook. Its laws are
    among the game's.
    """

    decks: int
    """Number of decks of 52 cards."""
    behind: int
    """Cards behind the cut card."""
    behind_exact: bool = True
    """True if ``behind`` is the exact number, False if it is the minimum."""
    after_cut: Literal["finish", "void"] = "finish"
    """What happens to the round in progress when the cut card appears: it is finished, or it is
    void.
    """
    burn: int | Literal["shown"] = 0
    """Cards burned before the first round: a fixed number, or the value of the first card, which is
    shown.
    """
    backs: tuple[int, ...]
    """Decks of each back colour: ``[3, 3]``, or ``[6]`` for one colour."""
    index: bool | None = None
    """Whether the cards must have indices; None: the decree does not say."""
    new: bool | None = None
    """Whether only new cards are allowed (true), or used ones too (false); None: the decree does
    not say.
    """


class Repair(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Cells of a table that are missing or damaged in the copy of the decree, and the values used
    instead.
    """

    bank: int
    """The row: the total of the bank's first two cards."""
    columns: str
    """The cells, by the letters of the header: ``0`` to ``9`` for the player's third card, ``P``
    for none.
    """
    printed: str
    """Text of the copy; empty where the table is lost."""
    read: str
    """Text used instead, one letter per column."""
    lines: str
    """Lines of the damage and of the source of the text."""


class ThirdCards(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table of third cards at baccarat: ``T`` must draw, ``P`` must not draw, ``O`` may
    draw.
    """

    player: str
    """One letter for each total 0 to 7 of the player's first two cards."""
    banker: tuple[str, ...]
    """One row for each total 0 to 7 of the bank's first two cards, with one letter for each third
    card 0 to 9 of the player, and an eleventh for none.
    """
    repairs: tuple[Repair, ...] = ()

    def __post_init__(self) -> None:
        if len(self.player) != 8 or {*self.player} - {*"TPO"}:
            raise ValueError("player: eight letters T, P or O")
        if [len(row) for row in self.banker] != [11] * 8 or {*"".join(self.banker)} - {*"TPO"}:
            raise ValueError("banker: eight rows of eleven letters T, P or O")
