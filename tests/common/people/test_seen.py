"""Each signed command is followed once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.refusals import RejectedError
from common.people import seen as module
from common.people.seen import SeenCommands


def key(refused: pytest.ExceptionInfo[RejectedError]) -> str:
    assert refused.value.refusal is not None
    return refused.value.refusal.key


def test_once() -> None:
    seen = SeenCommands()
    seen.add("a", "1", issued=1000, until=1040, now=1000)
    seen.add("b", "1", issued=1000, until=1040, now=1000)
    seen.add("a", "2", issued=1000, until=1040, now=1000)
    with pytest.raises(RejectedError) as refused:
        seen.add("a", "1", issued=1000, until=1040, now=1039)
    assert key(refused) == "signed_already"


def test_expired_commands_are_dropped_and_never_valid_again() -> None:
    seen = SeenCommands()
    for number in range(1000):
        at = 1000.0 + number
        seen.add("a", str(number), issued=at, until=at + 40, now=at)
    assert len(seen) < 40 + 2 * module.GROUP_SECONDS
    with pytest.raises(RejectedError) as refused:  # the clock was set back
        seen.add("a", "0", issued=1000, until=1040, now=1000)
    assert key(refused) == "signed_already"


def test_commands_signed_before_the_start_are_unknown() -> None:
    seen = SeenCommands(since=1010.0)
    with pytest.raises(RejectedError) as refused:
        seen.add("a", "1", issued=1010, until=1050, now=1011)
    assert key(refused) == "signed_before_start"
    seen.add("a", "1", issued=1011, until=1050, now=1011)


def test_it_is_bounded_and_forgets_nothing_that_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COMMANDS", 10)
    seen = SeenCommands()
    for number in range(10):
        seen.add("a", str(number), issued=1000, until=1040, now=1000)
    with pytest.raises(RejectedError) as refused:
        seen.add("a", "10", issued=1000, until=1040, now=1000)
    assert key(refused) == "signed_too_many"
    with pytest.raises(RejectedError) as refused:
        seen.add("a", "0", issued=1000, until=1040, now=1000)
    assert key(refused) == "signed_already"
    seen.add("a", "10", issued=1200, until=1240, now=1200)
    assert len(seen) == 1


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(-30, 200)), max_size=60
    )
)
def test_nothing_is_accepted_twice_whatever_the_clock_does(
    said: list[tuple[str, int, int]],
) -> None:
    """``now`` jumps; a command's times are its own."""
    seen, taken = SeenCommands(), set()
    for person, jti, now in said:
        issued = 1000 + 10 * jti
        try:
            seen.add(person, str(jti), issued, issued + 40, 1000 + now)
        except RejectedError:
            continue
        assert (person, jti) not in taken
        taken.add((person, jti))


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(-30, 200), st.booleans()),
        max_size=60,
    )
)
def test_nothing_is_accepted_twice_however_often_it_restarts(
    said: list[tuple[str, int, int, bool]],
) -> None:
    """``now`` jumps, also from one run to the next; accepted commands are read back at
    each start.
    """
    seen, taken = SeenCommands(), dict[tuple[str, str], float]()
    for person, jti, now, again in said:
        if again:
            seen = SeenCommands()
            seen.restore(((*each, until) for each, until in taken.items()), 1000 + now)
        issued = 1000 + 10 * jti
        try:
            seen.add(person, str(jti), issued, issued + 40, 1000 + now)
        except RejectedError:
            continue
        assert (person, str(jti)) not in taken
        taken[person, str(jti)] = issued + 40


def test_restored_commands_count_and_no_others() -> None:
    seen = SeenCommands()
    seen.restore([("a", "1", 1100.0), ("a", "1", 1100.0), ("a", "0", 900.0)], now=1000)
    assert len(seen) == 1
    with pytest.raises(RejectedError) as refused:
        seen.add("a", "1", issued=1060, until=1100, now=1001)
    assert key(refused) == "signed_already"
    seen.add("a", "2", issued=1000, until=1100, now=1001)
    seen.add("b", "1", issued=1000, until=1100, now=1001)
