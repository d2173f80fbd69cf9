"""``controller/rulebooks/proofs.tsv``: for each rule the test that proves it, and the mutant under
which that test fails.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.mutants.prove import Claims, Proof
from tests.mutants.table import BOOKS, enforced, families

FILE = BOOKS / "proofs.tsv"
HEAD = ("id", "test", "mutant")


class Row(NamedTuple):
    """A test that claims a rule, and the mutant under which it fails. Only enforced rules have a
    mutant.
    """

    rule: str
    test: str
    mutant: str


def read() -> list[Row]:
    """The rows, in the order of the rules."""
    lines = FILE.read_text(encoding="utf-8").splitlines()[1:] if FILE.exists() else []
    return [Row(*line.split("\t")) for line in lines]


def renewed(old: list[Row], proofs: list[Proof], claimed: Claims) -> list[Row]:
    """Return the rows after a run: new proofs, earlier ones that remain valid, and claims of rules
    that are not enforced.
    """
    tried = {(rule, proof.mutant.what) for proof in proofs for rule in proof.mutant.rules}
    there = {
        (rule, mutant.what)
        for family in families().values()
        for mutant in family
        for rule in mutant.rules
    }
    new = {
        Row(rule, test, proof.mutant.what) for proof in proofs for rule, test in proof.by.items()
    }
    kept = {
        row
        for row in old
        if (row.rule, row.mutant) in there - tried and row.test in claimed.get(row.rule, ())
    }
    others = {Row(rule, tests[0], "") for rule, tests in claimed.items() if rule not in enforced()}
    return sorted(new | kept | others)


def write(rows: list[Row]) -> None:
    """Write the rows."""
    FILE.write_text("".join("\t".join(row) + "\n" for row in (HEAD, *rows)), encoding="utf-8")
