"""What is done to a node of a cluster, and when: drawn from a seed, so that a run can be had again.
Each waits for something that can be seen.
"""

from __future__ import annotations

from random import Random
from typing import Literal, get_args

import msgspec

Fault = Literal["kill", "freeze", "partition"]
FAULTS: tuple[Fault, ...] = get_args(Fault)


class Strike(msgspec.Struct, frozen=True):
    """After ``events`` more that the archive has heard, and ``offset`` seconds, a node gets into
    trouble, until the tables have stored ``lasts`` more. ``node``: its number, or who it serves.
    """

    fault: Fault
    node: Literal["daemon", "archive"] | int
    events: int
    offset: float
    lasts: int


def strikes(seed: int, count: int, nodes: int) -> list[Strike]:
    """So many faults, of each kind in turn: at the node that the daemon has, at that of the archive
    and at any.
    """
    random = Random(seed)
    return [
        Strike(
            fault=FAULTS[number % len(FAULTS)],
            node=random.choice(("daemon", "archive", random.randrange(nodes))),
            events=random.randint(1, 4),
            offset=round(random.choice((0.0, random.uniform(0.0, 0.2))), 3),
            lasts=random.choice((2, 5, 25)),
        )
        for number in range(count)
    ]
