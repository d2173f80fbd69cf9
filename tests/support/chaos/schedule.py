"""Schedules of faults for the floor, drawn from a seed and so reproducible.

Nothing is done at a time of day: each step waits for something that the parts show.
"""

from __future__ import annotations

from random import Random
from typing import Literal

import msgspec

When = Literal["now", "started", "up", "connected", "events", "writes", "state"]
"""``now``; ``started``: the daemon's process is there; ``up``, ``connected``: it has logged so;
``events``: the archive has got ``count`` more; ``writes``: the journal was written ``count`` times
more; ``state``: a wheel has come to the state ``count``.
"""
Do = Literal[
    "kill daemon", "start daemon", "kill broker", "start broker", "freeze broker", "thaw broker"
]


class Step(msgspec.Struct, frozen=True):
    """Wait for ``when``, then ``offset`` seconds more: so that it also strikes between two things
    that can be seen.
    """

    do: Do
    when: When = "now"
    count: int = 0
    offset: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.do:<13} "
            f"{self.when}{f' {self.count}' if self.count else ''}"
            f"{f' + {self.offset:.3f} s' if self.offset else ''}"
        )


COUNTS: dict[When, tuple[int, int]] = {"events": (1, 4), "writes": (1, 12), "state": (2, 5)}
"""How much of it is waited for."""
STARTUP = 0.8
"""Seconds that the daemon takes to start: a kill at ``started`` strikes within them, in the middle
of opening the journal too.
"""


def schedule(seed: int, kills: int, *, broker: bool) -> list[Step]:
    """A schedule of ``kills`` kills of the daemon; with ``broker``, the broker is killed and comes
    back empty, or is frozen, in between.
    """
    random = Random(seed)
    steps: list[Step] = []
    trouble: Do | None = None  # what would end the broker's present trouble
    while kills:
        if broker and random.random() < 0.4:
            if trouble is None:
                does, trouble = random.choice(BROKER)
                steps.append(_step(random, does, ("now", "events", "writes", "state")))
            else:
                steps.append(_step(random, trouble, ("now", "writes", "state")))
                trouble = None
        seen: tuple[When, ...] = ("connected", "events") if trouble is None else ()
        steps.append(_step(random, "kill daemon", ("started", "up", "writes", "state", *seen)))
        steps.append(_step(random, "start daemon", ("now", "now", "state")))
        kills -= 1
    return [*steps, Step(trouble)] if trouble else steps


BROKER: tuple[tuple[Do, Do], ...] = (
    ("kill broker", "start broker"),
    ("freeze broker", "thaw broker"),
)
"""Its troubles, and what ends each."""


def _step(random: Random, do: Do, choices: tuple[When, ...]) -> Step:
    when = random.choice(choices)
    low, high = COUNTS.get(when, (0, 0))
    offset = (
        random.uniform(0.0, STARTUP)
        if when == "started"
        else random.choice((0.0, random.uniform(0.0, 0.05)))
    )
    return Step(do, when, random.randint(low, high), round(offset, 3))
