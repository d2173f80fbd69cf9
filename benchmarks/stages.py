"""How long each stage of a result takes in the daemon itself, as its retained topic ``health``
says: from the bytes read until the table has decided, the journal has committed, and the broker has
acknowledged.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from benchmarks.figures import row
from benchmarks.latency import NOVAMAS, PACE, rig
from benchmarks.subscriber import HEALTH
from benchmarks.wheel_lines import spin

STAGES = ("decided", "committed", "acknowledged")
COUNTED = ("p50_ms", "p99_ms", "max_ms")
RENEWED = 60.0
"""Seconds in which the daemon publishes its health again; it does so every half minute."""


def shares(stages: Mapping[str, Mapping[str, float]], counted: str) -> dict[str, float]:
    """The part of the way to the acknowledgement that each stage adds, between 0 and 1."""
    whole = stages[STAGES[-1]][counted]
    until = [0.0, *(stages[stage][counted] for stage in STAGES)]
    return {
        stage: (end - begin) / whole
        for stage, begin, end in zip(STAGES, until, until[1:], strict=False)
    }


def missing(stages: Mapping[str, Mapping[str, float] | None]) -> list[str]:
    """The figures that the daemon does not give, such as ``decided.p99_ms``."""
    return [
        f"{stage}.{counted}"
        for stage in STAGES
        for counted in COUNTED
        if not isinstance((stages.get(stage) or {}).get(counted), int | float)
    ]


def health_after(rounds: int) -> Any:
    """The health of a daemon after so many rounds of one table."""
    fresh: list[bytes] = []
    with rig(()) as (subscriber, _, ends):
        for number in range(1, rounds + 1):
            for line in spin(number):
                os.write(ends[NOVAMAS], line)
                time.sleep(PACE)
        subscriber.on_message = lambda topic, body, _: (
            fresh.append(body) if topic == HEALTH else None
        )
        subscriber.client.subscribe(HEALTH, 1)
        # the first one is the retained message, which may be older than the last round
        subscriber.wait("the daemon publishes its health again", lambda: len(fresh) > 1, RENEWED)
    return json.loads(fresh[-1])


def main(rounds: int) -> None:
    """Measure and print. Ends with 1 if the daemon does not say how long its stages take."""
    stages = health_after(rounds).get("stages")
    print(
        f"Stages of a result, from the bytes read, {rounds} rounds of one table, milliseconds; in "
        "brackets the part that the stage adds"
    )
    if not stages:
        sys.exit("  health has no field `stages`: this daemon does not measure them")
    if absent := missing(stages):
        sys.exit(f"  health.stages does not say {', '.join(absent)}")
    print(row("", *COUNTED, width=18))
    parts = {counted: shares(stages, counted) for counted in COUNTED}
    for stage in STAGES:
        cells = (f"{stages[stage][c]:.2f} ({parts[c][stage]:.0%})" for c in COUNTED)
        print(row(stage, *cells, width=18))
