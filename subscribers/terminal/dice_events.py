"""Dice at a table as a subscriber knows them: a fold over the events of craps, without clock or
I/O.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from subscribers.terminal.outcomes import outcome_of

Fields = dict[str, Any]
MAX_THROWS = 30
"""Maximum number of throws stored."""


class ThrowView(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one throw. ``point``: the point at the throw; None at a come-out. ``kind`` as
    for any round.
    """

    round: int
    kind: str = "result"
    dice: tuple[int, ...] = ()
    point: int | None = None
    corrected: bool = False

    @property
    def total(self) -> int:
        """The sum of the dice."""
        return sum(self.dice)

    @property
    def ends(self) -> bool:
        """Whether it ends its series: a seven or the point after a point; seven, eleven or craps at
        a come-out.
        """
        return self.total in ((7, self.point) if self.point else (2, 3, 7, 11, 12))


class Dice:
    """The dice of one table. ``point``: the current point; ``shooter``: the seat that throws."""

    def __init__(self) -> None:
        self.throws: deque[ThrowView] = deque(maxlen=MAX_THROWS)
        self.point: int | None = None
        self.shooter: int | None = None

    @property
    def last(self) -> ThrowView | None:
        """The last throw that counts."""
        return next((throw for throw in reversed(self.throws) if throw.kind == "result"), None)

    def event(self, fields: Fields) -> None:
        """Apply one event."""
        handle = _EVENTS.get(str(fields.get("type")))
        if handle is not None:
            handle(self, fields)

    def state(self, shown: Fields) -> None:
        """Apply the retained state."""
        self.point, self.shooter = shown.get("point"), shown.get("shooter")

    def history(self, results: list[Fields]) -> None:
        """Apply the latest throws, which include missed ones."""
        for fields in results:
            if "dice" in outcome_of(fields) or fields.get("kind") != "result":
                self.put(_throw(fields, str(fields.get("kind"))))

    def put(self, throw: ThrowView) -> None:
        """Add the outcome of a throw, or replace that of the same round."""
        others = [other for other in self.throws if other.round != throw.round]
        self.throws = deque(
            sorted((*others, throw), key=lambda other: other.round), maxlen=MAX_THROWS
        )


def _throw(fields: Fields, kind: str = "result") -> ThrowView:
    outcome = outcome_of(fields) if kind == "result" else fields
    return ThrowView(
        round=fields.get("round", 0),
        kind=kind,
        dice=tuple(outcome.get("dice") or ()),
        point=outcome.get("point"),
        corrected=bool(fields.get("corrected")),
    )


def _result(dice: Dice, fields: Fields) -> None:
    if "dice" in outcome_of(fields):
        dice.put(_throw(fields))


def _corrected(dice: Dice, fields: Fields) -> None:
    if "dice" in outcome_of(fields):
        dice.put(_throw({**fields, "corrected": True}))


def _point(dice: Dice, fields: Fields) -> None:
    dice.point = fields.get("point")


def _shooter(dice: Dice, fields: Fields) -> None:
    dice.shooter = fields.get("seat")


def _session(dice: Dice, _fields: Fields) -> None:
    dice.throws.clear()
    dice.point = dice.shooter = None


_EVENTS: dict[str, Callable[[Dice, Fields], None]] = {
    "session.opened": _session,
    "point.set": _point,
    "shooter.changed": _shooter,
    "round.result": _result,
    "round.void": lambda dice, fields: dice.put(_throw(fields, "void")),
    "round.unresolved": lambda dice, fields: dice.put(_throw(fields, "unresolved")),
    "result.corrected": _corrected,
}
