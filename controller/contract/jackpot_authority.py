"""Who may order what of a jackpot, as data."""

from __future__ import annotations

import msgspec

from controller.contract.command_fields import Role
from controller.contract.jackpot import (
    AwardDecide,
    AwardDispute,
    AwardPay,
    AwardUphold,
    AwardWithdraw,
    ClaimSettle,
    GapSettle,
    HitFix,
    HitsOrder,
    JackpotAlertAcknowledge,
    JackpotAlertClear,
    JackpotResume,
    JackpotSuspend,
    MeterAdjust,
    PoolClose,
    PoolTransfer,
)


class May(msgspec.Struct, frozen=True):
    """Who may give an order."""

    roles: tuple[Role, ...]
    two: bool = True
    """It takes two persons, both of these roles."""
    among: tuple[Role, ...] = ()
    """The roles of which one of them must have one; empty: any."""


IN_CHARGE: tuple[Role, ...] = ("table_head", "inspector", "director")
MONEY: tuple[Role, ...] = ("inspector", "director")

ORDERS: dict[type[msgspec.Struct], May] = {
    AwardPay: May(IN_CHARGE, among=MONEY),
    AwardDecide: May(MONEY),
    AwardDispute: May(IN_CHARGE, two=False),
    AwardUphold: May(MONEY),
    AwardWithdraw: May(MONEY),
    ClaimSettle: May(MONEY, among=("director",)),
    HitsOrder: May(MONEY),
    HitFix: May(MONEY),
    GapSettle: May(MONEY),
    MeterAdjust: May(MONEY, among=("director",)),
    PoolTransfer: May(MONEY, among=("director",)),
    PoolClose: May(MONEY, among=("director",)),
    JackpotSuspend: May(IN_CHARGE, two=False),
    JackpotResume: May(MONEY, two=False),
    JackpotAlertAcknowledge: May(IN_CHARGE, two=False),
    JackpotAlertClear: May(MONEY, two=False),
}
"""No decree says who may. A table head may pay, and say that nothing is to be paid or bet; the rest
is for an inspector or the director, and where money leaves a meter by no law of the game, one of
the two persons is the director.
"""
