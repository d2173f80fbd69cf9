"""The payments of a ledger, each with its receipt's number: they are counted per jackpot from 1, in
the order of the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from controller.contract.command_fields import Signature
from subscribers.carrousel.facts import OrderGiven
from subscribers.carrousel.reading import LedgerReader, read_fact


class AwardPayment(msgspec.Struct, frozen=True, kw_only=True):
    """What was paid of an award at once. ``signed``: who ordered it."""

    receipt: int
    award: int
    amount: int
    at: str
    """UTC, ISO 8601: where it counts."""
    time: str
    """When it was ordered, on the controller's clock."""
    signed: tuple[Signature, ...]
    position: int
    hash: str


_PAYMENTS_QUERY = (
    "SELECT position, part, amount, at_time, fact, hash FROM posting JOIN entry USING (position) "
    "WHERE what = 'payment' AND account = 'paid' AND posting.jackpot = ? ORDER BY position, line"
)


def read_payments(file: LedgerReader, jackpot: str) -> Iterator[AwardPayment]:
    """All payments of a jackpot, the first one first."""
    found = file.connection.execute(_PAYMENTS_QUERY, (jackpot,))
    for receipt, (position, part, amount, at, body, digest) in enumerate(found, 1):
        fact = read_fact(body)
        yield AwardPayment(
            receipt=receipt,
            award=int(part),
            amount=amount,
            at=at,
            time=fact.time if isinstance(fact, OrderGiven) else at,
            signed=fact.signed if isinstance(fact, OrderGiven) else (),
            position=position,
            hash=digest.hex(),
        )
