"""``make world``: runs worlds by seed, shows one of them, and makes a failing one small."""

from __future__ import annotations

import argparse
import faulthandler
import logging
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from typing import NamedTuple

from common.log import structlog
from tests.world.parts import refusal
from tests.world.run import Plan, plan, run
from tests.world.shrink import shrink
from tests.world.wheels.kinds import KINDS

BATCH_SEEDS = 64
"""Worlds after which the processes are replaced."""
STANDSTILL_SECONDS = 900.0
"""A world that takes longer waits for itself: a soak shows where, and ends."""
FINDING_CHARACTERS = 300
"""So much of a finding is printed."""


class Result(NamedTuple):
    """What a soak wants to know of a run. ``hours``: of tables; ``seconds``: of CPU."""

    seed: int
    hours: float
    faults: int
    seconds: float
    finding: str | None


def main() -> int:
    """Returns 1 if something was found."""
    parser = argparse.ArgumentParser(prog="make world", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this seed and print its trace")
    parser.add_argument("--from", type=int, default=1, dest="first", help="the first seed")
    parser.add_argument("--seeds", type=int, default=50, help="how many seeds")
    parser.add_argument("--total", type=float, help="table-hours to run, instead of --seeds")
    parser.add_argument("--hours", type=float, default=1.0, help="hours of one world")
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--faults", type=int, default=200, help="faults of one world")
    parser.add_argument("--pace", type=float, default=4.0, help="see Plan.pace")
    parser.add_argument("--wheel", default="", choices=("", *KINDS), help="of all tables")
    parser.add_argument("--pair", action="store_true", help="two daemons with one lease")
    parser.add_argument("--parts", default="", help="who takes part: names with commas between")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    if (why := refusal(_parts(chosen))) is not None:
        parser.error(f"--parts: {why}")
    be_quiet()
    if chosen.seed is not None:
        return _replay(_plan(chosen, chosen.seed))
    return _soak(chosen)


def _plan(chosen: argparse.Namespace, seed: int) -> Plan:
    return plan(
        seed,
        chosen.hours,
        chosen.tables,
        chosen.faults,
        chosen.pace,
        pair=chosen.pair,
        parts=_parts(chosen),
        wheel=chosen.wheel,
    )


def _parts(chosen: argparse.Namespace) -> tuple[str, ...]:
    return tuple(filter(None, chosen.parts.split(",")))


def _replay(of: Plan) -> int:
    outcome = run(of)
    print(*outcome.trace, sep="\n")
    if outcome.finding is None:
        return 0
    small = shrink(of)
    print(f"FOUND      {outcome.finding}")
    print(f"smallest   {small.hours:g} h, {small.tables} tables, {len(small.faults)} faults:")
    for fault in small.faults:
        print(f"           {fault}")
    return 1


def _soak(chosen: argparse.Namespace) -> int:
    """Run one seed after another, also after findings."""
    began = time.monotonic()
    results: list[Result] = []
    plans = (_plan(chosen, seed) for seed in count(chosen.first))
    while (size := _next_batch(chosen, results)) > 0:
        # new processes for each batch: no world is freed, since that would run the ends of killed
        # programs in the midst of another one
        with ProcessPoolExecutor(chosen.jobs, initializer=be_quiet) as pool:
            for result in pool.map(_result, islice(plans, size)):
                results.append(result)
                if result.finding is not None:
                    print(f"seed {result.seed}: {result.finding}", flush=True)
    hours = sum(result.hours for result in results)
    seconds = sum(result.seconds for result in results)
    findings = sum(result.finding is not None for result in results)
    print(
        f"seeds {chosen.first} to {results[-1].seed}: {hours:.1f} table-hours, "
        f"{sum(result.faults for result in results)} faults, {findings} findings; "
        f"{seconds:.0f} s of CPU, {hours / seconds:.2f} table-hours a second; "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if findings else 0


def _next_batch(chosen: argparse.Namespace, results: list[Result]) -> int:
    """Return how many seeds to run next; 0 for none."""
    if chosen.total is not None:
        return BATCH_SEEDS if sum(result.hours for result in results) < chosen.total else 0
    seeds: int = chosen.seeds
    return min(BATCH_SEEDS, seeds - len(results))


def _result(of: Plan) -> Result:
    began = time.process_time()
    faulthandler.dump_traceback_later(STANDSTILL_SECONDS, exit=True)
    outcome = run(of)
    faulthandler.cancel_dump_traceback_later()
    seconds = time.process_time() - began
    finding = outcome.finding and outcome.finding[:FINDING_CHARACTERS]
    return Result(of.seed, of.hours * outcome.tables, len(of.faults), seconds, finding)


def be_quiet() -> None:
    """Log nothing."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


if __name__ == "__main__":
    sys.exit(main())
