"""What the wheels really did, against the tables' events: no wrong result, and no spin lost
silently.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.chaos.archive import entries_of
from tests.support.chaos.floor import Spin

OUTCOMES = ("round.result", "round.void", "round.unresolved")


def wrong_numbers(events: Iterable[dict[str, Any]], played: list[Spin]) -> list[dict[str, Any]]:
    """Results, and candidates, that the wheel has not played in this order. The spin's number is
    the wheel's, from 1 to 256.
    """
    wrong = []
    at = 0
    for event in events:
        is_result = event["type"] == "round.result"
        number = event["outcome"]["number"] if is_result else event.get("candidate")
        if event["type"] not in OUTCOMES or number is None:
            continue
        found = next(
            (index for index in range(at, len(played)) if played[index].spin == event["spin"]), None
        )
        if found is None or played[found].number != number:
            wrong.append(event)
        else:
            at = found
    return wrong


def open_rounds(events: Iterable[dict[str, Any]]) -> list[tuple[int, int]]:
    """Rounds, as (session, round), that have no outcome though a later one was begun."""
    last: dict[int, int] = {}
    ended = set()
    for event in events:
        if "round" in event:
            last[event["session"]] = max(event["round"], last.get(event["session"], 0))
        if event["type"] in OUTCOMES:
            ended.add((event["session"], event["round"]))
    return [
        (session, number)
        for session, most in last.items()
        for number in range(1, most)
        if (session, number) not in ended
    ]


def lost_spins(journal: Path, table: str) -> list[int]:
    """Spins that the table saw running, or ended, in an open session, but never reported an outcome
    for.

    The spin in progress when the session was opened does not count; the last one may be in flight.
    """
    seen: list[int] = []
    told: list[int] = []
    opened = False
    before: int | None = None
    for entry in entries_of(journal):
        if entry.table != table:
            continue
        body = json.loads(entry.body)
        opened = opened or body.get("type") == "session.opened"
        spin = body.get("spin")
        before = before if opened else spin or before
        if entry.kind == "event" and body.get("type") in OUTCOMES and told[-1:] != [spin]:
            told.append(spin)
        running = body.get("type") == "wheel.number" or body.get("phase") in (
            "ball_in_rim",
            "no_more_bets",
        )
        if entry.kind == "input" and opened and running and seen[-1:] != [spin]:
            seen += [] if spin == before and not seen else [spin]
    return missing(seen[:-1], told)


def missing(seen: list[int], told: list[int]) -> list[int]:
    """The spins missing from the reports, in this order."""
    lost = []
    at = 0
    for spin in seen:
        found = next((index for index in range(at, len(told)) if told[index] == spin), None)
        if found is None:
            lost.append(spin)
        else:
            at = found
    return lost
