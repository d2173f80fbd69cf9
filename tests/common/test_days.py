"""Gaming days over the two nights of a year when clocks change."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from common.days import bounds, day_of, on_wire

ZONES = ("Europe/Madrid", "Atlantic/Canary")
CHANGES = [date(year, month, day) for year, month, day in ((2026, 3, 29), (2026, 10, 25))]
NIGHTS = st.sampled_from([*CHANGES, date(2027, 3, 28), date(2027, 10, 31), date(2026, 7, 1)])
BEGINS = st.times(max_value=time(3, 59)).map(lambda each: each.replace(second=0, microsecond=0))


@pytest.fixture(scope="module", params=ZONES)
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """Set the machine's time zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    clock.tzset()
    yield request.param
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    clock.tzset()


@given(NIGHTS, BEGINS, st.integers(-48 * 3600, 48 * 3600))
@example(date(2026, 3, 29), time(2, 30), 30 * 60)
@example(date(2026, 10, 25), time(2, 30), 75 * 60)
def test_each_moment_belongs_to_one_day(zone: str, night: date, begins: time, seconds: int) -> None:
    moment = datetime.combine(night, time(0), UTC) + timedelta(seconds=seconds)
    day = day_of(moment, begins)
    begin, end = bounds(day, begins)
    assert begin <= moment < end, zone
    about = [day + timedelta(days=each) for each in range(-2, 3)]
    within = [each for each in about if bounds(each, begins)[0] <= moment < bounds(each, begins)[1]]
    assert within == [day]
    for each, following in pairwise(about):
        assert bounds(each, begins)[1] == bounds(following, begins)[0]
        assert on_wire(bounds(each, begins)[1]) == on_wire(bounds(following, begins)[0])


def test_when_the_days_begin_in_those_nights(zone: str) -> None:
    changing = {"Europe/Madrid": time(2, 30), "Atlantic/Canary": time(1, 30)}[zone]
    begins = [bounds(day, changing)[0].astimezone(UTC) for day in CHANGES]
    # an hour later by the clock in spring; the first of two in autumn
    assert [each.strftime("%d %H:%M") for each in begins] == ["29 01:30", "25 00:30"]
