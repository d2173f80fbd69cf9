"""The file of recorded runs, one run a line, and what of it differs now."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.contract.notation import read_input
from tests.steps.renames import given_now
from tests.steps.runs import Run, Step, digest, recorded, said


class Recorded(msgspec.Struct, frozen=True):
    """One line of the file: a run with all its steps."""

    run: Run
    steps: list[Step]


class Difference(NamedTuple):
    """The first step of a run that is not what it was."""

    run: Run
    step: int
    given: str
    told: Any


def record(run: Run) -> Recorded:
    """Play one run."""
    return Recorded(run, list(recorded(run)))


def difference(line: Recorded) -> Difference | None:
    """Play one run again."""
    inputs = (
        read_input(msgspec.json.encode(given_now(msgspec.json.decode(step.given))))
        for step in line.steps
    )
    for number, (step, told) in enumerate(zip(line.steps, said(line.run, inputs), strict=True)):
        if digest(told) != step.digest:
            return Difference(line.run, number, bytes(step.given).decode(), told)
    return None


def lines(path: Path) -> Iterator[Recorded]:
    """What was recorded, run by run."""
    with gzip.open(path, "rb") as file:
        for line in file:
            yield msgspec.json.decode(line, type=Recorded)
