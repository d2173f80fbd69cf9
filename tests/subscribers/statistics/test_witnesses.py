"""How often second witnesses agree: the events of a played table against an independent count."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from common.contract.commands import (
    BetsClose,
    BetsOpen,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionOpen,
    WitnessReport,
)
from common.contract.notation import Input
from common.contract.retained import About
from common.readings import WheelNumber
from controller.games.games import make_game
from controller.tables.table import Table
from subscribers.statistics import __main__ as program
from subscribers.statistics.witnesses import WitnessAgreement, WitnessStatistics
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.surveillance.open_archive import open_archive
from tests.support.subscribers.evenings import record

HEAD: dict[str, Any] = {"by": "M. Lasa", "role": "table_head"}
ROUND_SECONDS = 100
KINDS = (
    "agreed_before",
    "agreed_after",
    "disagreed_before",
    "disagreed_after",
    "silent",
    "corrected",
    "decided",
    "void",
    "changed",
)


def number(at: float, value: int, device: str = "wheel", **fields: Any) -> WheelNumber:
    return WheelNumber(at=at, device=device, number=value, frame=f"number {value}", **fields)


def played(kind: str, at: float, round_: int, witness: str) -> list[Input]:
    """Return the inputs of a round of this kind, whose bets are closed at this time."""

    def report(after: float, value: int) -> Input:
        if witness == "keypad":
            return WitnessReport(at=at + after, round=round_, number=value, **HEAD)
        return number(at + after, value, witness)

    result, person = number(at + 5, 17), {"at": at + 40, "round": round_, **HEAD}
    inputs: dict[str, list[Input]] = {
        "agreed_before": [report(4, 17), result],
        "agreed_after": [result, report(6, 17)],
        "disagreed_before": [report(4, 20), result, RoundConfirm(number=17, **person)],
        "disagreed_after": [result, report(6, 20)],
        "silent": [result],
        "corrected": [result, report(6, 20), ResultCorrect(number=20, **person)],
        "decided": [
            report(4, 17),
            number(at + 5, 17, conflict=3),
            RoundConfirm(number=17, **person),
        ],
        "void": [report(4, 17), RoundVoid(reason="ball_out", **person)],
        "changed": [report(4, 17), result, report(6, 21)],
    }
    opening: list[Input] = [BetsOpen(at=at - 1, **HEAD), BetsClose(at=at, **HEAD)]
    return opening + inputs[kind]


def evening(kinds: list[str], witness: str) -> list[ArchiveRecord]:
    """Return the records of a table at which rounds of these kinds were played."""
    table = Table(
        "madrid-1",
        "R1",
        "roulette-french",
        "ARA02",
        make_game("roulette-french", "ARA02", {"phases": "person"}),
        "b1",
        about=About(devices={"wheel": "driver", "camera": "driver"}),
        witnesses={witness: 10.0},
    )
    inputs: list[Input] = [SessionOpen(at=1.0, minimum=500, currency="EUR", **HEAD)]
    for index, kind in enumerate(kinds, 1):
        inputs += played(kind, float(ROUND_SECONDS * index), index, witness)
    events = [
        (event, each.at)
        for each in inputs
        for event in table.handle(each, f"time {each.at}", round(each.at * 1e9)).events
    ]
    return [record(event, seq, at) for seq, (event, at) in enumerate(events, 1)]


def report_of(records: list[ArchiveRecord]) -> WitnessAgreement:
    statistics = WitnessStatistics()
    for each in records:
        statistics.on_event(each)
    (report,) = statistics.reports()
    return report


@pytest.mark.parametrize("witness", ["camera", "keypad"])
def test_the_report_is_what_was_played(witness: str) -> None:
    random = Random(40)
    kinds = [random.choice(KINDS) for _ in range(120)] + ["silent"] * 7
    counted = {"corrected": "disagreed_after", "changed": "disagreed_after"}
    verdicts = [counted.get(kind, kind) for kind in kinds if kind != "void"]
    records = evening(kinds, witness)
    report = report_of(records)
    total = msgspec.structs.asdict(report.total)
    assert (report.witness, total.pop("rounds")) == (witness, len(verdicts))
    assert total == Counter(verdicts)
    assert [(item.round, item.verdict, item.corrected) for item in report.disagreements] == [
        (index, counted.get(kind, kind), kind == "corrected")
        for index, kind in enumerate(kinds, 1)
        if counted.get(kind, kind).startswith("disagreed")
    ]
    runs = [len(list(run)) for verdict, run in groupby(verdicts) if verdict == "silent"]
    assert report.longest_silence == max(runs)
    assert sum(day.rounds for day in report.days.values()) == len(verdicts)
    agreed = total["agreed_before"] + total["agreed_after"]
    compared = agreed + total["disagreed_before"] + total["disagreed_after"]
    assert report.rate is not None
    assert report.rate.rate == agreed / compared
    assert 0 < report.rate.low < report.rate.rate < report.rate.high < 1
    assert report_of([each for each in records for _ in range(2)]) == report, "each came twice"
    assert report_of(records + records) == report, "all came again"


def test_a_witness_that_is_always_silent_has_no_rate() -> None:
    report = report_of(evening(["silent"] * 5, "camera"))
    assert (report.rate, report.longest_silence, report.total.silent) == (None, 5, 5)


def test_a_witness_that_always_agrees_is_not_certain_to_agree_always() -> None:
    rate = report_of(evening(["agreed_before"] * 200, "camera")).rate
    assert rate is not None
    assert rate.low < 0.99 < rate.rate == rate.high == 1.0


def test_sessions_of_a_replaced_journal_are_other_rounds() -> None:
    records = evening(["silent", "agreed_before"], "camera")
    later = [
        record(each.body, each.seq, 86_400.0 + each.seq, boot="b2")
        for each in evening(["agreed_after"], "camera")
    ]
    report = report_of(records + later)
    assert [counts.rounds for counts in report.days.values()] == [2, 1]
    assert report.total.agreed_after == 1


def test_an_event_that_cannot_be_read_is_counted() -> None:
    statistics = WitnessStatistics()
    for body in (b"{", b'{"type":7}', b"[" * 100_000, b'{"type":"round.result","witnesses":1}'):
        statistics.on_event(msgspec.structs.replace(evening([], "camera")[0], body=body))
    assert (statistics.unread, statistics.reports()) == (4, [])


def test_the_command_prints_a_row_a_day_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "archive.sqlite3")
    archive = open_archive(path)
    archive.store(evening(["agreed_before", "disagreed_before", "corrected", "silent"], "camera"))
    archive.close()
    assert program.main(["--archive", path, "--witnesses"]) == 0
    output = capsys.readouterr().out
    assert "R1 at madrid-1, witness camera\n  4 rounds, " in output
    assert "session 1 round 2: disagreed before\n" in output
    assert "session 1 round 3: disagreed after, corrected later\n" in output
    assert program.main(["R1", "--archive", path, "--witnesses", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert msgspec.json.decode(line, type=WitnessAgreement).total.rounds == 4
    assert program.main(["R9", "--archive", path, "--witnesses"]) == 0
    assert "no rounds with a second witness found" in capsys.readouterr().err
