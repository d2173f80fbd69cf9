"""``python -m tests.rings``: run the rings of tests that need more than one run of pytest.

``pure`` runs what starts no program and takes no time; ``real`` runs the chosen tests with real
parts; ``rest`` runs what ``make check`` and ``make test``
leave out, and each failed test again, alone; ``steady`` runs the chosen tests many times beside
busy loops; ``measure`` writes ``seconds.tsv`` again.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from tests.rings.marks import TABLE, Seconds, function_id
from tests.rings.outcomes import FAILURES, SECONDS, Cost, Failure, read_failures
from tests.support.programs import running

ROOT = Path(__file__).parents[2]
PURE = ("-m", "not process and not slow", "--numprocesses", "4", "--dist", "worksteal")
REAL = ("-m", "essential", "--numprocesses", "4", "--dist", "loadscope")
REST = ("-m", "(process or slow) and not essential", "--dist", "loadscope")
REST_WORKERS = 8
"""Four for each of two processors: most of these tests wait most of the time."""
# Worlds are shared by the tests of a module; modules begin in the order of `marks.in_order`.
IN_ORDER = "--no-loadscope-reorder"
RERUNS_PER_FAILURE = 2
MAX_RERUN_TESTS = 12
"""More failures than this are a defect of the change, and are not run again."""
BUSY_LOOPS = 8
LISTED_SECONDS, MIN_WAIT_SECONDS = 0.1, 1.0
"""Tests that are cheaper and wait less are not in the table."""
PASSED, FAILED, NO_TESTS = 0, 1, 5


def modules_of_the_chosen() -> list[str]:
    """The modules that have chosen tests: no other needs to be collected for them."""
    found = (ROOT / "tests").rglob("test_*.py")
    return sorted(
        str(path.relative_to(ROOT)) for path in found if "mark.essential" in path.read_text()
    )


def run_pytest(arguments: Sequence[str]) -> tuple[int, list[Failure]]:
    """Run pytest in a separate process; return its exit status and failures."""
    with tempfile.TemporaryDirectory() as folder:
        failures = Path(folder) / "failures.jsonl"
        status = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=ROOT,
            env=os.environ | {FAILURES: str(failures)},
            check=False,
        ).returncode
        return status, read_failures(failures)


def run_pure(arguments: Sequence[str]) -> int:
    """Run the tests of ``make check``."""
    return status_of(run_pytest([*PURE, *arguments])[0], arguments)


def run_real(arguments: Sequence[str]) -> int:
    """Run the chosen tests."""
    chosen = run_pytest([*REAL, IN_ORDER, *modules_of_the_chosen(), *arguments])
    return status_of(chosen[0], arguments)


def status_of(status: int, arguments: Sequence[str]) -> int:
    """Return the exit status of a ring; selecting no test of it is no failure."""
    return PASSED if arguments and status == NO_TESTS else status


def run_rest(arguments: Sequence[str]) -> int:
    """Run the tests that the other rings leave out. A failed test is run again alone; if it passes
    each time, the run passes, and the test is listed at the end with its output of the failure.
    """
    workers = f"--numprocesses={REST_WORKERS}"
    status, failures = run_pytest([*REST, IN_ORDER, workers, *arguments])
    if status != FAILED or not 0 < len(failures) <= MAX_RERUN_TESTS:
        return status_of(status, arguments)
    again = {
        failure.test: [run_pytest([failure.test])[0] for _ in range(RERUNS_PER_FAILURE)]
        for failure in failures
    }
    by_chance = [each for each in failures if set(again[each.test]) == {PASSED}]
    for failure in by_chance:
        print(f"\n===== {failure.test}\n{failure.text}")
    if by_chance:
        print(f"\npassed only when run again (find the cause of each): {len(by_chance)}")
        print("\n".join(f"  {failure.test}" for failure in by_chance))
    failed = [each.test for each in failures if each not in by_chance]
    if failed:
        print(f"\nfailed again: {len(failed)}")
        print("\n".join(f"  {test}" for test in failed))
    return FAILED if failed else PASSED


@contextmanager
def busy_loops(number: int) -> Iterator[None]:
    """Keep the processors busy meanwhile."""
    with ExitStack() as ending:
        for _ in range(number):
            ending.enter_context(running([sys.executable, "-c", "while True: pass"]))
        yield


def run_steady(times: int, arguments: Sequence[str]) -> int:
    """Run the chosen tests ``times`` times beside busy loops, and count what fails."""
    failed: Counter[str] = Counter()
    bad = 0
    with busy_loops(BUSY_LOOPS):
        for turn in range(1, times + 1):
            status, failures = run_pytest([*REAL, IN_ORDER, *modules_of_the_chosen(), *arguments])
            bad += status != PASSED
            failed.update(failure.test for failure in failures)
            for failure in failures:
                print(f"\n===== run {turn}: {failure.test}\n{failure.text}")
            print(f"run {turn} of {times}: {len(failures)} failed", flush=True)
    for test, count in failed.most_common():
        print(f"failed in {count} of {times}: {test}")
    print(f"{bad} of {times} runs failed")
    return FAILED if bad else PASSED


def measure(arguments: Sequence[str]) -> int:
    """Run every test, one after another, and write the table of the costly ones."""
    with tempfile.TemporaryDirectory() as folder:
        status = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=ROOT,
            env=os.environ | {SECONDS: folder},
            check=False,
        ).returncode
        costs = [
            msgspec.json.decode(line, type=Cost)
            for path in Path(folder).iterdir()
            for line in path.read_bytes().splitlines()
        ]
    write_table(costs)
    return status


def write_table(costs: Sequence[Cost]) -> None:
    """Write the table: the costliest case of each test function, the costliest first."""
    table: dict[str, Seconds] = {}
    for cost in costs:
        name = function_id(cost.test)
        known = table.get(name, Seconds(0.0, 0.0))
        table[name] = Seconds(
            max(known.processor, cost.processor), max(known.elapsed, cost.elapsed)
        )
    with TABLE.open("w", newline="") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        for name, seconds in sorted(table.items(), key=lambda row: (-row[1].processor, row[0])):
            waits = seconds.elapsed >= max(MIN_WAIT_SECONDS, 2 * seconds.processor)
            if seconds.processor >= LISTED_SECONDS or waits:
                elapsed = [f"{seconds.elapsed:.1f}"] if waits else []
                rows.writerow([f"{seconds.processor:.2f}", name, *elapsed])


def main() -> int:
    """Run the ring that the command line names. Other arguments go to pytest."""
    parser = argparse.ArgumentParser(prog="python -m tests.rings", description=__doc__)
    parser.add_argument("what", choices=["pure", "real", "rest", "steady", "measure"])
    parser.add_argument("-N", "--times", type=int, default=20, help="runs of steady (default: 20)")
    asked, arguments = parser.parse_known_args()
    match asked.what:
        case "pure":
            return run_pure(arguments)
        case "real":
            return run_real(arguments)
        case "rest":
            return run_rest(arguments)
        case "steady":
            return run_steady(asked.times, arguments)
        case _:
            return measure(arguments)


if __name__ == "__main__":
    sys.exit(main())
