"""Pai gow, as one decree has it: the struct behind its table in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.rulebooks.common_poker import Banked

Order = Literal["higher", "equal", "lower"]
"""How a client's hand compares with the bank's."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row of the decree's table: how both hands of a client compare, and what happens to the
    bet.

    ``void``: the game is void, the bet is returned.
    """

    case: str
    high: Order
    low: Order
    outcome: Literal["win", "void", "lose"]


class PaiGow(Banked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game. Its boxes are counted clockwise; the croupier's position comes after them."""

    hand: int
    """Cards of a hand; it is set in two, ``low`` of them in the low one."""
    low: int
    ranking_low: str
    dice: int
    die: tuple[int, int]
    """The side of a die, from and to, in tenths of a millimetre."""
    bank_counts: tuple[int, ...]
    """The sums of the dice that mean the bank's own position: counting starts there with one."""
    cases: tuple[Case, ...]
    pays: tuple[int, int]
    """What a win pays to 1, before the commission."""
    commission: int
    """The highest commission on a win, in thousandths."""
