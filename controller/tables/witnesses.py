"""Second witnesses of a table: what each reports of a round, and whether that agrees with the
result.

A witness never gives a result and delays none: its readings do not reach the game. Its report
belongs to the live round only if it cannot be about an earlier one: not before ``answers_within``
seconds have passed since that one ended. It belongs to the round that ended only if its link has
been open ever since: the clock stops while the machine is suspended.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from common.contract.commands import WitnessReport
from common.contract.event_fields import WITNESS_KEYPAD, Frame, WitnessStatement
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    BetsClosed,
    ResultCorrected,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
    SessionClosed,
    SessionOpened,
    WitnessReported,
)
from common.contract.outcomes import CrapsOutcome
from common.contract.refusals import RejectedError
from common.contract.retained import Alert
from common.readings import DiceRead, LinkLost, Number, WheelCell, WheelNumber
from controller.games.moves import frames_of
from controller.tables.device_links import OUTAGE_REASON, RESTART_REASON
from controller.tables.facts import TableFacts
from controller.tables.witness_memory import (
    WITNESS_DISAGREES,
    WITNESS_SILENT,
    Place,
    WitnessMemory,
)

MAX_SILENT_RESULTS = 20
"""Consecutive results that a witness may leave without a report before an alert is raised."""
MAX_REMEMBERED_ROUNDS = 8
"""Number of latest rounds whose reports are remembered, for a person who decides one of them."""

Witnesses = Mapping[str, float]
"""Witness by device id -> the seconds within which it reports a round that has ended. The people at
the table are :data:`~common.contract.event_fields.WITNESS_KEYPAD`.
"""
Alerts = Mapping[str, Alert | None]


def witness_seconds(devices: Mapping[str, float | None], keypad: float | None) -> Witnesses:
    """Return the witnesses of a table. ``devices``: the seconds of each device, None if it is no
    witness; ``keypad``: those of the people at the table.
    """
    seconds = {**devices, WITNESS_KEYPAD: keypad} if keypad is not None else devices
    return {witness: within for witness, within in seconds.items() if within is not None}


def disagreement_alert(device: str) -> str:
    """Return the id of the alert for a report that differs from a published result."""
    return f"{device}-witness"


def silence_alert(device: str) -> str:
    """Return the id of the alert for a witness that reports nothing for many results."""
    return f"{device}-witness-silent"


def on_witness(
    reading: Any, facts: TableFacts, witnesses: Witnesses, requested: Container[str] = ()
) -> list[AnyEvent]:
    """Handle a reading of any device of the table: evidence, if the device is a second witness.
    Return the events about it. ``requested``: witnesses that are asked about each round by number.
    """
    within, memory = witnesses.get(reading.device), facts.witnessed
    if isinstance(reading, LinkLost) and reading.reason in (RESTART_REASON, OUTAGE_REASON):
        # every device has such a reading; which round a report is about that comes soon
        # afterwards, is unknown
        facts.witnessed = replace(
            memory, ended=0, ended_at=reading.at, previous_at=None, published=None, own_rounds={}
        )
        return []
    if within is None:
        if (
            witnesses
            and not memory.live
            and isinstance(reading, WheelNumber | WheelCell | DiceRead)
        ):
            facts.witnessed = replace(memory, unplayed_at=reading.at)
        return []
    if isinstance(reading, LinkLost):
        facts.witnessed = replace(memory, lost=(*memory.lost, reading.device))
    if not isinstance(reading, WheelNumber | DiceRead) or reading.late:
        return []  # only a live number, or live dice, count
    own_id = _own_id(reading)
    number = (
        round_of(memory, reading.device, reading.at, within)
        if own_id is None or reading.device not in requested
        else named_round(memory, own_id, reading.at, within)
    )
    facts.witnessed, events = on_report(memory, reading, number, facts.alerts)
    return events


def on_person(
    command: WitnessReport, place: Place, facts: TableFacts, witnesses: Witnesses
) -> list[AnyEvent]:
    """Handle the ``place`` that a person reports as a second witness. Raises
    :class:`RejectedError` if it cannot count.
    """
    within, memory = witnesses.get(WITNESS_KEYPAD), facts.witnessed
    if within is None:
        raise RejectedError("witness_keypad_none")
    number = round_of(memory, WITNESS_KEYPAD, command.at, within)
    if number == 0 and command.round == memory.reportable:
        raise RejectedError("witness_not_now", round=command.round, seconds=math.ceil(within))
    if command.round != number:
        raise RejectedError("witness_round_other", round=command.round)
    seen = WitnessStatement(
        device=WITNESS_KEYPAD,
        number=None if isinstance(place, tuple) else place,
        dice=place if isinstance(place, tuple) else None,
    )
    facts.witnessed, events = _note(memory, seen, number, facts.alerts)
    if not events:
        raise RejectedError("witness_same", round=number, seen=_words(place))
    return [
        replace(event, by=command.by, role=command.role)
        if isinstance(event, WitnessReported)
        else event
        for event in events
    ]


def round_of(memory: WitnessMemory, device: str, at: float, within: float) -> int:
    """Return the round that a report of a witness at this time is about; 0: none for certain."""
    if memory.live:
        ends = (memory.ended_at, memory.unplayed_at)
        is_certain = all(end is None or at > end + within for end in ends)
        return memory.live if is_certain else 0
    if memory.ended_at is None or at > memory.ended_at + within or device in memory.lost:
        return 0
    is_certain = memory.previous_at is None or at > memory.previous_at + within
    return memory.ended if is_certain else 0


def named_round(memory: WitnessMemory, name: int, at: float, within: float) -> int:
    """Return the round that an answer names, if it is the live one, or the last one until
    ``within`` seconds after its end; 0: another one. Soon after the session was opened or the
    table resumed, an answer could be about a round of before with that number.
    """
    is_over = memory.ended_at is None or at > memory.ended_at + within
    if name and name == memory.live:
        return name if memory.ended or is_over else 0
    return name if name and name == memory.ended and not is_over else 0


def on_report(
    memory: WitnessMemory, reading: WheelNumber | DiceRead, number: int, alerts: Alerts
) -> tuple[WitnessMemory, list[AnyEvent]]:
    """Handle what a witness reports of round ``number``; 0: it is not certain of which round."""
    device, own_id = reading.device, _own_id(reading)
    if number == 0 or _is_of_another_round(memory, device, own_id, number):
        return memory, []
    seen = WitnessStatement(
        device=device,
        number=reading.number if isinstance(reading, WheelNumber) else None,
        dice=reading.values if isinstance(reading, DiceRead) else None,
    )
    noted, events = _note(memory, seen, number, alerts, frames_of(reading))
    if events:
        own_rounds = _with_own_id(noted.own_rounds, device, own_id, number)
        noted = replace(noted, own_rounds=own_rounds)
    return noted, events


def _note(
    memory: WitnessMemory,
    seen: WitnessStatement,
    number: int,
    alerts: Alerts,
    frames: tuple[Frame, ...] = (),
) -> tuple[WitnessMemory, list[AnyEvent]]:
    """Note what a witness has seen of a round. Return the events: none if it reported the same
    before.
    """
    device = seen.device
    published = memory.published if number == memory.ended else None
    statement = _compared(seen, published)
    reports = memory.reports.get(number, ())
    if any(_place(report) == _place(seen) for report in reports if report.device == device):
        return memory, []
    others = tuple(report for report in reports if report.device != device)
    by_round = {**memory.reports, number: (*others, statement)}
    events: list[AnyEvent] = [
        WitnessReported(
            session=memory.session,
            round=number,
            device=device,
            number=statement.number,
            dice=statement.dice,
            agrees=statement.agrees,
            frames=frames,
        )
    ]
    if alerts.get(silence_alert(device)):
        events.append(AlertCleared(alert=silence_alert(device)))
    if statement.agrees is False:
        events.append(
            AlertRaised(
                alert=disagreement_alert(device),
                what=WITNESS_DISAGREES,
                device=device,
                detail=f"{_words(published)}; {device}: {_words(_place(seen))}",
                rounds=(number,),
            )
        )
    memory = replace(
        memory,
        reports=dict(sorted(by_round.items())[-MAX_REMEMBERED_ROUNDS:]),
        silent={**memory.silent, device: 0},
    )
    return memory, events


def contradicted(memory: WitnessMemory, reading: Any) -> Any:
    """Return a reading of the table's own device with what a witness reported before of the live
    round, if it differs. So the game leaves the round to a person.
    """
    reports = memory.reports.get(memory.live, ()) if memory.live else ()
    if not reports:
        return reading
    if isinstance(reading, WheelCell):  # the game knows the number of the cell
        numbers = tuple(report.number for report in reports if report.number is not None)
        return replace(reading, claimed=numbers)
    if isinstance(reading, WheelNumber) and reading.conflict is None:
        others = (r.number for r in reports if r.number not in (None, reading.number))
        return replace(reading, conflict=next(others, None))
    if isinstance(reading, DiceRead) and reading.conflict is None:
        dice = (r.dice for r in reports if r.dice and sorted(r.dice) != sorted(reading.values))
        return replace(reading, conflict=next(dice, None))
    return reading


def follow(
    events: tuple[AnyEvent, ...], at: float, facts: TableFacts, witnesses: Witnesses
) -> tuple[AnyEvent, ...]:
    """Follow the events of the game in a step at this time. Return them with what each witness has
    reported of the round, and with the alerts that follow.
    """
    if not events:
        return ()
    memory, alerts = facts.witnessed, facts.alerts
    ended = memory.ended
    shown: list[AnyEvent] = []
    for event in events:
        match event:
            case RoundResult() | RoundUnresolved():
                place = _outcome(event)
                statements = _statements(memory, event.round, place, witnesses)
                shown.append(replace(event, witnesses=statements))
                if isinstance(event, RoundResult):
                    memory, raised = _count_silence(memory, statements)
                    shown += raised
                    memory = _ended(memory, event.round, at, place)
                else:
                    memory = _ended(memory, event.round, at, None)
                continue
            case BetsClosed():
                memory = replace(memory, live=event.round, session=event.session)
            case RoundVoid():
                memory = _ended(memory, event.round, at, None)
            case ResultCorrected() if event.round == memory.ended:
                memory = replace(memory, published=_outcome(event))
            case SessionOpened() | SessionClosed():
                memory = WitnessMemory(ended_at=at, session=event.session, silent=memory.silent)
        shown.append(event)
        shown += _settled(event, alerts)
    if memory.ended != ended:
        is_lost = {device: link.state == "lost" for device, link in facts.devices.items()}
        memory = replace(memory, lost=tuple(each for each in witnesses if is_lost.get(each)))
    facts.witnessed = memory
    return tuple(shown)


def _settled(event: AnyEvent, alerts: Alerts) -> Iterable[AnyEvent]:
    """Clear the alerts of disagreements about a round that a person has decided."""
    if isinstance(event, ResultCorrected | RoundVoid):
        for id_, alert in alerts.items():
            if alert and alert.what == WITNESS_DISAGREES and event.round in alert.rounds:
                yield AlertCleared(alert=id_)


def _ended(memory: WitnessMemory, number: int, at: float, published: Place | None) -> WitnessMemory:
    """Note that a round has an outcome now. A round that ended unseen only makes uncertain which
    round a report is about.
    """
    if number == memory.ended:
        return replace(memory, published=published)
    if number < max(memory.live, memory.ended):
        return memory
    if memory.live and number != memory.live:
        return replace(memory, previous_at=at, ended_at=at, ended=0, published=None)
    return replace(
        memory,
        live=0,
        ended=number,
        ended_at=at,
        previous_at=memory.ended_at,
        published=published,
    )


def _own_id(reading: WheelNumber | DiceRead) -> int | None:
    """The number that the device gives the round."""
    return reading.spin if isinstance(reading, WheelNumber) else reading.throw


def _is_of_another_round(
    memory: WitnessMemory, device: str, own_id: int | None, number: int
) -> bool:
    """Whether the witness itself numbers this report as one of an earlier round."""
    own_rounds = memory.own_rounds.get(device, {})
    return own_id is not None and own_rounds.get(own_id, number) != number


def _with_own_id(
    known: dict[str, dict[int, int]], device: str, own_id: int | None, number: int
) -> dict[str, dict[int, int]]:
    """Add the witness's own number of a round to those that are known."""
    if own_id is None:
        return known
    own_rounds = {**known.get(device, {}), own_id: number}
    return {**known, device: dict(list(own_rounds.items())[-MAX_REMEMBERED_ROUNDS:])}


def _statements(
    memory: WitnessMemory, number: int, place: Place | None, witnesses: Witnesses
) -> tuple[WitnessStatement, ...]:
    """What each witness has reported of a round so far, beside its result or candidate."""
    known = {report.device: report for report in memory.reports.get(number, ())}
    return tuple(
        _compared(known.get(device, WitnessStatement(device=device)), place) for device in witnesses
    )


def _count_silence(
    memory: WitnessMemory, statements: Iterable[WitnessStatement]
) -> tuple[WitnessMemory, list[AnyEvent]]:
    silent = dict(memory.silent)
    raised: list[AnyEvent] = []
    for statement in statements:
        device, count = statement.device, silent.get(statement.device, 0)
        if _place(statement) is not None or count >= MAX_SILENT_RESULTS:
            continue
        silent[device] = count + 1
        if silent[device] == MAX_SILENT_RESULTS:
            raised.append(
                AlertRaised(
                    alert=silence_alert(device),
                    what=WITNESS_SILENT,
                    severity="warning",
                    device=device,
                )
            )
    return replace(memory, silent=silent), raised


def _compared(statement: WitnessStatement, place: Place | None) -> WitnessStatement:
    own = _place(statement)
    return replace(statement, agrees=None if None in (own, place) else own == place)


def _place(statement: WitnessStatement) -> Place | None:
    return statement.number if statement.dice is None else tuple(sorted(statement.dice))


def _outcome(event: RoundResult | ResultCorrected | RoundUnresolved) -> Place | None:
    """The published number or dice, or those that were seen."""
    if isinstance(event, RoundUnresolved):
        return event.candidate if event.dice is None else tuple(sorted(event.dice))
    if isinstance(event.outcome, CrapsOutcome):
        return tuple(sorted(event.outcome.dice))
    place: Number | None = getattr(event.outcome, "number", None)
    return place


def _words(place: Place | None) -> str:
    return " ".join(map(str, place)) if isinstance(place, tuple) else str(place)
