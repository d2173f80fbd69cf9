"""Who may give which order of a jackpot."""

from __future__ import annotations

from collections.abc import Sequence

from common.contract.command_fields import Signature
from common.contract.jackpot import JackpotOrder
from common.contract.jackpot_authority import ORDERS
from subscribers.carrousel.ledger_state import OrderRefusedError


def check_signers(order: JackpotOrder, signed: Sequence[Signature]) -> None:
    """Refuse an order that its signers may not give. Raises :class:`OrderRefusedError`."""
    rights = ORDERS[type(order)]
    name = str(type(order).__struct_config__.tag)
    if len({signature.id for signature in signed}) < 1 + rights.two:
        persons = tuple(signature.name for signature in signed)
        raise OrderRefusedError("signers_few", order=name, count=1 + rights.two, persons=persons)
    for signature in signed:
        if signature.role not in rights.roles:
            raise OrderRefusedError(
                "signers_role", order=name, role=signature.role, roles=rights.roles
            )
    if rights.among and not any(signature.role in rights.among for signature in signed):
        raise OrderRefusedError("signers_among", order=name, roles=rights.among)
