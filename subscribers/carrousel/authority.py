"""Whether these persons may give this order of a jackpot."""

from __future__ import annotations

from collections.abc import Sequence

from controller.contract.command_fields import Signature
from controller.contract.jackpot import JackpotOrder
from controller.contract.jackpot_authority import ORDERS
from subscribers.carrousel.ledger_state import OrderRefusedError


def check_signers(order: JackpotOrder, signed: Sequence[Signature]) -> None:
    """Refuse an order that these persons may not give. Raises :class:`OrderRefusedError`."""
    may = ORDERS[type(order)]
    name = str(type(order).__struct_config__.tag)
    if len({each.id for each in signed}) < 1 + may.two:
        persons = tuple(each.name for each in signed)
        raise OrderRefusedError("signers_few", order=name, count=1 + may.two, persons=persons)
    for each in signed:
        if each.role not in may.roles:
            raise OrderRefusedError("signers_role", order=name, role=each.role, roles=may.roles)
    if may.among and not any(each.role in may.among for each in signed):
        raise OrderRefusedError("signers_among", order=name, roles=may.among)
