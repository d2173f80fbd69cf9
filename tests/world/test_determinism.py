"""A run is the same in each process, whatever the order in which that has its sets."""

from __future__ import annotations

import subprocess
import sys

import pytest

ALL_PARTS = "audit,backup,cards,carrousel,dice,floor,node,people,shufflers,statistics,terminal"
PRINTS_DIGEST = """
import sys
from tests.world.run import plan, run
parts = tuple(filter(None, sys.argv[1].split(",")))
print(run(plan(3, 0.02, 2, 6, parts=parts, pair=len(sys.argv) > 2)).digest)
"""


@pytest.mark.parametrize("arguments", [[ALL_PARTS], ["carrousel-eus96"], ["rival"], ["", "pair"]])
def test_a_seed_gives_the_same_run_in_each_process(programs: None, arguments: list[str]) -> None:
    digests = [
        subprocess.run(
            [sys.executable, "-c", PRINTS_DIGEST, *arguments],
            env={"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        ).stdout.splitlines()[-1]  # after what it logs
        for seed in ("1", "2")
    ]
    assert digests[0] == digests[1]
