"""The benchmarks run to their end and count right. The measured values are not asserted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks import archive, brokers, carrousel, disk, latency, restart, streams, web
from benchmarks.filled_journal import fill
from benchmarks.scale import MAX_LATENCY_SECONDS, Times, latencies
from benchmarks.stages import missing, shares
from benchmarks.wheel_lines import PERIOD, spin, uneventful, until_result, whole_round
from benchmarks.wheels import Wheel
from common.readings import WheelNumber
from controller.journal.reader import JournalReader, first_broken
from devices.drivers import driver


def times(**of: list[float]) -> Times:
    return defaultdict(list, {int(name.removeprefix("table")): at for name, at in of.items()})


def test_a_result_is_matched_with_the_next_received_one_of_its_table() -> None:
    shown = times(table1=[10.0, 55.0], table2=[20.0])
    received = times(table1=[10.25, 55.5], table2=[20.125])
    assert latencies(shown, received, 0.0, 100.0) == ([0.25, 0.5, 0.125], 0)


def test_a_result_that_was_not_received_is_missing() -> None:
    shown = times(table1=[10.0, 55.0], table2=[20.0])
    received = times(table1=[10.25], table2=[20.0 + MAX_LATENCY_SECONDS + 1.0])
    assert latencies(shown, received, 0.0, 100.0) == ([0.25], 2)


def test_results_outside_the_measured_time_do_not_count() -> None:
    shown = times(table1=[10.0, 55.0])
    assert latencies(shown, times(), 11.0, 55.0) == ([], 0)


STAGES = {
    "decided": {"p50_ms": 1.0, "p99_ms": 2.0, "max_ms": 3.0},
    "committed": {"p50_ms": 3.0, "p99_ms": 6.0, "max_ms": 9.0},
    "acknowledged": {"p50_ms": 4.0, "p99_ms": 8.0, "max_ms": 12.0},
}


def test_each_stage_adds_its_share() -> None:
    assert shares(STAGES, "p50_ms") == {"decided": 0.25, "committed": 0.5, "acknowledged": 0.25}


def test_a_stage_that_health_does_not_have_is_named() -> None:
    assert missing(STAGES) == []
    assert missing({**STAGES, "committed": {"p50_ms": 3.0, "max_ms": 9.0}}) == ["committed.p99_ms"]
    assert len(missing({})) == 9


@pytest.mark.parametrize("lines_of", [spin, until_result, whole_round])
def test_each_round_has_one_result(lines_of: Callable[[int], list[bytes]]) -> None:
    found = driver("cammegh-ss2")
    codec = found.make("wheel", found.options())
    numbers = []
    lines = [line for number in (1, 2, 3) for line in lines_of(number)]
    for index, line in enumerate(lines):
        numbers += [
            reading.number
            for reading in codec.feed(line, index * PERIOD)
            if isinstance(reading, WheelNumber) and not reading.late
        ]
    assert numbers == [7, 14, 21]


def test_an_uneventful_line_leads_to_nothing() -> None:
    found = driver("cammegh-ss2")
    codec = found.make("wheel", found.options())
    for index in range(4):
        codec.feed(uneventful(index), index * PERIOD)
    later = [codec.feed(uneventful(index), index * PERIOD) for index in range(4, 200)]
    assert codec.counters.frames == 200
    assert not any(later)


@pytest.mark.parametrize("number", [1, 2])
def test_a_wheel_shows_one_result_in_each_game(number: int) -> None:
    wheel = Wheel(number, games_per_hour=80, ahead=0.0)
    try:
        results = 0
        while wheel.due < 450.0:
            results += wheel.turn(wheel.due)
        assert 9 <= results <= 11
    finally:
        wheel.port.close()


def test_a_filled_journal_is_a_chain(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    filled = fill(path, tables=2, entries=2000, published=True)
    with closing(JournalReader(path)) as reader:
        assert first_broken(reader) is None
        kinds = [entry.kind for entry in reader.entries()]
        assert reader.cursors()["mqtt"] == len(kinds) == filled.entries >= 2000
    assert kinds.count("event") == filled.events


@pytest.mark.usefixtures("programs")
def test_latency_prints_each_program(capsys: pytest.CaptureFixture[str]) -> None:
    latency.main(1, 1, ("floor", "loop", "storing"), "HEAD")
    printed = capsys.readouterr().out
    programs = ("floor", "loop", "storing", "novamas", "before")
    assert all(f"  {way}" in printed for way in programs)
    assert "Novamás divided by" in printed


@pytest.mark.usefixtures("programs")
def test_restart_prints_both_journals(capsys: pytest.CaptureFixture[str]) -> None:
    restart.main(1, 500, 1)
    printed = capsys.readouterr().out
    assert "empty journal" in printed
    assert "full journal" in printed


@pytest.mark.usefixtures("programs")
def test_every_browser_is_waited_for_in_every_round() -> None:
    found, _ = web.measured(browsers=3, rounds=2)
    assert len(found) == 6
    assert min(found) > 0.0


@pytest.mark.usefixtures("programs")
def test_every_coin_is_waited_for_in_the_meter_and_at_the_counter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    carrousel.main(coins=200, rate=50, seconds=1.0)
    output = capsys.readouterr().out
    assert "A burst of 200 coins" in output
    assert "50 coins, 50 a second" in output
    assert "nan" not in output


@pytest.mark.usefixtures("programs")
def test_every_archive_and_form_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    archive.main(records=150)
    output = capsys.readouterr().out
    assert "150 events stored" in output
    assert "150 events written" in output
    assert {"sqlite", "postgres", "parquet", "csv", "jsonl"} <= set(output.split())
    assert "nan" not in output


def test_the_meter_has_a_coin_from_the_first_statement_with_it() -> None:
    meter = carrousel.MeterHistory()
    for coins, at in ((0, 1.0), (2, 2.0), (3, 3.0)):
        meter.add(coins, at)
    assert [meter.after(coin) for coin in range(3)] == [2.0, 2.0, 3.0]


@pytest.mark.usefixtures("programs")
def test_each_engine_acknowledges_every_message() -> None:
    spent, memory = brokers.measure(5, ["mosquitto", "nats 1"])
    assert {way: len(values) for way, values in spent.items()} == {"mosquitto": 5, "nats 1": 5}
    assert all(held > 1_000_000 for held in memory.values())


@pytest.mark.usefixtures("programs")
def test_the_disk_of_a_closed_and_of_an_open_table_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(disk, "SETTLING_SECONDS", 3.0)
    disk.main(0.05)
    output = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in output[2:]] == ["closed", "open", "memory:", "memory:"]
    assert all(len(line.split()) == 7 for line in output[2:4])


@pytest.mark.usefixtures("programs")
def test_every_stream_has_every_event() -> None:
    found = streams.measured(streams=12, events=4)
    assert len(found.http) == 12 * 4
    assert len(found.mqtt) == 4
