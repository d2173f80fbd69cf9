"""A recall that a table has not answered yet: which replies count, and when to send it again.

A daemon with many tables may need longer than the first timeout, and a repeated recall is queued
behind the earlier ones. So a reply to any of the latest attempts counts, and the timeout doubles
with each attempt. Pure: the caller owns the clock and the connection.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

RECALL_TIMEOUT_SECONDS = 3.0
"""Time to wait for a reply to the first attempt."""
MAX_RECALL_TIMEOUT_SECONDS = 60.0
"""Upper bound of the doubling timeout."""
MAX_OPEN_ATTEMPTS = 8
"""Number of latest attempts to which a reply still counts."""

Subject = TypeVar("Subject")


class PendingRecall(msgspec.Struct, Generic[Subject], frozen=True):
    """A recall without a reply.

    ``attempts``: the latest ones, each with the id of its command and what was requested.
    ``first_sent`` and ``last_sent``: monotonic time of the first and the latest of all attempts.
    """

    attempts: tuple[tuple[str, Subject], ...]
    first_sent: float
    last_sent: float

    @property
    def latest_subject(self) -> Subject:
        """The subject of the latest attempt."""
        return self.attempts[-1][1]

    def is_waiting(self, now: float) -> bool:
        """Return whether it is too early to send it again."""
        timeout = RECALL_TIMEOUT_SECONDS * 2.0 ** (len(self.attempts) - 1)
        return now - self.last_sent < min(timeout, MAX_RECALL_TIMEOUT_SECONDS)

    def subject_of(self, number: object) -> Subject | None:
        """Return the subject of the attempt with this id; None if no reply to it counts."""
        return next(
            (subject for attempt_id, subject in self.attempts if attempt_id == number), None
        )


def record_attempt(
    before: PendingRecall[Subject] | None, number: str, subject: Subject, now: float
) -> PendingRecall[Subject]:
    """Add an attempt with the id ``number``. ``before``: the recall that this one repeats."""
    if before is None:
        return PendingRecall(((number, subject),), now, now)
    attempts = (*before.attempts, (number, subject))[-MAX_OPEN_ATTEMPTS:]
    return PendingRecall(attempts, before.first_sent, now)
