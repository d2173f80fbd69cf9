"""Second witnesses in a world: what they do, and that the checkers find what they are for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

import tests.world.world
from tests.world.bodies import decoded
from tests.world.broker.packets import Publish
from tests.world.checkers import Checker
from tests.world.parts import PARTS
from tests.world.run import Plan, plan, plan_of, run
from tests.world.witnesses import defects, part
from tests.world.witnesses.checkers import Counted
from tests.world.witnesses.eye import Eye
from tests.world.world import World

MAX_SEEDS = 40
OWN = (
    "witness silent",
    "witness late",
    "witness wrong",
    "witness reports twice",
    "witness repeats an old report",
    "witness is retained",
)
DEFECTS: dict[Callable[[pytest.MonkeyPatch], None], str] = {
    defects.witness_gives_results: "a witness has changed the game",
    defects.disagreement_is_ignored: "a result that is contradicted",
    defects.silence_contradicts: "a round is left to a person, and no witness contradicts",
    defects.report_counts_at_once: "a round is left to a person, and no witness contradicts",
    defects.own_numbers_are_ignored: "a report counts for two rounds",
    defects.repeated_report_counts_twice: "a report is noted twice",
}
"""What is planted, and how its finding begins."""


def plan_of_seed(seed: int, wheel: str = "cammegh-ss2") -> Plan:
    drawn = plan(seed, 0.25, 1, 15, 4.0, parts=("witnesses",), wheel=wheel)
    return plan_of(drawn, OWN)


@pytest.mark.parametrize("plant", DEFECTS, ids=lambda plant: plant.__name__)
def test_a_planted_defect_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    findings = (run(plan_of_seed(seed)).finding or "" for seed in range(1, MAX_SEEDS + 1))
    assert any(finding.startswith(DEFECTS[plant]) for finding in findings)


@pytest.mark.parametrize("seed", range(1, 9))
def test_seed(seed: int) -> None:
    """Faults of all kinds, with all kinds of wheels."""
    outcome = run(plan(seed, 0.1, 2, 12, 4.0, parts=("witnesses", "audit")))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


@pytest.mark.parametrize("seed", [103, 115])
def test_an_old_report_never_counts_for_another_round(seed: int) -> None:
    """The camera repeats the report of the round before the last one."""
    outcome = run(plan(seed, 0.3, 2, 25, 4.0, parts=("witnesses",)))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def test_a_report_after_a_suspension_is_of_no_round_that_ended_before() -> None:
    """Clocks stop in a suspension: the sensor reports a spin that only it has seen."""
    outcome = run(plan(139, 0.3, 2, 25, 4.0, parts=("witnesses",)))
    assert outcome.finding is None, "\n".join(outcome.trace[-50:])


def test_all_that_witnesses_do_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checkers have something to look at."""
    counted: list[Counted] = []

    class Remembered(Counted):
        def __init__(self) -> None:
            super().__init__()
            counted.append(self)

    monkeypatch.setattr(part, "Counted", Remembered)
    for seed in range(1, 4):
        assert run(plan_of_seed(seed)).finding is None
    noted = {kind for each in counted for kind, count in each.counts.items() if count}
    assert noted >= {"agrees", "silent", "agrees later", "disagrees later", "asks"}


class _Results(Checker):
    """Collects the results that were published first, with their times."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], tuple[Any, str]] = {}

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if message.topic.endswith("/event") and b'"round.result"' in message.payload[:30]:
            body = decoded(message.payload)
            result = body["outcome"]["number"], body["time"]
            self.found.setdefault((body["table"], body["round"]), result)


class _Even(Random):
    """Draws no delays: work takes its mean time, so that more work changes no later one."""

    def uniform(self, a: float, b: float) -> float:
        """Return the mean."""
        return (a + b) / 2


@contextmanager
def results(patch: pytest.MonkeyPatch, **attributes: Any) -> Iterator[_Results]:
    """Collect the results of a world whose witnesses have these attributes."""
    found = _Results()
    make = Eye.__init__

    def made(eye: Eye, *arguments: Any) -> None:
        make(eye, *arguments)
        vars(eye).update(attributes)

    def join(world: World) -> None:
        world.checkers.append(found)

    with patch.context() as patched:
        patched.setattr(tests.world.world, "Random", _Even)
        patched.setattr(Eye, "__init__", made)
        patched.setitem(PARTS, "results", join)
        yield found


@pytest.mark.parametrize("wheel", sorted(part.ABLE))
def test_a_silent_witness_delays_no_result(wheel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The results of a seed come at the same virtual moment, whatever its witnesses do."""
    quiet = replace(plan_of_seed(6, wheel), faults=(), parts=("results",))
    with results(monkeypatch) as alone:
        assert run(quiet).finding is None
    assert len(alone.found) > 5, "hardly anything happened"
    for attributes in ({"blind": True}, {}, {"late_seconds": 36.0}, {"repeated_reports": 99}):
        with results(monkeypatch, **attributes) as beside:
            assert run(replace(quiet, parts=("results", "witnesses"))).finding is None
        assert beside.found == alone.found, attributes
