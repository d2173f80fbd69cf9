"""A run is the same in each process, whatever the order in which that has its sets."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.world.parts import refusal

TABLES = "cards,carrousel,dice,shufflers,statistics"
SIGNED = "audit,backup,floor,people,terminal,witnesses,node"
PRINTS_DIGEST = """
import sys
from tests.world.run import plan, run
parts = tuple(filter(None, sys.argv[1].split(",")))
outcome = run(plan(3, 0.02, 2, 6, parts=parts, pair=len(sys.argv) > 2))
print(outcome.finding, outcome.digest)
"""


@pytest.mark.parametrize(
    "arguments", [[TABLES], [SIGNED], ["carrousel-eus96"], ["rival"], ["", "pair"]]
)
def test_a_seed_gives_the_same_run_in_each_process(programs: None, arguments: list[str]) -> None:
    assert refusal(arguments[0].split(",") if arguments[0] else []) is None
    first, second = (
        subprocess.run(
            [sys.executable, "-c", PRINTS_DIGEST, *arguments],
            env={"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
            text=True,
        ).stdout.splitlines()[-1]  # after what it logs
        for seed in ("1", "2")
    )
    assert first.startswith("None "), first
    assert first == second
