"""Defects of the daemon, for the checkers of shufflers to find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from common.readings import ShufflerVerdict
from controller.games.house_poker import readings
from controller.games.house_poker.moves import HousePokerTurn
from controller.games.machine import Machine
from controller.games.poker.readings import track_shuffler
from controller.tables.table import InputResult, Table
from devices.board.codec import BoardCodec
from devices.board.lateness import Lateness
from devices.reader import LinkReader


def missing_card_in_clear(patch: pytest.MonkeyPatch) -> None:
    """What a shuffler names is not looked at when it is stored."""
    named = Machine.named

    def blind(machine: Any, received: Any) -> set[str]:
        return set() if isinstance(received, ShufflerVerdict) else named(machine, received)

    patch.setattr(Machine, "named", blind)


def wrong_deck_is_dealt(patch: pytest.MonkeyPatch) -> None:
    """A table publishes that a deck is wrong, and forgets it."""
    check = readings.check_deck

    def forgetful(turn: HousePokerTurn, checked: Any) -> None:
        check(turn, checked)
        turn.change(deck=True)

    patch.setattr(readings, "check_deck", forgetful)


def jam_is_only_shown(patch: pytest.MonkeyPatch) -> None:
    """A shuffler that cannot deal raises an alert, and stops nothing."""

    def shown(turn: HousePokerTurn, reading: Any) -> None:
        track_shuffler(turn, reading)

    patch.setattr(readings, "track_shuffler", shown)


def alert_is_not_cleared(patch: pytest.MonkeyPatch) -> None:
    """The alert of a shuffler that is ready again stays."""
    clear = HousePokerTurn.clear_alert

    def keep(turn: HousePokerTurn, alert: str, *more: Any) -> None:
        if not alert.startswith("shuffler_"):
            clear(turn, alert, *more)

    patch.setattr(HousePokerTurn, "clear_alert", keep)


def late_verdict_counts_as_live(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks how long a verdict has waited."""
    is_late, handle = Lateness.is_late, Table.handle

    def never(lateness: Lateness, sent: float, now: float) -> bool:
        is_late(lateness, sent, now)
        return False

    def live(table: Table, item: Any, time: str, mono_ns: int) -> InputResult:
        if isinstance(item, ShufflerVerdict):
            item = replace(item, late=False)
        return handle(table, item, time, mono_ns)

    patch.setattr(LinkReader, "_waited", lambda _: 0.0)
    patch.setattr(Lateness, "is_late", never)
    patch.setattr(Table, "handle", live)


def report_counts_twice(patch: pytest.MonkeyPatch) -> None:
    """A verdict that the line has doubled is another one."""
    feed = BoardCodec.feed

    def repeating(codec: BoardCodec, data: bytes, now: float) -> list[Any]:
        found = feed(codec, data, now)
        verdicts = [reading for reading in found if isinstance(reading, ShufflerVerdict)]
        return [*found, *verdicts]

    patch.setattr(BoardCodec, "feed", repeating)


WRONG = ("card missing from a deck", "card twice in a deck")
DEFECTS: Mapping[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    missing_card_in_clear: WRONG,
    wrong_deck_is_dealt: WRONG,
    jam_is_only_shown: ("shuffler's door open", "shuffler jammed"),
    alert_is_not_cleared: ("shuffler needs service",),
    late_verdict_counts_as_live: ("daemon starved", "daemon killed", "line held and burst"),
    report_counts_twice: ("line doubled",),
}
"""Each defect, and the faults that show it."""
