"""A scenario while it is played: its table, what the program must show, and what was wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from controller.conform.candidate import Observation, Status
from controller.conform.simulated_table import SimulatedTable, TableStep
from controller.conform.stage import Stage, StoppedError

TYPES: Mapping[Status, str] = {
    "final": "round.result",
    "corrected": "result.corrected",
    "void": "round.void",
    "unresolved": "round.unresolved",
}


def _decisive(step: TableStep, status: Status) -> dict[str, Any]:
    return next(event for event in step.events if event["type"] == TYPES[status])


def result_of(step: TableStep) -> dict[str, Any]:
    """Return the event with the result of a round."""
    return _decisive(step, "final")


def _of(event: dict[str, Any]) -> str:
    return f" with {msgspec.json.encode(event['outcome']).decode()}" if "outcome" in event else ""


class Scene:
    """One scenario. ``display``: the program needs only retained topics."""

    def __init__(self, stage: Stage, requirement: str, *, display: bool) -> None:
        self.stage, self.requirement, self.display = stage, requirement, display
        self.name = requirement.removeprefix("SUB-").lower()
        self.table = stage.table(self.name)
        self._numbers = list(range(37))
        stage.random.shuffle(self._numbers)

    def fail(self, problem: str) -> None:
        """Note that the requirement was not met."""
        self.stage.fail(self.requirement, problem)

    def draw(self) -> int:
        """Return a number that differs from the latest ones."""
        self._numbers.append(self._numbers.pop(0))
        return self._numbers[-1]

    async def begin(self, table: SimulatedTable | None = None) -> None:
        """Open a table and play a round. Raises :class:`StoppedError` if the program does not show
        it.
        """
        table = table or self.table
        await self.stage.status(table, online=True)
        await self.stage.publish(table, table.opened())
        first = table.round(self.draw())
        await self.stage.publish(table, first)
        is_shown = await self.stage.until(
            lambda: self._shown(table, first, "final") is not None and self.stage.is_current(table)
        )
        if not is_shown:
            raise StoppedError("the program does not show the first round of the table")

    async def play(self, table: SimulatedTable | None = None) -> TableStep:
        """Play a round, and publish it."""
        table = table or self.table
        step = table.round(self.draw())
        await self.stage.publish(table, step)
        return step

    async def expect(
        self,
        step: TableStep,
        status: Status = "final",
        table: SimulatedTable | None = None,
        patience: float = 1.0,
    ) -> Observation | None:
        """Wait for the line of the result, correction, void or unresolved round in a step."""
        table, stage = table or self.table, self.stage
        if await stage.until(
            lambda: self._shown(table, step, status) is not None, patience * stage.patience
        ):
            return self._shown(table, step, status)
        event = _decisive(step, status)
        self.fail(
            f"no {status!r} line of {table.name}, session {event['session']}, round "
            f"{event['round']}{_of(event)}"
        )
        return None

    def _shown(self, table: SimulatedTable, step: TableStep, status: Status) -> Observation | None:
        event = _decisive(step, status)
        statuses = (status, "final", "corrected") if self.display and _of(event) else (status,)
        return next(
            (
                line
                for line in self.stage.rounds(table)
                if (line.session, line.round) == (event["session"], event["round"])
                and line.status in statuses
                and ("outcome" not in event or line.outcome == event["outcome"])
            ),
            None,
        )

    async def barrier(self) -> TableStep:
        """Play a round that the program must show."""
        step = await self.play()
        await self.expect(step)
        return step

    async def expect_current(self, *, current: bool, why: str, patience: float = 1.0) -> None:
        """Wait until the program takes the table for current, or not."""
        stage = self.stage
        if not await stage.until(
            lambda: stage.is_current(self.table) == current, patience * stage.patience
        ):
            self.fail(f"{why}, and the table {'is not' if current else 'is still'} current")

    def forbid(self, step: TableStep, status: Status, *statuses: Status, why: str) -> None:
        """Fail if the program printed any of the statuses for the round in a step."""
        event = _decisive(step, status)
        if any(
            (line.session, line.round) == (event["session"], event["round"])
            and line.status in statuses
            for line in self.stage.rounds(self.table)
        ):
            self.fail(why)

    def expect_order(self, *steps: TableStep) -> None:
        """Fail if rounds were not reported in this order."""
        wanted = [(each["session"], each["round"]) for each in map(result_of, steps)]
        found = [
            (line.session, line.round)
            for line in self.stage.rounds(self.table)
            if (line.session, line.round) in wanted
        ]
        if list(dict.fromkeys(found)) != wanted and len(set(found)) == len(wanted):
            self.fail(f"rounds were reported in the order {found}, not {wanted}")
