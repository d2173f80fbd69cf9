"""The part ``asked``: the daemon may send commands to the wheels of the kind ``cammegh-ss2``, so it
asks them for their parameters and their log. Each is stopped now and then, since it is asked only
while it stands still.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextvars import Context
from random import Random
from typing import TYPE_CHECKING, Any

from common.chain.schema import Entry
from controller.tables.parameters import limit_alert
from simulators.wheel.cammegh_ss2 import SlingshotSS2
from tests.world.bodies import decoded
from tests.world.checkers import Final, Key, require
from tests.world.liveness import Calm
from tests.world.wheels.wheel import Wheel

if TYPE_CHECKING:
    from tests.world.world import World

PART, KIND, DEVICE = "asked", "cammegh-ss2", "wheel"
PLAYS_SECONDS, STANDS_SECONDS = 130.0, 80.0
"""How long a wheel plays, and then stands still: long enough to ask it for everything at pace 4."""
MAX_SPEED_CHANGE = 20000.0
"""What a person sets by mistake, as in the public dump of one wheel."""
FOLLOWS = {
    "device.parameter",
    "wheel.reconciled",
    "wheel.difference",
    "wheel.unreconciled",
    "alert.raised",
    "alert.cleared",
}
"""Events that may follow from what a wheel answers."""
BEGINS_AGAIN = {"first", "cleared", "rewritten", "too_old", "too_many", "restored"}
"""Why spins until now are never compared."""


def join(world: World) -> None:
    """Let these wheels be asked."""
    logs: dict[str, WheelLogs] = {}
    for table, wheel in world.wheels.items():
        if wheel.protocol == KIND:
            world.tables[table] += "commands = true\n"
            logs[table] = WheelLogs(world, wheel)
    world.extras[PART] = logs
    world.checkers.append(AnswersAreTrue(logs, world.calm))


class WheelLogs:
    """Stops a wheel now and then, and knows what its log and its parameters have been. ``epochs``:
    its results since each time that the log was erased.
    """

    def __init__(self, world: World, wheel: Wheel) -> None:
        assert isinstance(wheel.model, SlingshotSS2)
        self._world, self._wheel, self.model = world, wheel, wheel.model
        self.epochs: list[list[int]] = [[]]
        self.speed_changes = {self.model.parameters["m"]}
        wheel.on_shown.append(self._on_shown)
        self._later(PLAYS_SECONDS, self._stop)

    def erase(self) -> None:
        """Erase the log of the wheel, unless it is almost empty."""
        if len(self.model.wins) > 2:  # else its next result would seem to be the last one
            self.model.wins.clear()
            self.epochs.append([])

    def set_speed_change(self, value: float) -> None:
        """Set the parameter ``m``."""
        self._wheel.fault("parameter", value)
        self.speed_changes.add(self.model.parameters["m"])

    def _on_shown(self, _: object) -> None:
        self.epochs[-1].append(self.model.wins[-1])

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._world.loop.call_later(seconds, act, context=Context())

    def _stop(self) -> None:
        """Let it stop between two games."""
        if self.model.state not in {1, 2}:
            self._later(1.0, self._stop)
            return
        self.model._run_until(self._world.loop.now)
        self.model.attended = False
        self.model.play(self.model.stopping)
        self._wheel.wake()
        self._later(STANDS_SECONDS, self._start)

    def _start(self) -> None:
        self.model._run_until(self._world.loop.now)
        self.model.attended = True
        self.model.play(lambda: self.model._idle(1.0))
        self._wheel.wake()
        self._later(PLAYS_SECONDS, self._stop)


class _Table:
    """What is known of a table since the log of its wheel was last read. ``begun``: the epoch, and
    how many results it had then; None if that is not known.
    """

    def __init__(self) -> None:
        self.input: dict[str, Any] = {}
        self.begun: tuple[int, int] | None = None
        self.is_compared = False
        """Whether the last input was a log from which the next one counts on."""
        self.numbers: list[int] = []
        self.without_number = 0
        self.alerts: set[str] = set()
        self.wrong: bool | None = None
        """Whether the parameter ``m`` was outside its limits when it was last read."""


class AnswersAreTrue(Final):
    """What the journal has of a wheel's parameters and log is what the wheel has. A difference is
    reported only if there can be one, and a log is reconciled only if each result has its spin in
    the journal. No round follows from an answer. A wrong parameter has an alert.
    """

    def __init__(self, logs: dict[str, WheelLogs], calm: Calm) -> None:
        self._logs, self._calm = logs, calm
        self._is_read: set[str] = set()
        """Tables whose log was read since the last fault."""
        self._tables = {table: _Table() for table in logs}
        self._seen: set[Key] = set()
        self.counts: Counter[str] = Counter()

    def on_lost(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        del owner
        for entry in entries:
            if (known := self._tables.get(entry.table)) is not None:
                known.begun, known.wrong = None, None
                known.alerts.clear()

    def on_entries(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        del owner
        for entry in entries:
            if (known := self._tables.get(entry.table)) is None:
                continue
            if entry.kind == "input":
                self._on_input(entry.table, known, decoded(entry.body))
            elif entry.kind == "event" and (entry.table, entry.boot, entry.seq) not in self._seen:
                self._seen.add((entry.table, entry.boot, entry.seq))
                self._on_event(entry.table, known, decoded(entry.body))

    def on_tick(self, now: float) -> None:
        """See :class:`Checker`."""
        if not self._calm.includes(now):
            self._is_read.clear()

    def is_settled(self) -> bool:
        """See :class:`Checker`: each wheel was asked since the last fault."""
        return self._is_read >= self._logs.keys() and super().is_settled()

    def on_end(self) -> None:
        """See :class:`Checker`."""
        for table, known in self._tables.items():
            wrong = float(self._logs[table].model.parameters["m"]) == MAX_SPEED_CHANGE
            require(known.wrong in {wrong, None}, "a parameter was not read again", table)
            self._check_alert(table, known)

    def _on_input(self, table: str, known: _Table, body: dict[str, Any]) -> None:
        self._check_alert(table, known)
        if known.is_compared:  # all differences of one log follow from one input
            known.is_compared = False
            known.begun = self._place(table, known.input.get("entries", []))
            known.numbers, known.without_number = [], 0
        known.input = body
        if body.get("device") != DEVICE:
            return
        if body["type"] == "wheel.number":
            known.numbers.append(body["number"])
        elif body["type"] == "device.parameter" and body["parameter"] == "m":
            self.counts["m"] += 1
            if (value := body.get("value")) is not None:
                values = self._logs[table].speed_changes
                require(value in values, "a parameter that the wheel never had", body, values)
                known.wrong = float(value) == MAX_SPEED_CHANGE
        elif body["type"] == "wheel.log" and body.get("problem") is None:
            self._on_log(table, body)

    def _on_log(self, table: str, body: dict[str, Any]) -> None:
        self._is_read.add(table)
        place = self._place(table, body.get("entries", []))
        is_true = body.get("first", 0) == 0 and place is not None
        require(is_true, "a log that the wheel never had", body, self._logs[table].epochs)

    def _place(self, table: str, entries: list[int]) -> tuple[int, int] | None:
        """Return the last epoch that began with these results, and their number."""
        epochs = self._logs[table].epochs
        fits = [at for at, wins in enumerate(epochs) if wins[: len(entries)] == entries]
        return (fits[-1], len(entries)) if fits else None

    def _on_event(self, table: str, known: _Table, event: dict[str, Any]) -> None:
        kind, given = event["type"], known.input["type"]
        if given in {"device.parameter", "wheel.log"}:
            require(kind in FOLLOWS, "an answer of the wheel has changed the game", event)
        match kind:
            case "alert.raised":
                known.alerts.add(event["alert"])
            case "alert.cleared":
                known.alerts.discard(event["alert"])
            case "round.unresolved" | "round.void" | "result.corrected":
                known.without_number += 1
            case "wheel.reconciled" | "wheel.difference" | "wheel.unreconciled":
                self.counts[f"{kind} {event.get('why') or event.get('what') or ''}".strip()] += 1
                self._compare(table, known, event)

    def _compare(self, table: str, known: _Table, event: dict[str, Any]) -> None:
        """Look at a comparison of log and journal."""
        epochs, begun = self._logs[table].epochs, known.begun
        why = event.get("why")
        if why in {"cleared", "rewritten"} and begun is not None:
            require(len(epochs) > begun[0] + 1, "a log counts as erased and is not", event)
        if begun is not None and why is None:
            epoch, first = begun
            shown = epochs[epoch][first : len(known.input.get("entries", []))]
            missing = Counter(shown) - Counter(known.numbers)
            if event["type"] == "wheel.reconciled":
                require(event["spins"] == len(shown), "other spins are reconciled", event, shown)
                hidden = missing.total() > known.without_number
                require(not hidden, "a spin that no round has is reconciled", event, shown)
            else:
                clean = shown == known.numbers and not known.without_number
                require(not clean, "a difference that does not exist", event, shown)
                extra = [number for number in event.get("wheel", []) if number not in shown]
                require(not extra, "a difference with what the wheel has not shown", event, shown)
        known.is_compared = why is None or why in BEGINS_AGAIN

    def _check_alert(self, table: str, known: _Table) -> None:
        if known.wrong is not None:
            raised = limit_alert(DEVICE) in known.alerts
            require(raised == known.wrong, "a wrong parameter and its alert differ", table, raised)


def _logs(world: World) -> list[WheelLogs]:
    found: dict[str, WheelLogs] = world.extras[PART]  # type: ignore[assignment]
    return list(found.values())


def _nothing() -> None:
    """Do nothing at the end of a fault that ends by itself."""


def _set_parameter(world: World, random: Random) -> Callable[[], None]:
    if logs := _logs(world):
        random.choice(logs).set_speed_change(random.choice((MAX_SPEED_CHANGE, 2.0)))
    return _nothing


def _erase_log(world: World, random: Random) -> Callable[[], None]:
    if logs := _logs(world):
        random.choice(logs).erase()
    return _nothing


FAULTS = {"wheel's parameter set": _set_parameter, "wheel's log erased": _erase_log}
"""Name of each fault, and what begins it."""
