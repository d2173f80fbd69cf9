"""A failing world becomes small, and its trace is for a person."""

from __future__ import annotations

import pytest

from tests.world.faults import Happening
from tests.world.run import Plan, run
from tests.world.shrink import shrink
from tests.world.test_planted import will_is_not_cleared

QUIET = ("line split", "line doubled", "wall clock set", "line damaged")
LARGE = Plan(
    1,
    hours=0.05,
    tables=1,
    faults=(
        *(Happening(40.0 + at, 41.0 + at, name, at) for at, name in enumerate(QUIET)),
        Happening(60.0, 60.5, "broker down, forgets", 1),
    ),
)
"""Faults of which the last one alone shows the defect: the daemon connects again."""


def test_a_failing_world_becomes_small(monkeypatch: pytest.MonkeyPatch) -> None:
    will_is_not_cleared(monkeypatch)
    small = shrink(LARGE)
    assert small.faults == LARGE.faults[-1:]
    assert small.hours < LARGE.hours
    outcome = run(small)
    assert outcome.finding is not None
    assert outcome.finding.startswith("no daemon is online")
    times, marks, texts = zip(*(line.split(maxsplit=2) for line in outcome.trace), strict=True)
    assert list(times) == sorted(times)
    marked = [text.split()[0] for mark, text in zip(marks, texts, strict=True) if mark == ">>>"]
    # the broker of this seed permits no motion
    assert marked == ["REFUSED", "FAULT", "VIOLATED"]
    assert max(map(len, outcome.trace[:-1])) <= 200
