"""Which answers to a recall count, and when it is sent again."""

from __future__ import annotations

from itertools import pairwise

from subscribers.asked import (
    MAX_ASKINGS,
    MAX_RECALL_TIMEOUT_SECONDS,
    RECALL_TIMEOUT_SECONDS,
    Asked,
    ask,
)


def test_an_answer_to_any_of_the_latest_askings_counts() -> None:
    asked: Asked[int] | None = None
    for number in range(MAX_ASKINGS + 3):
        asked = ask(asked, f"n{number}", number, float(number))
    assert asked is not None
    assert asked.latest == MAX_ASKINGS + 2
    assert [asked.find(f"n{number}") for number in range(5)] == [None, None, None, 3, 4]
    assert asked.find(None) is None
    assert (asked.first, asked.sent) == (0.0, MAX_ASKINGS + 2.0)


def test_each_further_asking_waits_twice_as_long_up_to_a_bound() -> None:
    asked = ask(None, "n", "what", 0.0)
    sent, now = [0.0], 0.0
    while len(sent) < 2 * MAX_ASKINGS:
        now += 0.25
        if not asked.waits(now):
            asked = ask(asked, f"n{now}", "what", now)
            sent.append(now)
    waits = [later - earlier for earlier, later in pairwise(sent)]
    assert waits[:3] == [RECALL_TIMEOUT_SECONDS * factor for factor in (1, 2, 4)]
    assert waits[-1] == MAX_RECALL_TIMEOUT_SECONDS == max(waits)
