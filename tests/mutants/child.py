"""Run tests in a forked process, with one mutant or with none, and record the outcome of
each test.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import hypothesis
import msgspec
import pytest
from hypothesis import Phase, is_hypothesis_test

from tests.mutants.apply import apply
from tests.mutants.table import ROOT, Mutant

RUN_TIMEOUT_SECONDS = 300
"""Seconds after which a run is aborted: a mutant under which nothing ends is not killed
by a test.
"""


class Ran(msgspec.Struct, frozen=True):
    """Outcomes of the tests. ``failed``: in the test itself, not in its set-up. ``broken``: no test
    was run.
    """

    failed: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    broken: str = ""


class Claims:
    """A pytest plugin that runs the wanted tests until each of the rules has one that failed; slow
    tests come last.
    """

    def __init__(self, wanted: dict[str, set[str]]) -> None:
        self.wanted = wanted
        self.failed: list[str] = []
        self.passed: list[str] = []
        self.open = set().union(*wanted.values())

    def pytest_collection(self) -> None:
        """The same examples each time, and no search for the smallest one."""
        hypothesis.settings.register_profile(
            "mutants",
            hypothesis.settings(),
            derandomize=True,
            database=None,
            phases=(Phase.explicit, Phase.generate),
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.wanted),
            key=lambda item: is_hypothesis_test(getattr(item, "obj", None)),
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip tests that can prove nothing more. Not in `pytest_runtest_protocol`: the test before
        it leaves its module open for it, and then one of another module cannot begin.
        """
        if not self.wanted[item.nodeid] & self.open:
            pytest.skip("its rules are proved")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "call":
            if report.failed:
                self.failed.append(item.nodeid)
                self.open -= self.wanted[item.nodeid]
            elif report.passed:
                self.passed.append(item.nodeid)
        return report


def run(mutant: Mutant | None, wanted: dict[str, set[str]]) -> Ran:
    """Run the tests, by id, each with the rules that it may prove. Only in a process that ends with
    it.
    """
    if mutant is not None:
        apply(mutant)
    claims = Claims(wanted)
    files = sorted({test.partition("::")[0] for test in wanted})
    quiet = [
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    status = pytest.main([*quiet, *files], plugins=[claims])
    if not claims.failed and not claims.passed:
        return Ran(broken=f"no test was run (pytest ended with {int(status)})")
    return Ran(tuple(claims.failed), tuple(claims.passed))


def fork(mutant: Mutant | None, wanted: dict[str, set[str]], out: Path) -> int:
    """Start a run that writes its outcome to a file; return its process id."""
    child = os.fork()
    if child:
        return child
    signal.alarm(RUN_TIMEOUT_SECONDS)
    os.chdir(ROOT)
    silence = os.open(out.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    status = 1
    try:
        out.write_bytes(msgspec.json.encode(run(mutant, wanted)))
        status = 0
    except BaseException as error:  # never continue in a second copy of the parent
        sys.stdout.write(repr(error))
        sys.stdout.flush()
    finally:
        os._exit(status)
