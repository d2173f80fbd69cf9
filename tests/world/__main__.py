"""``make world``: runs worlds by seed, shows one of them, and makes a failing one small."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count

from common.log import structlog
from tests.world.run import Outcome, Plan, plan, run
from tests.world.shrink import shrink

BATCH_SEEDS = 64
"""Worlds that are handed to the processes at a time."""


def main() -> int:
    """Returns 1 if something was found."""
    parser = argparse.ArgumentParser(prog="make world", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this seed and print its trace")
    parser.add_argument("--from", type=int, default=1, dest="first", help="the first seed")
    parser.add_argument("--seeds", type=int, default=200, help="how many seeds")
    parser.add_argument("--total", type=float, help="table-hours to run, instead of --seeds")
    parser.add_argument("--hours", type=float, default=0.3, help="hours of one world")
    parser.add_argument("--tables", type=int, default=2)
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--pace", type=float, default=4.0, help="see Plan.pace")
    parser.add_argument("--pair", action="store_true", help="two daemons with one lease")
    parser.add_argument("--parts", default="", help="who takes part: names with commas between")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
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
        parts=tuple(filter(None, chosen.parts.split(","))),
    )


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
    began = time.monotonic()
    hours = faults = cpu = 0.0
    failed = []
    wanted = chosen.total or chosen.seeds * chosen.hours * chosen.tables
    seeds = count(chosen.first)
    with ProcessPoolExecutor(chosen.jobs, initializer=be_quiet) as pool:
        while hours < wanted - 1e-9:
            batch = [_plan(chosen, next(seeds)) for _ in range(BATCH_SEEDS)]
            left = round((wanted - hours) / (chosen.hours * chosen.tables))
            for outcome, seconds in pool.map(_timed, batch[: max(1, left)]):
                hours += outcome.plan.hours * outcome.plan.tables
                faults += len(outcome.plan.faults)
                cpu += seconds
                if outcome.finding is not None:
                    failed.append(outcome)
                    print(f"seed {outcome.plan.seed}: {outcome.finding[:300]}", flush=True)
    print(
        f"{hours:.0f} table-hours, {faults:.0f} faults, {len(failed)} findings; "
        f"{cpu:.0f} s of CPU, {hours / cpu:.2f} table-hours a second; "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if failed else 0


def order_sets(module: str = "tests.world") -> None:
    """Start this module again with the one order of sets that all runs of a seed have in common."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", module, *sys.argv[1:]])


def _timed(of: Plan) -> tuple[Outcome, float]:
    began = time.process_time()
    outcome = run(of)
    return outcome, time.process_time() - began


def be_quiet() -> None:
    """Log nothing."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


if __name__ == "__main__":
    order_sets()
    sys.exit(main())
