"""Evenings of a roulette as the archive keeps them: events of the contract, with the wheel's own
lines as evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import msgspec

from common.contract.events import (
    AnyEvent,
    BetsClosed,
    Frame,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundVoid,
    SessionClosed,
    SessionOpened,
    StaffArrived,
)
from common.contract.outcomes import RouletteOutcome
from common.contract.times import format_utc
from subscribers.statistics.cylinder import EUROPEAN
from subscribers.surveillance.archive import ArchiveRecord

BEGIN = 1_790_000_000.0
EVENING = 200
"""Spins of one."""
DEALERS = ("A. Romero", "B. Ferrer")


def record(
    event: AnyEvent | bytes,
    seq: int,
    seconds: float,
    *,
    table: str = "R1",
    boot: str = "b1",
) -> ArchiveRecord:
    """An event in its envelope, that number of seconds after the first."""
    body: dict[str, Any] = msgspec.json.decode(
        event if isinstance(event, bytes) else msgspec.json.encode(event)
    )
    body |= {"site": "madrid-1", "table": table, "boot": boot, "seq": seq}
    body |= {"time": format_utc(BEGIN + seconds), "mono_ns": int(seconds * 1e9)}
    return ArchiveRecord(
        site="madrid-1",
        kind="event",
        key=f"{table}:{boot}:{seq}",
        time=body["time"],
        received=body["time"],
        body=msgspec.json.encode(body),
        table=table,
        boot=boot,
        seq=seq,
        type=body["type"],
        session=body.get("session", 0),
        round=body.get("round", 0),
    )


def outcome(number: int) -> RouletteOutcome:
    """The outcome of a number, as far as the test needs it."""
    return RouletteOutcome(
        number=number,
        colour=None,
        parity=None,
        half=None,
        dozen=None,
        column=None,
        zeros=0,
        last_of_session=False,
    )


def spun(
    number: int, session: int, turn: int, seconds: float, rest: float, rpm: float
) -> Iterator[tuple[float, AnyEvent]]:
    """The events of one spin, and when each happens."""
    side = turn % 2
    line = f"*X;{{}};{turn % 256 + 1:03d};{number:2d};0;{round(rpm * 10):03d};{side}"
    at = (seconds, seconds + 10, seconds + 10 + rest / 2, seconds + 10 + rest)
    frames = tuple(
        Frame(at=when, frame=line.format(state), device="wheel")
        for when, state in zip(at, (2, 3, 4, 5), strict=True)
    )
    numbers: dict[str, Any] = {"session": session, "round": turn + 1}
    yield at[0], RoundOpened(**numbers)
    yield at[2], BetsClosed(**numbers)
    yield at[3], RoundResult(outcome=outcome(number), frames=frames, **numbers)


def evenings(
    places: Sequence[int], *, seed: int = 1, rest: Sequence[float] = (20.0,), **of: Any
) -> list[ArchiveRecord]:
    """Spins that end at these places of the wheel, 200 an evening, of two dealers in turn; every
    fiftieth round is void. ``rest``: the mean seconds of spins, one for each evening.
    """
    random, records, seq = Random(seed), [], 0

    def say(at: float, event: AnyEvent) -> None:
        nonlocal seq
        seq += 1
        records.append(record(event, seq, at, **of))

    for begin in range(0, len(places), EVENING):
        session = begin // EVENING + 1
        seconds = session * 86_400.0
        mean = rest[min(session, len(rest)) - 1]
        say(seconds, SessionOpened(by="M. Gil", role="table_head", session=session))
        for turn, place in enumerate(places[begin : begin + EVENING]):
            if turn % 100 == 0:
                dealer = DEALERS[turn // 100 % 2]
                arrived = StaffArrived(
                    person=dealer, duty="croupier", by=dealer, role="croupier", session=session
                )
                say(seconds, arrived)
            if turn % 50 == 49:
                void = RoundVoid(
                    reason="ball_out",
                    law="ARA02-016",
                    article="art. 16",
                    last_number=None,
                    session=session,
                    round=turn + 1,
                )
                say(seconds + 1, void)
            took, rpm = random.gauss(mean, 2.0), random.gauss(25.0, 1.0)
            for at, event in spun(EUROPEAN[place], session, turn, seconds + 5, took, rpm):  # type: ignore[arg-type]
                say(at, event)
            seconds += 45
        say(seconds, SessionClosed(by="M. Gil", role="table_head", session=session))
    return records


def correction(records: list[ArchiveRecord], of: int, number: int) -> ArchiveRecord:
    """A person corrects the result that is the record number ``of``."""
    was = records[of]
    event = ResultCorrected(
        replaces=was.seq,
        replaces_boot=was.boot,
        outcome=outcome(number),
        by="M. Gil",
        role="table_head",
        session=was.session,
        round=was.round,
    )
    return record(event, records[-1].seq + 1, 10_000_000.0)
