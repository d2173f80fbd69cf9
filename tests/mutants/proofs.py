"""``controller/rulebooks/proofs.tsv``: for each rule the test that proves it, and the mutant under which that test fails."""

from __future__ import annotations

from typing import NamedTuple

from tests.mutants.prove import Claims, Proof
from tests.mutants.table import BOOKS, enforced

FILE = BOOKS / "proofs.tsv"
HEAD = "id\ttest\tmutant"


class Row(NamedTuple):
    """A rule that tests claim. Only what is enforced has a mutant."""

    test: str
    mutant: str


def read() -> dict[str, Row]:
    """The rows by rule."""
    lines = FILE.read_text(encoding="utf-8").splitlines()[1:] if FILE.exists() else []
    return {rule: Row(test, mutant) for rule, test, mutant in (line.split("\t") for line in lines)}


def renewed(old: dict[str, Row], proofs: list[Proof], claimed: Claims) -> dict[str, Row]:
    """The rows after a run: what was proved anew, what stands from before, and who claims what is not enforced."""
    proved = {rule: Row(test, proof.mutant.what) for proof in reversed(proofs) for rule, test in proof.by.items()}
    survived = {rule for proof in proofs for rule in proof.survived} - set(proved)
    must = set(enforced())
    kept = {rule: row for rule, row in old.items() if rule in must - survived and row.test in claimed.get(rule, ())}
    others = {rule: Row(tests[0], "") for rule, tests in claimed.items() if rule not in must}
    return dict(sorted({**kept, **proved, **others}.items()))


def write(rows: dict[str, Row]) -> None:
    """Put the rows down."""
    lines = [HEAD, *("\t".join((rule, *row)) for rule, row in rows.items())]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
