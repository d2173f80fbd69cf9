"""Which table is next: in turn, one request at a time, paused after a failure."""

from __future__ import annotations

from subscribers.webhooks.lanes import MAX_RETRY_SECONDS, POLL_SECONDS, SendingLanes


class Now:
    """Monotonic time that passes when it is read."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        self.at += POLL_SECONDS / 2
        return self.at


def test_the_tables_take_turns_and_none_is_sent_twice_at_a_time() -> None:
    lanes = SendingLanes(Now())
    lanes.add(["a", "b"])
    assert [lanes.take(), lanes.take(), lanes.take()] == ["a", "b", None]
    lanes.add(["a"])
    assert lanes.take() is None
    lanes.done("b", more=True)
    lanes.done("a", more=True)
    assert [lanes.take(), lanes.take()] == ["a", "b"]
    lanes.done("a", more=False)
    lanes.done("b", more=False)
    assert lanes.take() is None


def test_what_came_while_a_table_was_found_empty_is_not_forgotten() -> None:
    lanes = SendingLanes(Now())
    lanes.add(["a"])
    assert lanes.take() == "a"
    lanes.add(["a"])
    lanes.done("a", more=False)
    assert lanes.take() == "a"


def test_a_failure_pauses_its_table_longer_each_time_or_all_of_them() -> None:
    now = Now()
    lanes = SendingLanes(now)
    lanes.add(["a", "b"])
    delays = []
    for _ in range(12):
        now.at += MAX_RETRY_SECONDS
        assert lanes.take() == "a"
        delays.append(lanes.failed("a", everything=False, wait=None))
        assert lanes.take() == "b"
        lanes.done("b", more=True)
        lanes.add(["b"])
        now.at += MAX_RETRY_SECONDS
        lanes._ready = {"a": None, "b": None}
    assert delays[0] <= 1.0
    assert all(2**count * 0.75 <= delay <= 2**count for count, delay in enumerate(delays[:8]))
    assert max(delays) <= MAX_RETRY_SECONDS
    now.at += MAX_RETRY_SECONDS
    assert lanes.take() == "a"
    assert lanes.failed("a", everything=True, wait=60.0) == 60.0
    assert lanes.take() is None
    now.at += 60.0
    assert lanes.take() == "b"


def test_an_end_wakes_every_thread() -> None:
    lanes = SendingLanes()
    lanes.end()
    assert lanes.take() is None
    assert lanes.is_ended
