"""The table of mutants is sound, agrees with the recorded proofs, and a sample of it is run each
time.
"""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest

from tests.mutants import proofs
from tests.mutants.table import ROOT, Mutant, enforced, families
from tests.support.for_each import for_each

MUTANTS = [
    pytest.param(mutant, id=f"{family}-{number}")
    for family, mutants in families().items()
    for number, mutant in enumerate(mutants)
]
PROVED = {
    (rule, mutant.what)
    for mutants in families().values()
    for mutant in mutants
    for rule in mutant.rules
}


def test_every_enforced_rule_has_a_mutant() -> None:
    assert set(enforced()) - {rule for rule, _ in PROVED} == set()


@for_each("mutant", MUTANTS)
def test_a_mutant_changes_existing_code(mutant: Mutant) -> None:
    if mutant.rulebook is not None:
        mutant.change_page(msgspec.toml.decode(mutant.path().read_text(encoding="utf-8")))
    else:
        compile(mutant.changed_source(), mutant.path(), "exec", dont_inherit=True)


@for_each("mutant", MUTANTS)
def test_a_mutant_breaks_enforced_rules_alone(mutant: Mutant) -> None:
    assert set(mutant.rules) <= set(enforced())


def test_the_recorded_proofs_match_the_mutants() -> None:
    """Else: run ``make rules-proof`` and commit the result."""
    assert {(row.rule, row.mutant) for row in proofs.read() if row.mutant} == PROVED


@pytest.mark.usefixtures("programs")
def test_a_sample_of_the_mutants_is_killed(long: bool) -> None:
    command = [sys.executable, "-m", "tests.mutants", "--one-in", "10" if long else "60"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST")
    }
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
