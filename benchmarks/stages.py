"""Duration of each stage of a result inside the daemon, from its retained topic ``health``: from
the read of the bytes to the table's decision, the commit of the journal, and the acknowledgement of
the broker.
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
FIGURES = ("p50_ms", "p99_ms", "max_ms")
HEALTH_TIMEOUT_SECONDS = 60.0
"""Maximum seconds until the daemon's health is published again, which happens every 30 seconds."""


def shares(stages: Mapping[str, Mapping[str, float]], counted: str) -> dict[str, float]:
    """Return each stage's share of the time to the acknowledgement, between 0 and 1."""
    whole = stages[STAGES[-1]][counted]
    until = [0.0, *(stages[stage][counted] for stage in STAGES)]
    return {
        stage: (end - begin) / whole
        for stage, begin, end in zip(STAGES, until, until[1:], strict=False)
    }


def missing(stages: Mapping[str, Mapping[str, float] | None]) -> list[str]:
    """Return the missing figures, such as ``decided.p99_ms``."""
    return [
        f"{stage}.{counted}"
        for stage in STAGES
        for counted in FIGURES
        if not isinstance((stages.get(stage) or {}).get(counted), int | float)
    ]


def health_after(rounds: int) -> Any:
    """Return the health of a daemon after ``rounds`` rounds of one table."""
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
        subscriber.wait(
            "the daemon publishes its health again", lambda: len(fresh) > 1, HEALTH_TIMEOUT_SECONDS
        )
    return json.loads(fresh[-1])


def main(rounds: int) -> None:
    """Measure and print. Exits with 1 if the daemon does not report its stages."""
    stages = health_after(rounds).get("stages")
    print(
        f"Stages of a result, from the bytes read, {rounds} rounds of one table, milliseconds; in "
        "brackets the part that the stage adds"
    )
    if not stages:
        sys.exit("  health has no field `stages`: this daemon does not measure them")
    if absent := missing(stages):
        sys.exit(f"  health.stages has no {', '.join(absent)}")
    print(row("", *FIGURES, width=18))
    parts = {counted: shares(stages, counted) for counted in FIGURES}
    for stage in STAGES:
        cells = (f"{stages[stage][c]:.2f} ({parts[c][stage]:.0%})" for c in FIGURES)
        print(row(stage, *cells, width=18))
