"""A recall that a table was sent and has not answered: which answers count, and when to ask again.

A daemon of many tables may need longer than the first timeout, and what it is asked again waits
behind what it was asked before. So an answer to any of the latest askings counts, and each further
one is sent after twice as long. Pure: the caller owns clock and wire.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

RECALL_TIMEOUT_SECONDS = 3.0
"""Seconds after which a recall without an answer is sent again, the first time."""
MAX_RECALL_TIMEOUT_SECONDS = 60.0
"""Seconds after which it is sent again at the latest."""
MAX_ASKINGS = 8
"""Askings of which an answer counts."""

Subject = TypeVar("Subject")


class Asked(msgspec.Struct, Generic[Subject], frozen=True):
    """A recall without an answer. ``askings``: the latest ones, each with the number of its command
    and what was asked; ``first`` and ``sent``: when the first and the last of all were sent, on the
    monotonic clock.
    """

    askings: tuple[tuple[str, Subject], ...]
    first: float
    sent: float

    @property
    def latest(self) -> Subject:
        """What was asked last."""
        return self.askings[-1][1]

    def waits(self, now: float) -> bool:
        """Whether it is too early to ask again."""
        timeout = RECALL_TIMEOUT_SECONDS * 2.0 ** (len(self.askings) - 1)
        return now - self.sent < min(timeout, MAX_RECALL_TIMEOUT_SECONDS)

    def find(self, number: object) -> Subject | None:
        """What was asked under this number; None: nothing of which an answer counts."""
        return next((subject for known, subject in self.askings if known == number), None)


def ask(before: Asked[Subject] | None, number: str, subject: Subject, now: float) -> Asked[Subject]:
    """Ask under a new number. ``before``: the recall that this repeats."""
    if before is None:
        return Asked(((number, subject),), now, now)
    latest = (*before.askings, (number, subject))[-MAX_ASKINGS:]
    return Asked(latest, before.first, now)
