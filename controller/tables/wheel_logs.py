"""The spins at a table since its wheel's own log was last read, and their comparison with it.

Spins are followed only after a first reading of the log, which gives the place to count from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    ResultCorrected,
    RouletteOutcome,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
    WheelDifference,
    WheelLogObstacle,
    WheelReconciled,
    WheelUnreconciled,
)
from common.contract.notation import Input
from common.contract.retained import Alert
from common.readings import JournalRestore, Number, WheelLog, WheelNumber
from controller.tables.log_alignment import LogDifference, LoggedSpin, align

MAX_SPINS = 1024
"""Maximum spins that are followed between two readings of the log: more than a day of play."""
TAIL_ENTRIES = 16
"""Last entries of the log that the next reading must have in the same place."""
MAX_DETAIL_CHARACTERS = 200


class WheelLedger(msgspec.Struct, frozen=True, omit_defaults=True):
    """The spins of one wheel since its log was read. ``entries``: those in the log then; ``tail``:
    the last of them; ``through``: the session and the last round with an outcome then;
    ``obstacle``: why the spins are incomplete.
    """

    entries: int
    tail: tuple[Number | None, ...]
    through: tuple[int, int] = (0, 0)
    spins: tuple[LoggedSpin, ...] = ()
    obstacle: WheelLogObstacle | None = None


WheelLedgers = Mapping[str, WheelLedger]
RoundOutcome = RoundResult | ResultCorrected | RoundVoid | RoundUnresolved


def log_alert(device: str) -> str:
    """Return the id of the alert that the log of a wheel differs from the journal."""
    return f"{device}-log"


# Following the spins


def follow(
    ledgers: WheelLedgers, item: Input, events: Iterable[AnyEvent], session: int
) -> WheelLedgers:
    """Return the ledgers after an input and the events of the game. ``session``: the open one, 0
    if none is.
    """
    if not ledgers:
        return ledgers
    outcomes: list[RoundOutcome] = [event for event in events if isinstance(event, RoundOutcome)]
    if isinstance(item, JournalRestore):
        return {name: replace(each, obstacle="restored") for name, each in ledgers.items()}
    if not outcomes and not isinstance(item, WheelNumber):
        return ledgers
    followed: dict[str, WheelLedger] = {}
    for device, ledger in ledgers.items():
        spins = [*ledger.spins]
        if isinstance(item, WheelNumber) and item.device == device and not _is_repeat(item, ledger):
            _add_number(spins, LoggedSpin(item.number, session, count=item.spin))
        for event in outcomes:
            if (event.session, event.round) > ledger.through:  # others were compared before
                _add_outcome(spins, event)
        obstacle = ledger.obstacle
        if len(spins) > MAX_SPINS:
            spins, obstacle = spins[-MAX_SPINS:], obstacle or "too_many"
        followed[device] = replace(ledger, spins=tuple(spins), obstacle=obstacle)
    return followed


def _is_repeat(reading: WheelNumber, ledger: WheelLedger) -> bool:
    """Whether a late number is the last one once more, as after a restart of the daemon."""
    return (
        reading.late
        and bool(ledger.spins)
        and ledger.spins[-1].count == reading.spin
        and ledger.spins[-1].number == reading.number
    )


def _add_number(spins: list[LoggedSpin], spin: LoggedSpin) -> None:
    """Add a number that the wheel showed: to the void round of the same spin, or as a spin."""
    last = spins[-1] if spins else None
    if (
        last is not None
        and last.is_void
        and last.number is None
        and last.session == spin.session
        and last.count == spin.count is not None
    ):
        spins[-1] = replace(last, number=spin.number)
    else:
        spins.append(spin)


def _add_outcome(spins: list[LoggedSpin], event: RoundOutcome) -> None:
    """Add the outcome of a round: to its spin, to the number that was shown for it, or as a spin
    without one.
    """
    number: Number | None = None
    count = None if isinstance(event, ResultCorrected) else event.spin
    if isinstance(event, RoundResult | ResultCorrected):
        if not isinstance(event.outcome, RouletteOutcome):
            return
        number = event.outcome.number
    elif isinstance(event, RoundUnresolved):
        number = event.candidate
    is_void = isinstance(event, RoundVoid)
    outcome = LoggedSpin(number, event.session, event.round, is_void, count)
    for index in range(len(spins) - 1, -1, -1):
        if (spins[index].session, spins[index].round) == (event.session, event.round):
            known = spins[index]
            spins[index] = replace(
                outcome,
                number=known.number if number is None else number,
                count=count or known.count,
            )
            return
    last = spins[-1] if spins else None
    shown = last is not None and not last.round and last.session == event.session
    if shown and last is not None and (is_void or last.number == number):
        spins[-1] = replace(outcome, number=last.number, count=last.count or count)
    else:
        spins.append(outcome)


# The comparison


def on_log(
    log: WheelLog,
    ledgers: WheelLedgers,
    alerts: Mapping[str, Alert | None],
    settled: tuple[int, int],
) -> tuple[WheelLedgers, list[AnyEvent]]:
    """Process a reading of the log. Return the new ledgers and the events. ``settled``: the session
    and its last round with an outcome.
    """
    device, ledger = log.device, ledgers.get(log.device)
    spins = () if ledger is None else ledger.spins
    if log.problem is not None:
        return ledgers, [WheelUnreconciled(device=device, why=log.problem, spins=len(spins))]
    after = {**ledgers, device: _begun(log, settled)}
    if ledger is None:
        return after, [WheelUnreconciled(device=device, why="first", spins=0)]
    if (why := _obstacle(log, ledger)) is not None:
        events: list[AnyEvent] = [WheelUnreconciled(device=device, why=why, spins=len(spins))]
        if why in ("cleared", "rewritten"):
            events.append(_raised(device, f"the log was {why}"))
        return after, events
    new = log.entries[ledger.entries - log.first :]
    numbers = tuple(number for number in new if number is not None)
    differences = align(numbers, spins)
    if not differences:
        failed = len(new) - len(numbers)
        return after, [WheelReconciled(device=device, spins=len(numbers), failed=failed)]
    events = [_difference(device, each) for each in differences]
    if detail := "; ".join(_describe(each) for each in differences if each.what != "unresolved"):
        raised = alerts.get(log_alert(device))
        if raised is None or raised.detail != detail:
            events.append(_raised(device, detail[:MAX_DETAIL_CHARACTERS]))
    return after, events


def cleared_by_service(device: str, alerts: Mapping[str, Alert | None]) -> Iterable[AnyEvent]:
    """Clear the alert about the log of a wheel that was worked on."""
    if alerts.get(log_alert(device)) is not None:
        yield AlertCleared(alert=log_alert(device))


def _begun(log: WheelLog, settled: tuple[int, int]) -> WheelLedger:
    """Return the ledger of spins after this reading."""
    return WheelLedger(log.first + len(log.entries), log.entries[-TAIL_ENTRIES:], settled)


def _obstacle(log: WheelLog, ledger: WheelLedger) -> WheelLogObstacle | None:
    """Return why the log cannot be compared with the spins; None if it can."""
    if log.first + len(log.entries) < ledger.entries:
        return "cleared"
    if log.first > ledger.entries:
        return "too_old"
    begin = ledger.entries - len(ledger.tail)
    there = log.entries[max(0, begin - log.first) : ledger.entries - log.first]
    if there != ledger.tail[len(ledger.tail) - len(there) :]:
        return "rewritten"
    return ledger.obstacle


def _difference(device: str, found: LogDifference) -> WheelDifference:
    of_rounds = [spin for spin in found.spins if spin.round]
    around = [*of_rounds, *([found.after] if found.after is not None else [])]
    session = around[0].session if around else 0
    after = found.after
    return WheelDifference(
        device=device,
        session=session,
        what=found.what,
        wheel=found.wheel,
        journal=tuple(spin.number for spin in found.spins),
        rounds=tuple(spin.round for spin in of_rounds if spin.session == session),
        after=after.round if after and after.round and after.session == session else None,
    )


def _raised(device: str, detail: str) -> AlertRaised:
    return AlertRaised(
        alert=log_alert(device),
        what="wheel.log_differs",
        severity="warning",
        device=device,
        detail=detail,
    )


def _describe(found: LogDifference) -> str:
    """Describe a difference, for a person: ``missing_in_journal after round 4: 17 8``."""
    rounds = _listed([spin.round for spin in found.spins if spin.round])
    where = f" round {rounds}" if rounds else ""
    if not where and found.after is not None and found.after.round:
        where = f" after round {found.after.round}"
    return f"{found.what}{where}: {_listed(found.wheel) or 'nothing'} in the log"


def _listed(values: Sequence[Number]) -> str:
    return " ".join(map(str, values))
