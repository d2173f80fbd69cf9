"""From the events of an archive to the reports on wheels and shoes."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from common.contract.retained import About, Info
from common.contract.times import format_utc
from subscribers.statistics import __main__ as program
from subscribers.statistics.cylinder import EUROPEAN
from subscribers.statistics.folding import Statistics, read_records
from subscribers.statistics.health import WheelReport
from subscribers.statistics.reading import StatisticsReader
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.records import records
from tests.support.subscribers.evenings import BEGIN, DEALERS, correction, evenings, record

SCRIPTS = Path(__file__).parents[2] / "scripts"


def fair(spins: int, seed: int = 1) -> list[int]:
    random = Random(seed)
    return [random.randrange(37) for _ in range(spins)]


def of(records: list[ArchiveRecord]) -> WheelReport:
    statistics = Statistics()
    read_records(statistics, records)
    (wheel,) = statistics.wheels()
    return wheel


def scripted(name: str) -> list[ArchiveRecord]:
    """Return the events of a table's script."""
    lines = (SCRIPTS / f"{name}.events").read_bytes().splitlines()
    return [record(line, seq, float(seq)) for seq, line in enumerate(lines, 1)]


def serviced(records: list[ArchiveRecord], work: str, **fields: Any) -> ArchiveRecord:
    event = {"type": "device.serviced", "device": "wheel", "work": work, "by": "S. Pons"} | fields
    seconds = (records[-1].session + 1) * 86_400.0 - 3600
    return record(msgspec.json.encode(event), records[-1].seq + 1, seconds)


def again(records: list[ArchiveRecord], after: list[ArchiveRecord]) -> list[ArchiveRecord]:
    """Return records that come later, in days and numbers."""
    begin, days = after[-1].seq, after[-1].session or after[-2].session
    return [record(each.body, begin + each.seq, days * 86_400.0 + _mono(each)) for each in records]


def _mono(each: ArchiveRecord) -> float:
    return float(msgspec.json.decode(each.body)["mono_ns"]) / 1e9


def test_an_evening_gives_all_measures_of_the_wheel() -> None:
    places = fair(400)
    wheel = of(evenings(places, rest=(20.0,)))
    assert wheel.spins == 400
    assert [pocket.count for pocket in wheel.pockets] == [places.count(at) for at in range(37)]
    assert [pocket.number for pocket in wheel.pockets] == list(EUROPEAN)
    assert wheel.measures["rotor_rpm"].mean == pytest.approx(25, abs=0.3)
    assert wheel.measures["spin_seconds"].mean == pytest.approx(20, abs=0.6)
    assert wheel.measures["rotor_turns"].mean == pytest.approx(25 * 20 / 60, abs=0.4)
    assert wheel.measures["fall_seconds"].mean == pytest.approx(10, abs=0.3)
    assert wheel.measures["round_seconds"].mean == pytest.approx(30, abs=0.6)
    assert wheel.games_per_hour == pytest.approx(80, abs=1)
    assert wheel.voids == {"ball_out": 8}
    assert wheel.device == "wheel"
    groups = {(group.kind, group.name): group.spins for group in wheel.groups}
    assert {name for kind, name in groups if kind == "dealer"} == set(DEALERS)
    assert groups["direction", "clockwise"] == groups["direction", "anticlockwise"] == 200
    distances = sum(spins for (kind, _), spins in groups.items() if kind == "distance")
    assert distances == 398  # the first of each session has no predecessor


def test_a_real_table_is_read() -> None:
    wheel = of(scripted("roulette/evening"))
    said = [each for each in scripted("roulette/evening") if each.type == "round.result"]
    assert wheel.spins == len(said) > 0
    assert wheel.measures["rotor_rpm"].count > 0


def test_a_bias_is_reported_with_its_effect_and_interval() -> None:
    random = Random(6)
    places = [random.randrange(4) if random.random() < 0.25 else at for at in fair(1200)]
    statistics = Statistics()
    (found,) = read_records(statistics, evenings(places))
    (wheel,) = statistics.wheels()
    assert found.what == "wheel_bias"
    assert found.spins == wheel.bias.alarm
    assert wheel.bias.suspect is not None
    assert set(wheel.bias.suspect.numbers) & set(EUROPEAN[:4])
    lift = wheel.bias.suspect.lift
    assert 1 < lift.low < lift.lift < lift.high
    assert "times" in found.detail
    assert wheel.bias.chi_square is not None


def test_a_correction_replaces_the_first_result() -> None:
    records = evenings([0] * 30)
    last = max(at for at, each in enumerate(records) if each.type == "round.result")
    wheel = of([*records, correction(records, last, 32)])
    assert [pocket.count for pocket in wheel.pockets[:2]] == [29, 1]
    assert wheel.spins == 30


@pytest.mark.parametrize("work", ["levelled", "frets_changed", "replaced", "repaired"])
def test_maintenance_restarts_the_count(work: str) -> None:
    before = evenings(fair(100))
    said = serviced(before, work, serial="W-2")
    after = again(evenings(fair(60, 2)), [*before, said])
    statistics = Statistics()
    read_records(statistics, [*before, said, *after])
    old, new = statistics.wheels()
    assert (old.spins, old.begun) == (100, "first")
    assert (new.spins, new.begun, new.serial) == (60, work, "W-2")


def test_another_ball_is_a_group_of_its_own_and_no_change() -> None:
    before = evenings(fair(100))
    said = serviced(before, "ball_changed", serial="ball 7")
    wheel = of([*before, said, *again(evenings(fair(60, 2), rest=(30.0,)), [*before, said])])
    assert wheel.spins == 160
    assert {group.name: group.spins for group in wheel.groups if group.kind == "ball"} == {
        "ball 7": 60
    }
    assert wheel.change.alarm is None


def test_work_on_another_device_changes_nothing() -> None:
    before = evenings(fair(40))
    said = serviced(before, "repaired", device="display")
    assert of([*before, said]).spins == 40


def test_a_wheel_swapped_without_notice_is_reported() -> None:
    statistics = Statistics()
    found = read_records(
        statistics, evenings(fair(1200), rest=(20.0, 20.0, 20.0, 20.0, 23.0, 23.0))
    )
    assert [each.what for each in found] == ["wheel_changed"]
    assert 800 < found[0].spins < 1200
    (wheel,) = statistics.wheels()
    assert wheel.change.shown_by == "spin_seconds"


def test_unreadable_records_are_counted_and_skipped() -> None:
    records = evenings(fair(10))
    statistics = Statistics()
    broken = msgspec.structs.replace(records[3], body=b'{"type":')
    strange = msgspec.structs.replace(records[4], body=b'{"type":"round.result","outcome":7}')
    odd = record(b'{"type":"round.result","outcome":{"family":"roulette","number":99}}', 1, 1.0)
    read_records(statistics, [*records, broken, strange, odd])
    assert statistics.unread == 2
    assert statistics.wheels()[0].spins == 10


def shoe(cards: list[str], seq: int) -> list[ArchiveRecord]:
    """A shoe of one deck, dealt to player and banker in turn."""
    lines: list[dict[str, Any]] = [
        {"type": "shoe.started", "decks": 1, "cards": 52, "shoe": "1"},
        {"type": "cards.burned", "count": 2},
    ]
    for at, card in enumerate(cards[2:45]):
        place = {"to": "player" if at % 2 == 0 else "banker", "index": at // 2 + 1}
        lines.append({"type": "card.dealt", "card": None if at % 5 == 0 else card} | place)
        if at % 5 == 0:
            lines.append({"type": "card.turned", "card": card} | place)
    lines.append({"type": "shoe.ended", "why": "cut"})
    return [record(msgspec.json.encode(line), seq + at, seq + at) for at, line in enumerate(lines)]


def test_a_repeated_shoe_is_reported() -> None:
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    Random(3).shuffle(deck)
    statistics = Statistics()
    found = read_records(statistics, [*shoe(deck, 1), *shoe(deck, 1000)])
    assert [each.what for each in found] == ["shoe_order"]
    (told,) = statistics.shoes()
    assert (told.shoes, told.rising_sequences, told.neighbours_kept) == (2, 1, 42)
    assert sum(told.counts.values()) == 2 * 2 * 43


def test_the_cards_of_a_real_shoe_are_read_as_they_left_it() -> None:
    records = scripted("punto-banca/coups")
    end = record(b'{"type":"shoe.ended","why":"person"}', len(records) + 1, 1000.0)
    statistics = Statistics()
    read_records(statistics, [*records, end])
    last = statistics.tables["madrid-1", "R1"].shoe
    assert last is not None
    results = [msgspec.json.decode(each.body) for each in records if each.type == "round.result"]
    shown = [
        card for event in results for hand in event["outcome"]["hands"] for card in hand["cards"]
    ]
    seen = [card for card in last.cards if card is not None]
    assert Counter(shown) <= Counter(seen)
    assert len(last.cards) > len(seen) >= len(shown) > 10  # the burned ones stay unseen


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "archive.sqlite3"
    opened = open_archive(str(path))
    opened.store(evenings(fair(60)))
    opened.store(evenings(fair(30), table="R2"))
    opened.close()
    return path


def test_an_archive_is_read_on_from_where_one_stopped(archive: Path) -> None:
    opened = open_archive(str(archive))
    reader = StatisticsReader(opened, ["R1"])
    reader.read()
    assert [wheel.spins for wheel in reader.statistics.wheels()] == [60]
    before = evenings(fair(60))
    opened.store(again(evenings(fair(20, 5)), before))
    reader.read()
    reader.read()
    assert [wheel.spins for wheel in reader.statistics.wheels()] == [80]
    opened.close()


def test_the_command_prints_tables_and_json(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["--archive", str(archive)]) == 0
    output = capsys.readouterr().out
    assert "R1 at madrid-1" in output
    assert "R2 at madrid-1" in output
    assert "60 spins" in output
    assert "times what is fair" in output
    assert program.main(["R2", "--archive", str(archive), "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert msgspec.json.decode(line, type=WheelReport).spins == 30


def test_the_command_reports_errors(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["--archive", str(tmp_path / "none")]) == 1
    assert "novamas wheel: " in capsys.readouterr().err
    assert program.main(["R9", "--archive", str(archive)]) == 0
    assert "no spins" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        program.main(["--archive", str(archive), "--since", "yesterday"])
    assert "write 2026-11-01" in capsys.readouterr().err
    assert program.main(["--archive", str(archive), "--since", "2100-01-01"]) == 0
    assert "no spins" in capsys.readouterr().err


@pytest.mark.usefixtures("programs")
def test_novamas_wheel_starts_it(archive: Path) -> None:
    program_of = Path(sys.executable).with_name("novamas")
    completed = subprocess.run(
        [program_of, "wheel", "R2", "--archive", archive, "--json"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert msgspec.json.decode(completed.stdout, type=WheelReport).spins == 30


OTHER = [*range(36, -1, -1)]
"""A pocket order that no manufacturer sells."""


def told(order: object, boot: str = "b1", table: str = "R1") -> ArchiveRecord:
    """Return a table's info with this setting."""
    info = Info(
        site="madrid-1",
        table=table,
        game="roulette-french",
        decree="ARA02",
        boot=boot,
        about=About(settings={} if order is None else {"pocket_order": order}),
    )
    [record] = records(
        "madrid-1", f"{table}/info", msgspec.json.encode(info), format_utc(BEGIN + 1e9)
    )
    return record


def of_archive(path: Path, *kept: list[ArchiveRecord]) -> list[WheelReport]:
    """Return the wheels, read in one go and as the records arrive."""
    archive = open_archive(str(path))
    following = StatisticsReader(archive)
    for batch in kept:
        archive.store(batch)
        following.read()
    whole = StatisticsReader(archive)
    whole.read()
    archive.close()
    wheels = whole.statistics.wheels()
    assert following.statistics.wheels() == wheels
    return wheels


@pytest.mark.parametrize("turned", [0, 9])
def test_the_order_around_the_wheel_is_that_of_the_table(tmp_path: Path, turned: int) -> None:
    """A biased sector is found, wherever the setting begins. Infos are applied even if they arrive
    after events from before the recorder started.
    """
    random = Random(6)
    favoured = [EUROPEAN.index(number) for number in range(5)]  # far from each other there
    places = [
        random.choice(favoured) if random.random() < 0.1 else random.randrange(37)
        for _ in range(1500)
    ]
    order = OTHER[turned:] + OTHER[:turned]
    [wheel] = of_archive(tmp_path / "a.sqlite3", [told(order), *evenings(places)])
    assert [pocket.number for pocket in wheel.pockets] == [0, *range(36, 0, -1)]
    assert wheel.bias.suspect is not None
    assert {*range(5)} <= {*wheel.bias.suspect.numbers}
    assert len(wheel.bias.suspect.numbers) < 9
    assert wheel.bias.alarm is not None


def test_another_order_is_another_wheel(tmp_path: Path) -> None:
    first, later = evenings(fair(200)), evenings(fair(200, seed=2), boot="b2")
    days = [record(each.body, each.seq, 9 * 86_400.0 + _mono(each), boot="b2") for each in later]
    before, now = of_archive(
        tmp_path / "a.sqlite3", [told(None), *first], [told(OTHER, "b2"), *days]
    )
    assert [before.pockets[1].number, now.pockets[1].number] == [32, 36]
    assert (before.begun, now.begun) == ("first", "pocket_order")
    assert [before.spins, now.spins] == [200, 200]
    [still] = of_archive(tmp_path / "b.sqlite3", [told(OTHER), *first], days)
    assert (still.pockets[1].number, still.spins) == (36, 400)  # a run that says nothing of it


@pytest.mark.parametrize("order", [None, [0, 1, 2], "0 32", [True] * 37, [*range(1, 38)]])
def test_an_invalid_pocket_order_leaves_the_usual_one(tmp_path: Path, order: object) -> None:
    [wheel] = of_archive(tmp_path / "a.sqlite3", [told(order), *evenings(fair(40))])
    assert [pocket.number for pocket in wheel.pockets] == list(EUROPEAN)


def test_the_info_of_a_table_may_be_unreadable() -> None:
    statistics = Statistics()
    statistics.on_info(replace(told(None), body=b'{"about":[]}'))
    assert (statistics.unread, statistics.tables) == (1, {})
