"""What a decree says about cards and shoes, as data: the part of a rulebook that all games from a
shoe share.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class ShoeRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The cards of one game, and the cut card. A game's rulebook has it under ``shoe``; its laws
    are among the game's.
    """

    decks: int
    """Of 52 cards each."""
    behind: int
    """Cards behind the cut card."""
    behind_exact: bool = True
    """Whether ``behind`` is the number, or the least number."""
    after_cut: Literal["finish", "void"] = "finish"
    """What happens to the round in progress when the cut card comes: it is played to its end, or it
    is void.
    """
    burn: int | Literal["shown"] = 0
    """Cards burned before the first round: this number, or as many as the first card, shown, says.
    """
    backs: tuple[int, ...]
    """Decks of each back colour: ``[3, 3]``, or ``[6]`` for one colour."""
    index: bool | None = None
    """Whether the cards have indices; None: the decree does not say."""
    new: bool | None = None
    """Whether only cards never used are allowed (true), or used ones too (false); None: the decree
    does not say.
    """


class Repair(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Cells of a table that the copy of the decree has lost or damaged, and where we read them
    instead.
    """

    bank: int
    """The row: what the bank's first two cards make."""
    columns: str
    """The cells, by the letters of the header: ``0`` to ``9``, the player's third card, and ``P``,
    the player stood.
    """
    printed: str
    """What the copy prints; empty where the table is lost."""
    read: str
    """What we read instead, one letter per column."""
    lines: str
    """Where the damage is, and where the reading comes from."""


class ThirdCards(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """When a hand of baccarat takes a third card: ``T`` it must, ``P`` it must not, ``O``
    it may.
    """

    player: str
    """One letter for each total 0 to 7 of the player's first two cards."""
    banker: tuple[str, ...]
    """One row for each total 0 to 7 of the bank's first two cards; in it one letter for each
    player's third card 0 to 9, and the eleventh where the player stood.
    """
    repairs: tuple[Repair, ...] = ()

    def __post_init__(self) -> None:
        if len(self.player) != 8 or {*self.player} - {*"TPO"}:
            raise ValueError("player: eight letters T, P or O")
        if [len(row) for row in self.banker] != [11] * 8 or {*"".join(self.banker)} - {*"TPO"}:
            raise ValueError("banker: eight rows of eleven letters T, P or O")
