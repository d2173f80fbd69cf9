"""Events of real tables, and their replies to a recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from common.contract.notation import mark_historical
from subscribers.carrousel.intake_memory import IntakeRules
from tests.support.games import scripts
from tests.support.subscribers.real import RealTable

TABLE = "poker-1"
RULES = IntakeRules(tables=(TABLE,), games=("poker-no-draw",), decree="EUS96", currency="EUR")


def script_events(name: str) -> list[bytes]:
    """Return the events of a script, from a real table."""
    script = scripts.read(name)
    table = RealTable(script.game, script.decree, script.settings, name=TABLE)
    return [
        body or b""
        for given in script.inputs
        for leaf, body in table.hear(given)
        if leaf == "event"
    ]


def renumbered(events: Sequence[bytes], *runs: int) -> list[bytes]:
    """Return the events as published by several runs of the daemon, with these numbers of events;
    the rest belongs to the last run. Their times ascend.
    """
    made, run, seq, left = [], 0, 0, list(runs)
    for number, body in enumerate(events):
        while left and seq == left[0]:
            left.pop(0)
            run, seq = run + 1, 0
        seq += 1
        time = f"2026-03-20T02:{10 + number // 60:02}:{number % 60:02}.000000Z"
        fields = {**msgspec.json.decode(body), "boot": f"boot-{run}", "seq": seq, "time": time}
        made.append(msgspec.json.encode(fields))
    return made


def changed(body: bytes, **fields: Any) -> bytes:
    """Return an event with other fields; None removes one."""
    made = {**msgspec.json.decode(body), **fields}
    return msgspec.json.encode({key: value for key, value in made.items() if value is not None})


def recall(journal: Sequence[bytes], boot: str, first: int, limit: int = 100) -> list[bytes]:
    """Return a daemon's reply: its events from ``first`` on, and those of every later run; all
    events if it does not know that run.
    """
    heads = [(event["boot"], event["seq"]) for event in map(msgspec.json.decode, journal)]
    before = [n for n, (run, seq) in enumerate(heads) if run == boot and seq < first]
    of_run = [n for n, (run, _) in enumerate(heads) if run == boot]
    start = before[-1] + 1 if before else of_run[0] if of_run else 0
    return [mark_historical(body) for body in journal[start : start + limit]]
