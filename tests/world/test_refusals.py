"""A broker that refuses messages for a while: what it refused is delivered afterwards."""

from __future__ import annotations

from tests.world.faults import Happening
from tests.world.run import Plan, run


def test_what_a_broker_refused_for_a_while_is_delivered_afterwards() -> None:
    refusals = tuple(Happening(at, at + 12.0, "broker refuses", 0) for at in range(60, 300, 60))
    outcome = run(Plan(5, hours=0.1, tables=1, faults=refusals))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
