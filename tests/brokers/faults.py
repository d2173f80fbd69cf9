"""Schedules of faults for the nodes of a cluster, drawn from a seed and so reproducible. Each waits
for something that can be seen.
"""

from __future__ import annotations

from random import Random
from typing import Literal, get_args

import msgspec

Fault = Literal["kill", "freeze", "partition"]
FAULTS: tuple[Fault, ...] = get_args(Fault)


class Strike(msgspec.Struct, frozen=True):
    """Start when the archive has received ``events`` more events, after ``offset`` seconds; end
    when the tables have stored ``lasts`` more. ``node``: its number, or who it serves.
    """

    fault: Fault
    node: Literal["daemon", "archive"] | int
    events: int
    offset: float
    lasts: int


def strikes(seed: int, count: int, nodes: int) -> list[Strike]:
    """A schedule of ``count`` faults, each kind in turn: at the daemon's node, at the archive's
    node and at any.
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
