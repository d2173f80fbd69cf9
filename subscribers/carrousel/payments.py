"""The payments of a ledger, each with its receipt's number: they are counted per jackpot from 1, in
the order of the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from controller.contract.command_fields import Signature
from subscribers.carrousel.facts import Ordered
from subscribers.carrousel.reading import Reading, read_fact


class Payment(msgspec.Struct, frozen=True, kw_only=True):
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


_PAID = (
    "SELECT position, part, amount, at_time, fact, hash FROM posting JOIN entry USING (position) "
    "WHERE what = 'payment' AND account = 'paid' AND posting.jackpot = ? ORDER BY position, line"
)


def payments(file: Reading, jackpot: str) -> Iterator[Payment]:
    """All payments of a jackpot, the first one first."""
    found = file.connection.execute(_PAID, (jackpot,))
    for receipt, (position, part, amount, at, body, digest) in enumerate(found, 1):
        fact = read_fact(body)
        yield Payment(
            receipt=receipt,
            award=int(part),
            amount=amount,
            at=at,
            time=fact.time if isinstance(fact, Ordered) else at,
            signed=fact.signed if isinstance(fact, Ordered) else (),
            position=position,
            hash=digest.hex(),
        )
