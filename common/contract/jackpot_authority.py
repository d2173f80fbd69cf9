"""The roles that may give each order to a jackpot."""

from __future__ import annotations

import msgspec

from common.contract.command_fields import Role
from common.contract.jackpot import (
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


class OrderRight(msgspec.Struct, frozen=True):
    """Who may give an order."""

    roles: tuple[Role, ...]
    two: bool = True
    """Two persons must sign it, both in one of these roles."""
    among: tuple[Role, ...] = ()
    """At least one of them must have one of these roles; empty: no condition."""


IN_CHARGE: tuple[Role, ...] = ("table_head", "inspector", "director")
MONEY: tuple[Role, ...] = ("inspector", "director")

ORDERS: dict[type[msgspec.Struct], OrderRight] = {
    AwardPay: OrderRight(IN_CHARGE, among=MONEY),
    AwardDecide: OrderRight(MONEY),
    AwardDispute: OrderRight(IN_CHARGE, two=False),
    AwardUphold: OrderRight(MONEY),
    AwardWithdraw: OrderRight(MONEY),
    ClaimSettle: OrderRight(MONEY, among=("director",)),
    HitsOrder: OrderRight(MONEY),
    HitFix: OrderRight(MONEY),
    GapSettle: OrderRight(MONEY),
    MeterAdjust: OrderRight(MONEY, among=("director",)),
    PoolTransfer: OrderRight(MONEY, among=("director",)),
    PoolClose: OrderRight(MONEY, among=("director",)),
    JackpotSuspend: OrderRight(IN_CHARGE, two=False),
    JackpotResume: OrderRight(MONEY, two=False),
    JackpotAlertAcknowledge: OrderRight(IN_CHARGE, two=False),
    JackpotAlertClear: OrderRight(MONEY, two=False),
}
"""Rights by order. No decree regulates them. A table head may pay, dispute and suspend; all else
needs an inspector or the director. If money leaves a meter for a reason other than the rules of the
game, one of the two persons must be the director.
"""
