"""Trust in the wall clock: evidence in, verdict with its reason out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.proof import clocks, kernel_clock
from controller.proof.belief import (
    STEADY_SECONDS,
    Belief,
    BelievedTime,
    contradiction,
    update_belief,
)
from controller.proof.clocks import ClockReading, read_clocks, synchronised
from tests.controller.proof.world import DAY_SECONDS, NOON
from tests.support.for_each import for_each

HOUR_SECONDS = 3600.0


def now(wall: float, machine: float = 1000.0, synchronised: bool | None = False) -> ClockReading:
    return ClockReading(NOON + wall, machine, machine, synchronised)


def known(
    wall: float = 0.0, *, confirmed: bool = False, machine: float | None = None
) -> BelievedTime:
    return BelievedTime(NOON + wall, confirmed, machine)


@for_each(
    ("reading", "before", "doubted"),
    [
        pytest.param(
            ClockReading(30.0, 30.0, 30.0, None), None, "it says 1970-01-01", id="no battery"
        ),
        pytest.param(
            ClockReading(30.0, 30.0, 30.0, True),
            None,
            "it says 1970-01-01",
            id="1970, whoever confirms it",
        ),
        pytest.param(now(0), None, None, id="the first start of all"),
        pytest.param(now(HOUR_SECONDS), known(), None, id="a start after an hour"),
        pytest.param(
            now(-HOUR_SECONDS),
            known(),
            "the journal was written until",
            id="a start before the end of the last run",
        ),
        pytest.param(now(-30), known(), None, id="half a minute before: a clock that is not exact"),
        pytest.param(
            now(45 * DAY_SECONDS),
            known(),
            "nobody confirms the days between",
            id="a start after 45 days",
        ),
        pytest.param(
            now(45 * DAY_SECONDS, synchronised=None),
            known(),
            "nobody confirms",
            id="45 days, and the kernel does not say",
        ),
        pytest.param(
            now(45 * DAY_SECONDS, synchronised=True),
            known(confirmed=True),
            None,
            id="off for 45 days, and synchronised",
        ),
        pytest.param(
            now(-45 * DAY_SECONDS, synchronised=True),
            known(confirmed=True),
            "written until",
            id="two that are confirmed contradict",
        ),
        pytest.param(
            now(-45 * DAY_SECONDS, synchronised=True),
            known(),
            None,
            id="what nobody confirmed is no witness",
        ),
        pytest.param(now(60), known(machine=940.0), None, id="a minute later"),
        pytest.param(
            now(HOUR_SECONDS), known(machine=940.0), "was set by +3540 s", id="set forward in use"
        ),
        pytest.param(
            now(-HOUR_SECONDS), known(machine=940.0), "was set by -3660 s", id="set back in use"
        ),
        pytest.param(
            now(HOUR_SECONDS, synchronised=True),
            known(machine=940.0),
            None,
            id="set in use by who knows the time",
        ),
        pytest.param(
            now(HOUR_SECONDS, synchronised=True),
            known(confirmed=True, machine=940.0),
            "was set by",
            id="set in use though it was right",
        ),
        pytest.param(
            now(30 * DAY_SECONDS + 300, 1000 + 30 * DAY_SECONDS),
            known(machine=1000.0),
            None,
            id="a doubt of a month, and some drift",
        ),
    ],
)
def test_evidence_that_contradicts_a_clock(
    reading: ClockReading, before: BelievedTime | None, doubted: str | None
) -> None:
    found = contradiction(reading, before)
    assert (found is None) == (doubted is None), found
    assert (doubted or "") in (found or "")


def test_a_corrected_clock_is_trusted_at_once() -> None:
    belief = update_belief(Belief(), now(0, 0))
    assert belief.doubt is None
    for minute in range(1, 100):
        belief = update_belief(belief, now(45 * DAY_SECONDS + minute * 60, minute * 60))
        assert "was set by +3888000 s" in str(belief.doubt)
    assert update_belief(belief, now(6000, 6000)).doubt is None


def test_a_clock_that_runs_for_a_day_without_a_step_is_trusted() -> None:
    belief = update_belief(Belief(), now(0, 0))
    belief = update_belief(belief, now(45 * DAY_SECONDS, 60))
    assert (
        update_belief(belief, now(45 * DAY_SECONDS + STEADY_SECONDS - 60, STEADY_SECONDS)).doubt
        is not None
    )
    assert update_belief(
        belief, now(45 * DAY_SECONDS + STEADY_SECONDS, STEADY_SECONDS + 60)
    ) == Belief(known(45 * DAY_SECONDS + STEADY_SECONDS, machine=STEADY_SECONDS + 60))
    belief = update_belief(
        belief, now(44 * DAY_SECONDS, STEADY_SECONDS)
    )  # set once more: it has to start over
    assert (
        update_belief(belief, now(45 * DAY_SECONDS, STEADY_SECONDS + DAY_SECONDS - 1)).doubt
        is not None
    )
    stopped = update_belief(Belief(), ClockReading(0.0, 0.0, 0.0, None))
    assert (
        update_belief(
            stopped, ClockReading(STEADY_SECONDS * 9, STEADY_SECONDS * 9, STEADY_SECONDS * 9, None)
        ).doubt
        is not None
    )  # never in 1970


@given(
    st.lists(
        st.tuples(
            st.floats(0, 3 * DAY_SECONDS),
            st.sampled_from(
                [0, 0, 0, -45 * DAY_SECONDS, 45 * DAY_SECONDS, -HOUR_SECONDS, HOUR_SECONDS]
            ),
        ),
        max_size=30,
    )
)
def test_in_use_only_a_clock_without_steps_is_trusted(steps: list[tuple[float, float]]) -> None:
    """The last trusted time is the truth, unless a wrong clock ran for a day."""
    belief, passed, off, undisturbed = update_belief(Belief(), now(0, 0)), 0.0, 0.0, 0.0
    right = True
    for seconds, jump in steps:
        passed, off = passed + seconds, off + jump
        undisturbed = undisturbed + seconds if jump == 0 else 0.0
        belief = update_belief(belief, now(passed + off, passed))
        right = right and (off == 0 or undisturbed < STEADY_SECONDS)
        if right:
            assert (belief.doubt is None) == (off == 0)


def test_the_clocks_of_this_machine() -> None:
    first, second = read_clocks(), read_clocks()
    assert first.machine <= second.machine
    assert first.awake <= second.awake
    assert first.machine >= first.awake - 1
    assert synchronised() in (True, False, None)


@pytest.mark.parametrize(
    ("state", "said"), [(0, True), (1, True), (4, True), (5, False), (-1, None)]
)
def test_the_kernels_clock_status(
    monkeypatch: pytest.MonkeyPatch, state: int, said: bool | None
) -> None:
    class Kernel:
        def adjtimex(self, _timex: object) -> int:
            return state

    monkeypatch.setattr(kernel_clock, "_libc", Kernel)
    assert clocks.synchronised() is said
