"""The recorder of steps finds what differs, and nothing where nothing does."""

from __future__ import annotations

from itertools import islice

import pytest
from msgspec.structs import replace

from tests.steps.recording import difference, record
from tests.steps.runs import STEPS, Run, runs

RUN = Run("random 0", "punto-banca", "ARA02", noise=0.1)


def test_a_run_is_the_same_each_time() -> None:
    line = record(RUN)
    assert len(line.steps) == STEPS
    assert record(RUN) == line
    assert difference(line) is None


def test_the_step_that_differs_is_named() -> None:
    line = record(RUN)
    steps = [*line.steps[:7], replace(line.steps[7], digest="0" * 16), *line.steps[8:]]
    found = difference(replace(line, steps=steps))
    assert found is not None
    assert found.step == 7


@pytest.mark.parametrize("kind", ["script", "recording"])
def test_what_is_written_down_is_played(kind: str) -> None:
    run = next(run for run in runs(0) if run.source.startswith(kind))
    assert record(run).steps
    assert difference(record(run)) is None


def test_every_pair_is_played() -> None:
    random = [run for run in runs(STEPS * 69) if run.source.startswith("random")]
    assert len({(run.game, run.decree) for run in random}) == 69
    assert [run.source for run in islice(random, 2)] == ["random 0", "random 0"]
