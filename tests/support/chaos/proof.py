"""The end of a run: everything stored was received, nothing else was, it follows from the bytes,
and the wheel did it.
"""

from __future__ import annotations

from typing import Any

from controller.cli import main
from tests.support.chaos.archive import Verdict, events_of
from tests.support.chaos.floor import Floor
from tests.support.chaos.truth import lost_spins, open_rounds, wrong_numbers


def sound(floor: Floor, *, recall: bool = True) -> tuple[list[dict[str, Any]], Verdict]:
    """Let the floor come to rest and prove it. Gives the events in the order of the journal, and
    how the archive held them.
    """
    verdict = floor.settle(recall=recall)
    assert verdict.flawless, verdict
    assert floor.daemon.stop() == 0
    events = events_of(floor.journal)
    proved(floor)
    right(floor, events)
    return events, verdict


def proved(floor: Floor) -> None:
    """The chain holds, the archive bears it out, and every event can be derived again."""
    assert floor.archive is not None
    archive = floor.folder / "archive.jsonl"
    floor.archive.write(archive)
    assert main(["verify", str(floor.journal), "--witness", str(archive)]) == 0
    assert main(["audit", str(floor.journal)]) == 0
    assert "Traceback" not in floor.daemon.log()


def right(floor: Floor, events: list[dict[str, Any]]) -> None:
    """No number that the wheel has not played, no round and no spin without an outcome."""
    for table, wheel in floor.wheels.items():
        own = [event for event in events if event["table"] == table]
        assert not wrong_numbers(own, wheel.played)
        assert not open_rounds(own)
        assert not lost_spins(floor.journal, table)
