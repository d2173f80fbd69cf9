"""Output of a run of tests for its caller: each failure with its text, each test's cost."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

FAILURES = "NOVAMAS_TEST_FAILURES"
"""Environment: the file that gets each failed test, as a JSON line."""
SECONDS = "NOVAMAS_TEST_SECONDS"
"""Environment: the folder in which each test process writes the costs of its tests."""

_asked_for: dict[str, str] = {}
"""Values of these in the environment when the first test began."""


class Failure(msgspec.Struct, frozen=True):
    """A test that failed in its set-up, its call or its end, and the text pytest has for it."""

    test: str
    text: str


class Cost(msgspec.Struct, frozen=True):
    """Processor seconds of a test and of the programs that ended with it, and elapsed seconds."""

    test: str
    processor: float
    elapsed: float


def append(path: Path, line: msgspec.Struct) -> None:
    """Append a JSON line."""
    with path.open("ab") as file:
        file.write(msgspec.json.encode(line) + b"\n")


def read_failures(path: Path) -> list[Failure]:
    """Read the failures of a run: the first of each test."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    first: dict[str, Failure] = {}
    for line in lines:
        failure = msgspec.json.decode(line, type=Failure)
        first.setdefault(failure.test, failure)
    return list(first.values())


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that failed."""
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a module that could not be imported."""
    _note(report)


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Write a failure; where workers share the tests, only the main process does."""
    path = _asked_for.get(FAILURES) or os.environ.get(FAILURES)
    if path and report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        text = "\n".join(
            [report.longreprtext, *(f"{name}\n{body}" for name, body in report.sections)]
        )
        append(Path(path), Failure(report.nodeid, text))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Record the cost of a test. A test that runs pytest itself does not report to the caller of
    this run: its intended failures are not counted.
    """
    for name in (FAILURES, SECONDS):
        if value := os.environ.pop(name, None):
            _asked_for[name] = value
    folder = _asked_for.get(SECONDS)
    begin, begun = _processor_seconds() if folder else 0.0, time.monotonic()
    try:
        return (yield)
    finally:
        if folder:
            elapsed = time.monotonic() - begun
            cost = Cost(item.nodeid, _processor_seconds() - begin, elapsed)
            append(Path(folder) / f"{os.getpid()}.jsonl", cost)


def _processor_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)
