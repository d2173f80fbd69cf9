"""Defects of the daemon, for the checkers of dice to find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from common.contract.events import Settled
from controller.games.craps import readings, state, turn
from controller.games.craps.bets import Bets, settle
from devices.board.lateness import Lateness
from devices.dice.dice_board import DiceBoard, Die
from devices.reader import LinkReader


def throw_counts_again(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks whether dice that lie there have been thrown since."""
    patch.setattr(readings, "_is_repeat", lambda *_: False)
    patch.setattr(DiceBoard, "_is_unchanged", lambda *_: False)


def cocked_die_counts(patch: pytest.MonkeyPatch) -> None:
    """A die that leans against the rail counts as a one."""
    on_rest = DiceBoard._on_rest

    def flat(board: DiceBoard, dice: tuple[Die, ...], *more: Any) -> None:
        on_rest(
            board, tuple(each._replace(face=each.face.replace("/", "1")) for each in dice), *more
        )

    patch.setattr(DiceBoard, "_on_rest", flat)


def late_dice_count_as_live(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks how long the reports of a board have waited, nor how long it was silent: either
    check alone prevents a wrong result.
    """
    patch.setattr(LinkReader, "_waited", lambda _: 0.0)
    patch.setattr(readings, "is_brief", lambda *_: True)
    is_late = Lateness.is_late

    def never(lateness: Lateness, sent: float, now: float) -> bool:
        is_late(lateness, sent, now)
        return False

    patch.setattr(Lateness, "is_late", never)


def next_throw_counts(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks whether a silence has hidden a throw."""
    patch.setattr(readings, "_next", lambda *_: True)


def point_stays(patch: pytest.MonkeyPatch) -> None:
    """The 7 that loses does not end a series."""

    def next_point(points: tuple[int, ...], point: int | None, total: int) -> int | None:
        if point is None:
            return total if total in points else None
        return None if total == point else point

    for module in (state, turn):
        patch.setattr(module, "next_point", next_point)


def twelve_wins(patch: pytest.MonkeyPatch) -> None:
    """A bet on *win* wins with a 12."""

    def generous(bets: Bets, name: str, dice: tuple[int, ...], point: int | None) -> Settled:
        settled = settle(bets, name, dice, point)
        return replace(settled, outcome="win") if (name, sum(dice)) == ("win", 12) else settled

    patch.setattr(turn, "settle", generous)


DEFECTS: Mapping[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    throw_counts_again: ("dice unmoved", "dice board restarted"),
    cocked_die_counts: ("die cocked",),
    late_dice_count_as_live: ("daemon starved", "line held and burst"),
    next_throw_counts: ("daemon killed", "machine suspended", "device unplugged"),
    point_stays: ("dice report lost",),
    twelve_wins: ("dice report lost",),
}
"""Each defect, and the faults that show it."""
