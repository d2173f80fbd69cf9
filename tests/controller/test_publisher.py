"""How soon the publisher tries again. What it publishes is tested with a real broker, in tests/daemon and tests/chaos."""

from __future__ import annotations

from controller.publisher import LONGEST, LONGEST_REFUSED, SHORTEST, SHORTEST_REFUSED, next_pause


def pauses(lasted: float, *, in_vain: bool) -> list[float]:
    found = [0.0]
    for _ in range(12):
        found.append(next_pause(found[-1], lasted, in_vain=in_vain))
    return found[1:]


def test_the_first_attempt_comes_soon_and_each_failure_doubles_the_pause() -> None:
    assert pauses(0.0, in_vain=False)[:4] == [SHORTEST, 2 * SHORTEST, 4 * SHORTEST, 8 * SHORTEST]
    assert pauses(0.0, in_vain=False)[-1] == LONGEST
    assert (pauses(0.0, in_vain=True)[0], pauses(0.0, in_vain=True)[-1]) == (SHORTEST_REFUSED, LONGEST_REFUSED)


def test_a_connection_that_was_made_and_lost_at_once_is_no_success() -> None:
    assert pauses(1.0, in_vain=True)[-1] == LONGEST_REFUSED
    assert pauses(1.0, in_vain=False)[-1] == LONGEST


def test_one_that_lasted_is() -> None:
    assert next_pause(LONGEST, LONGEST + 1, in_vain=False) == SHORTEST
    assert next_pause(LONGEST_REFUSED, LONGEST_REFUSED + 1, in_vain=True) == SHORTEST_REFUSED
