"""The file of recorded runs, and its differences from this checkout.

Its first line names the form of the file, each other line is one run.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from common.contract.notation import read_input
from tests.steps.renames import given_now
from tests.steps.runs import Run, Step, digest, outputs, recorded

FORM = 2
"""The content that a digest covers. Increase it with every change of that. 1 had no such number,
and did not cover the kind of refusal.
"""


class Head(msgspec.Struct, frozen=True):
    """The first line of the file."""

    form: int = 1


class FormError(Exception):
    """A recording whose digests cover other content than those of this checkout."""


class Recorded(msgspec.Struct, frozen=True):
    """One line of the file: a run with all its steps."""

    run: Run
    steps: list[Step]


class Difference(NamedTuple):
    """The first step of a run that differs from the recording."""

    run: Run
    step: int
    given: str
    output: Any


def record(run: Run) -> Recorded:
    """Play one run."""
    return Recorded(run, list(recorded(run)))


def difference(line: Recorded) -> Difference | None:
    """Play one run again."""
    inputs = (
        read_input(msgspec.json.encode(given_now(msgspec.json.decode(step.given))))
        for step in line.steps
    )
    played = zip(line.steps, outputs(line.run, inputs), strict=True)
    for number, (step, output) in enumerate(played):
        if digest(output) != step.digest:
            return Difference(line.run, number, bytes(step.given).decode(), output)
    return None


def write(path: Path, recording: Iterable[Recorded]) -> int:
    """Write all runs and return the number of their steps."""
    count = 0
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(msgspec.json.encode(Head(FORM)) + b"\n")
        for line in recording:
            file.write(msgspec.json.encode(line) + b"\n")
            count += len(line.steps)
    return count


def check_form(path: Path) -> None:
    """Raise :class:`FormError` unless this checkout can compare the file."""
    with gzip.open(path, "rb") as file:
        form = msgspec.json.decode(next(file, b"{}"), type=Head).form
    if form != FORM:
        raise FormError(
            f"{path} has form {form}, this checkout compares form {FORM}: the recorded commit"
            " is from before or after a change of tests/steps; choose another BASE"
            f" whose tests/steps/recording.py has FORM = {FORM}"
        )


def lines(path: Path) -> Iterator[Recorded]:
    """The recorded runs."""
    with gzip.open(path, "rb") as file:
        next(file)  # the form
        for line in file:
            yield msgspec.json.decode(line, type=Recorded)
