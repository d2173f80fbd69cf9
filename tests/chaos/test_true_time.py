"""A daemon that reads its time bound from chrony, with a source that lies, drifts and falls silent:
the bound is in health, in the alert and in the events, and the journal proves those.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.time_source import TimeSource
from tests.support.chaos.archive import Archive, events_of
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.programs import with_constants
from tests.support.waiting import until

HURRIED = f"""
import sys
from controller.cli import main
{with_constants("controller.service.health", REPORT_INTERVAL_SECONDS=0.5)}
sys.exit(main())
"""
"""The daemon, with a health report twice a second."""
AWAY, DRIFTING = 2.0, 120.0
"""Seconds by which a drifting source is away at first, and that it may take."""
ALERT = "r1/alert/time-unproved"


class Room:
    """A floor whose daemon asks chrony, and the source that chrony asks."""

    def __init__(
        self, floor: Callable[..., Floor], folder: Path, stack: ExitStack, bound: float
    ) -> None:
        self.source = TimeSource(folder, stack)
        self.source.start()
        self.floor = floor(clock=f'bound = {bound}\nchrony = "{self.source.address}"')
        self.floor.daemon.program = ("-c", HURRIED)
        self.archive: Archive = self.floor.start()

    def health(self) -> dict[str, Any]:
        found: dict[str, Any] = self.archive.latest("node/pit-1/health")["clock"]
        return found

    def until(self, what: str, holds: Callable[[dict[str, Any]], Any]) -> Any:
        """Wait until the state of the clock in health is so."""

        def found() -> Any:
            clock = self.health()
            return clock if holds(clock) else None

        return until(
            what,
            found,
            lambda: f"{self.health()}\n{self.floor.daemon.log()}",
        )

    def alert(self) -> str:
        """The text of the alert; empty if it is not raised."""
        return str((self.archive.latest(ALERT) or {}).get("detail", ""))

    def bounds(self) -> list[Any]:
        """The time bounds in the journal's events, each change once."""
        found: list[Any] = []
        for event in events_of(self.floor.journal):
            bound = event.get("time_bound", 0.0)
            found += [bound] if not found or found[-1] != bound else []
        return found

    def numbers(self) -> None:
        """Have something happen at the table, so that an event carries what is known now."""
        self.floor.until_results(1)


def known(clock: dict[str, Any]) -> bool:
    """Whether chrony keeps the clock, as well as the site asks."""
    return (
        clock["stated_by"] == "chrony"
        and clock["synchronised"]
        and clock["error"] is not None
        and clock["error"] < clock["bound"]
    )


@pytest.mark.parametrize("hour", [3600, -3600])
def test_a_source_that_goes_an_hour_wrong_and_falls_silent(
    floor: Callable[..., Floor], tmp_path: Path, long: bool, hour: int
) -> None:
    if hour < 0 and not long:
        pytest.skip("in the long form")
    with ExitStack() as stack:
        room = Room(floor, tmp_path, stack, bound=0.5)
        clock = room.until("chrony keeps the clock", known)
        assert clock["source"] == room.source.source
        assert abs(clock["offset"]) <= clock["error"]
        until("no alert", lambda: not room.alert(), room.alert)
        room.source.unplug()  # chrony runs on with an ageing estimate
        silent = room.until("nothing is corrected", lambda found: (found["corrected"] or 0) > 2.0)
        older = room.until(
            "it grows older", lambda found: found["corrected"] > silent["corrected"] + 0.5
        )
        assert older["error"] > silent["error"]
        assert older["crossed"] is not None
        room.source.plug()
        room.until("it is corrected again", lambda found: found["corrected"] < 1.5)
        room.source.clock.set(hour)
        wrong = room.until("an hour is missing", lambda found: (found["error"] or 0) > 3599)
        assert wrong["offset"] == pytest.approx(-hour, abs=1)
        assert wrong["crossed"] is None
        until("the alert", lambda: "up to 5000 s" in room.alert(), room.alert)
        room.numbers()
        room.source.clock.set(0)
        room.until("chrony keeps the clock again", known)
        until("the alert ends", lambda: not room.alert(), room.alert)
        room.numbers()
        sound(room.floor)
        assert 5000.0 in room.bounds()
        assert room.bounds()[-1] == 0.0


def test_a_source_that_is_gone(floor: Callable[..., Floor], tmp_path: Path, long: bool) -> None:
    """The clock has no source left: the alert precedes the crossing of the bound, and the events
    after it carry the bound.
    """
    if not long:
        pytest.skip("in the long form")
    with ExitStack() as stack:
        room = Room(floor, tmp_path, stack, bound=0.02)
        room.until("chrony keeps the clock", known)
        room.source.end()
        until("the alert", lambda: "if nothing corrects it" in room.alert(), room.alert)
        assert room.health()["error"] < 0.02
        until("the bound is crossed", lambda: "may be wrong by up to" in room.alert(), room.alert)
        room.numbers()
        sound(room.floor)
        assert room.bounds()[-1] in (0.05, 0.1)


def test_a_source_that_drifts(floor: Callable[..., Floor], tmp_path: Path, long: bool) -> None:
    """500 millionths: 0.02 s in forty seconds, of a clock that nothing sets. It starts two seconds
    from this machine's time: chrony accepts nothing closer from a faked clock, since the kernel
    stamps its packets with the true time.
    """
    if not long:
        pytest.skip("in the long form")
    with ExitStack() as stack:
        room = Room(floor, tmp_path, stack, bound=2.02)
        room.source.clock.set(AWAY)
        room.until("chrony has the time", lambda found: (found["offset"] or 0) < -1.9)
        room.until("chrony keeps the clock", known)
        stack.enter_context(room.source.drifting(500e-6, AWAY))
        room.until("it drifts", lambda found: found["offset"] < -AWAY - 0.005)
        until("the alert", room.alert, timeout=DRIFTING)
        until(
            "the bound is crossed",
            lambda: "may be wrong by up to 5 s" in room.alert(),
            room.alert,
            DRIFTING,
        )
        room.numbers()
        sound(room.floor)
        assert room.bounds()[-1] == 5.0
