"""Which replies to a recall count, and when it is sent again."""

from __future__ import annotations

from itertools import pairwise

from subscribers.feed.pending_recall import (
    MAX_OPEN_ATTEMPTS,
    MAX_RECALL_TIMEOUT_SECONDS,
    RECALL_TIMEOUT_SECONDS,
    PendingRecall,
    record_attempt,
)


def test_a_reply_to_any_of_the_latest_attempts_counts() -> None:
    recall: PendingRecall[int] | None = None
    for number in range(MAX_OPEN_ATTEMPTS + 3):
        recall = record_attempt(recall, f"n{number}", number, float(number))
    assert recall is not None
    assert recall.latest_subject == MAX_OPEN_ATTEMPTS + 2
    assert [recall.subject_of(f"n{number}") for number in range(5)] == [None, None, None, 3, 4]
    assert recall.subject_of(None) is None
    assert (recall.first_sent, recall.last_sent) == (0.0, MAX_OPEN_ATTEMPTS + 2.0)


def test_each_attempt_doubles_the_timeout_up_to_a_bound() -> None:
    recall = record_attempt(None, "n", "subject", 0.0)
    sent, now = [0.0], 0.0
    while len(sent) < 2 * MAX_OPEN_ATTEMPTS:
        now += 0.25
        if not recall.is_waiting(now):
            recall = record_attempt(recall, f"n{now}", "subject", now)
            sent.append(now)
    waits = [later - earlier for earlier, later in pairwise(sent)]
    assert waits[:3] == [RECALL_TIMEOUT_SECONDS * factor for factor in (1, 2, 4)]
    assert waits[-1] == MAX_RECALL_TIMEOUT_SECONDS == max(waits)
