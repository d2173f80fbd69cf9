"""One of two machines serves wherever one could, within two leases."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from tests.world.faults import Happening
from tests.world.pair import TAKEOVER_SECONDS
from tests.world.pair_faults import PAIR_FAULTS
from tests.world.run import Plan, run

FAULT_AT = 31.0


@pytest.mark.parametrize("kind", PAIR_FAULTS)
def test_the_machine_that_could_serve_has_the_tables_within_two_leases(kind: str) -> None:
    fault = Happening(FAULT_AT, FAULT_AT + 40.0, kind, 2)
    outcome = run(Plan(3, hours=0.01, tables=1, pair=True, faults=(fault,)))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])
    assert outcome.takeovers
    assert max(takeover.seconds for takeover in outcome.takeovers) <= TAKEOVER_SECONDS


def test_a_daemon_that_waits_in_calm_could_always_serve() -> None:
    """Its connection to the broker has a short keepalive, and is kept all the same."""
    with capture_logs() as logged:
        run(Plan(1, hours=0.01, tables=1, pair=True))
    assert "this daemon could serve" in [line["event"] for line in logged]
    assert "this daemon could not serve" not in [line["event"] for line in logged]
