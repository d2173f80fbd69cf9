"""Payments of a ledger. Their receipts are numbered per jackpot from 1, in ledger order."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from common.contract.command_fields import Signature
from subscribers.carrousel.facts import OrderGiven
from subscribers.carrousel.reading import LedgerReader, read_fact


class AwardPayment(msgspec.Struct, frozen=True, kw_only=True):
    """One payment of an award. ``signed``: who ordered it."""

    receipt: int
    award: int
    amount: int
    at: str
    """UTC, ISO 8601: from when it counts."""
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
    """Yield all payments of a jackpot, oldest first."""
    rows = file.connection.execute(_PAYMENTS_QUERY, (jackpot,))
    for receipt, (position, part, amount, at, body, digest) in enumerate(rows, 1):
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
