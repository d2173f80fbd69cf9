"""Mark tests as ``process`` or ``slow``, and hold them to it.

``process``: the test uses the fixture ``programs``, itself or through another fixture. Without it a
test cannot start a program: the guard below raises in the call that tries to.
``slow``: ``seconds.tsv`` has more than ``SLOW_SECONDS`` of processor time for it, or for each of
its rows if it has a table of them.
"""

from __future__ import annotations

import csv
import functools
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.for_each import rows_of

TABLE = Path(__file__).with_name("seconds.tsv")
"""What each costly test function was measured to take, its costliest case."""
SLOW_SECONDS = 0.2
STARTS_PROGRAM = frozenset(
    {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system"}
)
"""Audit events of Python that precede the start of a program."""

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""All tests that were collected, before ``-m`` and ``-k`` leave some out."""

_unmarked: str | None = None
"""The running test, if it may not start programs."""


def function_id(node_id: str) -> str:
    """Return the id of a test function: a node id without its parameters."""
    return node_id.partition("[")[0]


class Seconds(NamedTuple):
    """Processor time, and elapsed time on a machine that does nothing else."""

    processor: float
    elapsed: float


@functools.cache
def seconds() -> dict[str, Seconds]:
    """Read the table: seconds by test function. The elapsed time is there where a test waits."""
    with TABLE.open(newline="") as lines:
        return {
            name: Seconds(float(processor), float(elapsed[0] if elapsed else processor))
            for processor, name, *elapsed in csv.reader(lines, delimiter="\t")
        }


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark each test that starts programs and each that is costly."""
    for item in items:
        if "programs" in getattr(item, "fixturenames", ()):
            item.add_marker("process")
        elif item.get_closest_marker("process"):
            continue
        elif is_slow(item.nodeid, getattr(item, "function", None)):
            item.add_marker("slow")


def is_slow(node_id: str, test: object) -> bool:
    """Return whether a test, or a row of its table, takes long."""
    row = seconds().get(function_id(node_id))
    return row is not None and row.processor / rows_of(test) > SLOW_SECONDS


def in_order(tests: Iterable[str], table: Mapping[str, Seconds]) -> list[str]:
    """Return the modules of tests in the order in which processes take one after another: the
    longest first, so that none of them begins last, and those that compute between those that
    mostly wait, so that both kinds end together. While all wait the processors are idle.
    """
    processor: defaultdict[str, float] = defaultdict(float)
    elapsed: defaultdict[str, float] = defaultdict(float)
    count: Counter[str] = Counter()
    for test in tests:
        module = test.partition("::")[0]
        count[module] += 1
        row = table.get(function_id(test), Seconds(0, 0))
        processor[module] += row.processor
        elapsed[module] += row.elapsed
    longest_first = sorted(count, key=lambda name: (-elapsed[name], -count[name], name))
    begins: dict[str, float] = {}  # by module: the share of its kind that is longer
    for waits in (True, False):
        kind = [name for name in longest_first if (2 * processor[name] < elapsed[name]) == waits]
        whole, longer = sum(elapsed[name] for name in kind), 0.0
        for name in kind:
            begins[name] = longer / whole if whole else 0.0
            longer += elapsed[name]
    return sorted(longest_first, key=begins.__getitem__)


# First of all, so that ``-m`` chooses by these marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests, and put their modules in order."""
    config.stash[COLLECTED] = list(items)
    mark(items)
    modules: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        modules[item.nodeid.partition("::")[0]].append(item)
    ordered = in_order((item.nodeid for item in items), seconds())
    items[:] = [item for name in ordered for item in modules[name]]


@pytest.fixture(scope="session")
def programs() -> None:
    """Allow a test to start programs: it is marked ``process``. What starts a program, a broker, a
    browser or a database for tests uses this fixture.
    """


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let only a test that is marked ``process`` start programs."""
    global _unmarked  # an audit hook knows nothing else, and is never removed
    _unmarked = None if item.get_closest_marker("process") else item.nodeid
    try:
        return (yield)
    finally:
        _unmarked = None


def _guard(event: str, arguments: tuple[object, ...]) -> None:
    if event in STARTS_PROGRAM and _unmarked is not None:
        message = (
            f"{_unmarked} starts a program ({event} {arguments[:1]}): use the fixture `programs`"
        )
        raise RuntimeError(message)


sys.addaudithook(_guard)
