"""What must hold of second witnesses: they never give or delay a result, a disagreement before the
result asks a person, and each report counts for the round in whose time it came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from common.chain.schema import Entry
from tests.world.bodies import decoded
from tests.world.checkers import Immediate, Key, require
from tests.world.wheels.wheel import Wheel
from tests.world.witnesses.eye import Eye, Report

MAIN = "wheel"
"""The id of the device that gives the results."""
ALLOWED = {"witness.reported", "alert.raised", "alert.cleared", "device.state", "device.report"}
"""Events that may follow from a reading of a witness."""
GAPS = {"restart", "the journal could not be written"}
"""Reasons for which all devices count as lost: what came meanwhile is unknown."""

Eyes = Mapping[tuple[str, str], Eye]


class Step(NamedTuple):
    """One event, and the input that led to it."""

    table: str
    input: dict[str, Any]
    event: dict[str, Any]


class Steps(Immediate):
    """Follows the inputs of the tables with witnesses, and the events of each. ``eyes``: the
    witnesses by table and device.
    """

    def __init__(self, eyes: Eyes) -> None:
        self.eyes = eyes
        self._tables = {table for table, _ in eyes}
        self._inputs: dict[str, dict[str, Any]] = {}
        self._seen: set[Key] = set()

    def on_entries(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        del owner
        for entry in entries:
            if entry.table not in self._tables:
                continue
            key = entry.table, entry.boot, entry.seq
            if entry.kind == "input":
                body = self._inputs[entry.table] = decoded(entry.body)
                self.on_input(entry.table, body)
            elif entry.kind == "event" and key not in self._seen:  # else its commit had failed
                self._seen.add(key)
                self.on_event(Step(entry.table, self._inputs[entry.table], decoded(entry.body)))

    def on_input(self, table: str, body: dict[str, Any]) -> None:
        """A table has an input."""

    def on_event(self, step: Step) -> None:
        """An event follows from the last input of its table."""

    def is_witness(self, step: Step) -> bool:
        """Return whether the input is a reading of a witness."""
        return (step.table, step.input.get("device", "")) in self.eyes


class GameUntouched(Steps):
    """What a witness reports changes no round by itself: no event of the game follows from it. A
    result follows from the table's own device or from a person.
    """

    def on_event(self, step: Step) -> None:
        """See :class:`Steps`."""
        kind, event = step.event["type"], step.event
        if self.is_witness(step) and step.input.get("reason") not in GAPS:
            require(kind in ALLOWED, "a witness has changed the game", step)
        if kind == "round.result" and "confirmed_by" not in event:
            given_by = step.input.get("device")
            require(given_by == MAIN, "a result that the wheel has not given", step)
            frames = {frame["device"] for frame in event["frames"]}
            require(frames <= {MAIN}, "a result with evidence of a witness", step)


class _Round:
    """What is known of a table. ``closed_at``: when the bets of the round in play were closed, None
    before; ``ended_at``: when the last round ended; ``unsure_at``: since when the inputs have no
    gap. All by the clock of the daemon.
    """

    def __init__(self) -> None:
        self.closed_at: float | None = None
        self.ended_at = self.unsure_at = 0.0
        self.live: dict[str, dict[str, Any]] = {}
        """By witness, its last report that counts for the round in play."""
        self.noted: dict[str, tuple[int, int, int]] = {}
        """By witness, the last report that an event has: session, round and number."""
        self.own: dict[tuple[str, int], int] = {}
        """By witness and its own number of a round, the round."""


class RightRound(Steps):
    """A result comes only if no witness contradicts it, and a round is left to a person only if one
    does. Each report that an event has is of the spin of its round, if it came in time. ``within``:
    ``answers_within`` of all witnesses; ``clock``: the monotonic clock of the daemon's machine.
    """

    def __init__(
        self,
        wheels: Mapping[str, Wheel],
        eyes: Eyes,
        within: float,
        clock: Callable[[], float],
    ) -> None:
        super().__init__(eyes)
        self._wheels, self._within, self._clock = wheels, within, clock
        self._rounds = {table: _Round() for table, _ in eyes}
        self._spins: dict[str, list[int]] = {}
        """By table, the spins that the last result can be of."""
        self._shown: dict[str, list[float]] = {}
        """By table, when its wheel showed each number, by the clock of the daemon."""
        for table in self._rounds:
            shown = self._shown[table] = []
            wheels[table].on_shown.append(partial(self._on_shown, shown))
        self._late: dict[str, float] = {}
        """By table, when the last report came that was later than a witness may be."""

    def _on_shown(self, times: list[float], _: object) -> None:
        times.append(self._clock())

    def on_input(self, table: str, body: dict[str, Any]) -> None:
        """See :class:`Steps`."""
        known = self._rounds[table]
        if body["type"] == "link.lost" and body["reason"] in GAPS:
            known.unsure_at = body["at"]
            known.own.clear()
        device = body.get("device", "")
        if device == MAIN and body["type"] == "wheel.number" and known.closed_at is None:
            known.unsure_at = body["at"]  # a spin without a round
        if (table, device) not in self.eyes:
            return
        if body["type"] != "wheel.number" or body.get("late"):
            return
        at = body["at"]
        if (report := self._report(table, device, body)) is not None:
            shown = self._shown[table][report.spin]
            is_known = (device, report.spin + 1) in known.own
            if (report.is_old and not is_known) or at - shown > self._within:
                self._late[table] = at
        is_of_this_round = known.closed_at is not None and known.closed_at < at
        if is_of_this_round and at > max(known.ended_at, known.unsure_at) + self._within:
            known.live[device] = body

    def on_event(self, step: Step) -> None:
        """See :class:`Steps`."""
        known, event = self._rounds[step.table], step.event
        match event["type"]:
            case "bets.closed":
                known.closed_at = step.input["at"]
                known.live.clear()
            case "witness.reported":
                require(not step.input.get("late"), "a late reading of a witness counts", step)
                self._on_noted(known, step)
                if "agrees" in event:
                    self._check(step.table, event, step)
            case "round.result" if "confirmed_by" not in event:
                self._on_result(known, step)
            case "round.unresolved" if event["why"] == "witnesses_disagree":
                others = {body["number"] for body in known.live.values()}
                contradicted = bool(others - {event.get("candidate")})
                require(
                    contradicted or step.input.get("conflict") is not None,
                    "a round is left to a person, and no witness contradicts",
                    step,
                )
        if event["type"] in {"round.result", "round.unresolved", "round.void", "session.closed"}:
            known.closed_at, known.ended_at = None, step.input["at"]
            known.live.clear()
        if event["type"] in {"session.opened", "session.closed"}:
            known.own.clear()

    def _on_noted(self, known: _Round, step: Step) -> None:
        event, device = step.event, step.event["device"]
        noted = event["session"], event["round"], event["number"]
        require(known.noted.get(device) != noted, "a report is noted twice", step)
        known.noted[device] = noted
        if (own := step.input.get("spin")) is not None:
            of = known.own.setdefault((device, own), event["round"])
            require(of == event["round"], "a report counts for two rounds", of, step)

    def _on_result(self, known: _Round, step: Step) -> None:
        number = step.event["outcome"]["number"]
        played, last = self._wheels[step.table].played, self._spins.get(step.table, [-1])[0]
        self._spins[step.table] = [
            spin
            for spin in range(last + 1, len(played))
            if played[spin].is_of(step.event.get("spin"), number)
        ]
        statements = {each["device"]: each for each in step.event.get("witnesses", ())}
        devices = {device for table, device in self.eyes if table == step.table}
        require(statements.keys() == devices, "a result without its witnesses", step)
        for device, statement in statements.items():
            require(statement.get("agrees") is not False, "a result that is contradicted", step)
            if "number" in statement:
                self._check(step.table, statement, step)
            report = known.live.get(device)
            if report is not None and step.input["at"] > self._late.get(step.table, 0.0) + 60.0:
                require(report["number"] == number, "a disagreement does not ask a person", step)
                require("number" in statement, "an agreement is not noted", step)

    def _check(self, table: str, noted: dict[str, Any], step: Step) -> None:
        """A number of a witness that is noted is one that it has reported of this spin."""
        if step.input["at"] <= self._late.get(table, -self._within) + self._within:
            return  # nothing shows of which round a report is that comes later than it may
        reports = self.eyes[table, noted["device"]].reports
        spins = self._spins.get(table, [])
        of_it = {report.number for report in reports if report.spin in spins}
        require(noted["number"] in of_it, "a report counts for another round", step, reports[-3:])

    def _report(self, table: str, device: str, body: dict[str, Any]) -> Report | None:
        """Return the report that a reading is of: the last one with its number."""
        for report in reversed(self.eyes[table, device].reports):
            own = report.spin + 1
            if report.number == body["number"] and body.get("spin", own) == own:
                return report
        return None


class Counted(Immediate):
    """Counts what is noted of witnesses, for tests that must know that anything was."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def on_entries(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        del owner
        for entry in entries:
            if entry.kind != "event" or b"witness" not in entry.body:
                continue
            body = decoded(entry.body)
            if body["type"] == "round.result":
                self.counts.update(
                    "agrees" if each.get("agrees") else "silent" for each in body["witnesses"]
                )
            elif body["type"] == "witness.reported" and "agrees" in body:
                self.counts["agrees later" if body["agrees"] else "disagrees later"] += 1
            elif body.get("why") == "witnesses_disagree":
                self.counts["asks"] += 1
