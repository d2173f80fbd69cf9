"""How soon a machine of a pair has the tables when the one that served no longer can, or the ledger
of the jackpots (``--controllers``): faults of a pair, one after another with calm between, and how
long each takeover took.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from random import Random

from msgspec.structs import replace

from tests.world.__main__ import be_quiet
from tests.world.carrousel import pair as controllers
from tests.world.faults import Happening
from tests.world.pair import LEASE_SECONDS, LOOK_SECONDS
from tests.world.pair_faults import PAIR_FAULTS
from tests.world.run import Plan, run

FAULTS_OF_A_WORLD = 10
FIRST_SECONDS = 60.0
FAULT_SECONDS = 60.0
"""How long each fault lasts; a machine could have taken the tables several times."""
CALM_SECONDS = 60.0
"""Pause after each fault: the six leases for which a failed daemon counts as unable, and more."""


def plan(seed: int, of_controllers: bool = False) -> Plan:
    """Return the faults of one world: each begins when both machines could serve."""
    kinds = tuple(controllers.PAIR_FAULTS if of_controllers else PAIR_FAULTS)
    random = Random(f"takeovers {seed}")
    at, faults = FIRST_SECONDS, []
    for _ in range(FAULTS_OF_A_WORLD):
        at += random.uniform(0.0, 2 * LEASE_SECONDS)  # at any moment of a lease
        until = at + FAULT_SECONDS
        faults.append(Happening(at, until, random.choice(kinds), random.getrandbits(32)))
        at = until + CALM_SECONDS
    plan = Plan(seed, at / 3600.0, tables=1, pace=0.5, faults=tuple(faults))
    if of_controllers:
        return replace(plan, parts=("carrousel-pair",))
    return replace(plan, pair=True)


def measure(of: Plan) -> tuple[dict[str, list[float]], list[float], str | None]:
    """Run a world. Return the seconds of each takeover by the fault that preceded it, those from a
    claim to the first statement, and what was violated.
    """
    be_quiet()
    outcome = run(of)
    taken = defaultdict(list)
    for takeover in outcome.takeovers:
        before = [fault.name for fault in of.faults if fault.at <= takeover.at + LOOK_SECONDS]
        taken[before[-1] if before else "none"].append(takeover.seconds)
    finding = outcome.finding and f"seed {of.seed}: {outcome.finding}"
    return dict(taken), outcome.announced, finding


def main() -> int:
    """Measure as many faults; return 1 if anything was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.world.takeovers", description=__doc__)
    parser.add_argument("--faults", type=int, default=300)
    parser.add_argument("--from", type=int, default=1, dest="first", help="the first seed")
    parser.add_argument("--controllers", action="store_true", help="of the jackpots")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + -(-chosen.faults // FAULTS_OF_A_WORLD))
    plans = [plan(seed, chosen.controllers) for seed in seeds]
    taken, findings, announced = defaultdict[str, list[float]](list), list[str](), list[float]()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for by_fault, statements, finding in pool.map(measure, plans):
            announced += statements
            for name, seconds in by_fault.items():
                taken[name] += seconds
            findings += [finding] if finding is not None else []
    lines = [f"{name:36}{_distribution(seconds)}" for name, seconds in sorted(taken.items())]
    everything = [each for kind in taken.values() for each in kind]
    lines.append(f"{'all':36}{_distribution(everything)}")
    if announced:
        lines.append(f"{len(announced)} first statements, {max(announced):.2f} s after a claim")
    lines += findings
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if findings else 0


def _distribution(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    within = sum(each <= 2 * LEASE_SECONDS for each in ordered)
    return (
        f"{len(ordered):4} takeovers, {within} within two leases; median "
        f"{ordered[len(ordered) // 2]:.1f} s, nine of ten {ordered[len(ordered) * 9 // 10]:.1f} s, "
        f"longest {ordered[-1]:.1f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
