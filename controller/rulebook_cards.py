"""What a decree says of cards and shoes, as data: the part of a rulebook that all games from a shoe share."""

from __future__ import annotations

from typing import Literal

import msgspec


class ShoeRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The cards of one game, and the cut card. A game's rulebook has it under ``shoe``; its laws are among the game's."""

    decks: int
    """Of 52 cards each."""
    behind: int
    """Cards behind the cut card."""
    behind_exact: bool = True
    """Whether ``behind`` is the number, or the least number."""
    after_cut: Literal["finish", "void"] = "finish"
    """What becomes of the round in hand when the cut card comes: it is played to its end, or it is null."""
    burn: int | Literal["shown"] = 0
    """Cards burned before the first round: so many, or as many as the first card says, which is shown."""
    backs: tuple[int, ...]
    """Decks of each back colour: ``[3, 3]``, or ``[6]`` for one colour."""
    index: bool | None = None
    """Whether the cards have indices; None: not said."""
    new: bool | None = None
    """Whether only cards never used are allowed (true), or used ones too (false); None: not said."""
