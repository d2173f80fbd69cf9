"""Pai gow in one decree: the struct of its table in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.rulebooks.common_poker import Banked

Order = Literal["higher", "equal", "lower"]
"""Result of comparing a client's hand with the bank's."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One row of the decree's table: how the two hands of a client compare, and what happens to the
    bet.

    ``void``: the game is void, and the bet is returned.
    """

    case: str
    high: Order
    low: Order
    outcome: Literal["win", "void", "lose"]


class PaiGow(Banked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game. Boxes are counted clockwise; the croupier's position comes after them."""

    hand: int
    """Cards of a client; ``low`` of them form the low hand."""
    low: int
    ranking_low: str
    dice: int
    die: tuple[int, int]
    """Minimum and maximum side of a die, in tenths of a millimetre."""
    bank_counts: tuple[int, ...]
    """Totals of the dice that select the bank's own position, where counting starts with one."""
    cases: tuple[Case, ...]
    pays: tuple[int, int]
    """Payout of a win to 1, before the commission."""
    commission: int
    """Maximum commission on a win, in thousandths."""
