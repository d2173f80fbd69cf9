"""``python -m tests.mutants [FAMILY...]``: run the mutants, print survivors, and write the proofs
of each rule.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from tests.mutants import proofs
from tests.mutants.prove import Claims, Memory, Proof, claims, content, prove, sample
from tests.mutants.table import enforced, families


def main() -> int:
    """Return 0 if every rule of these mutants was proved, and with all families every enforced
    rule.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument(
        "families",
        nargs="*",
        metavar="FAMILY",
        help="only these (a file of tests/mutants without .toml)",
    )
    parser.add_argument(
        "--one-in",
        type=int,
        metavar="N",
        help="one mutant in N, with the tests that proved their rules before",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="how many at a time (every core)",
    )
    asked = parser.parse_args()
    there = families()
    if unknown := sorted(set(asked.families) - set(there)):
        parser.error(f"no family {unknown[0]!r}; there are: {', '.join(there)}")
    chosen = {
        name: mutants
        for name, mutants in there.items()
        if not asked.families or name in asked.families
    }
    mutants = tuple(mutant for family in chosen.values() for mutant in family)
    known = content()
    if asked.one_in:
        mutants = sample(mutants, asked.one_in)
        claimed: Claims = {}
        for row in proofs.read():
            claimed[row.rule] = (*claimed.get(row.rule, ()), row.test)
    else:
        claimed = claims(known)
    done = prove(mutants, claimed, Memory(known), asked.jobs, _progress(len(mutants)))
    if not asked.one_in:
        proofs.write(proofs.renewed(proofs.read(), done, claimed))
    lacking = (
        set()
        if asked.families or asked.one_in
        else set(enforced()) - {rule for each in done for rule in each.mutant.rules}
    )
    _sum_up(
        {name: [each for each in done if each.mutant in family] for name, family in chosen.items()},
        lacking,
    )
    return 1 if lacking or any(each.survived for each in done) else 0


def _progress(total: int) -> Callable[[Proof], None]:
    """Show progress on a terminal."""
    count = 0

    def show(_: Proof) -> None:
        nonlocal count
        count += 1
        if sys.stderr.isatty():
            print(f"\r{count} of {total}", end="\n" if count == total else "", file=sys.stderr)

    return show


def _sum_up(done: dict[str, list[Proof]], lacking: set[str]) -> None:
    for family, proved in done.items():
        rules = {rule for each in proved for rule in each.mutant.rules}
        left = {rule for each in proved for rule in each.survived}
        if proved:
            print(f"{family}: {len(proved)} mutants, {len(rules)} rules, {len(left)} survive")
    for each in (each for proved in done.values() for each in proved if each.survived):
        where = each.mutant.rulebook or each.mutant.module
        print(
            f"survives: {', '.join(each.survived)}: {each.mutant.what} "
            f"({where}){': ' if each.broken else ''}{each.broken}"
        )
    if lacking:
        first = sorted(lacking)[:10]
        print(
            f"{len(lacking)} enforced rules have no mutant: "
            f"{', '.join(first)}{' ...' if len(lacking) > len(first) else ''}"
        )


if __name__ == "__main__":
    sys.exit(main())
