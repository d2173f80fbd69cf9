"""More daemons at one broker, by mistake."""

from __future__ import annotations

from tests.world.faults import Happening
from tests.world.run import Plan, run

TWIN = "second daemon of one name"


def test_two_daemons_of_one_name_are_reported_and_lose_nothing() -> None:
    """The broker says why it ends the connection of one when it accepts the other."""
    faults = (Happening(30.0, 120.0, TWIN, 95704606),)
    outcome = run(Plan(2, hours=0.05, tables=1, parts=("twin", "audit"), faults=faults))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
