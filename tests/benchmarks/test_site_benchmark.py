"""The benchmark of a whole site lays out what the programs take, and counts right. The measured
values are not asserted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from benchmarks import site, site_standing
from benchmarks.filled_journal import fill
from benchmarks.site_programs import DAEMONS, lay_out, shares
from benchmarks.subscriber import ROOT
from controller.cli.carrousel import carrousel_settings
from controller.cli.configured import configuration_at
from controller.journal.reader import JournalReader
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.records import event_record


@pytest.mark.parametrize("tables", [8, 101, 1000])
def test_every_table_is_at_one_daemon(tables: int) -> None:
    each = shares(tables)
    assert len(each) == DAEMONS
    assert sum(map(sum, each)) == tables
    assert all(linked >= 1 for _, linked in each)


def test_the_daemons_and_the_consumers_accept_their_configurations(tmp_path: Path) -> None:
    links = [f"tcp://127.0.0.1:{port}" for port in range(10_001, 10_011)]
    made = lay_out(tmp_path, [1883, 1884, 1885], "3.1.1", 10, links, None)
    read = [
        configuration_at(Path(words[-1]))
        for name, words in made.commands.items()
        if name.startswith("daemon")
    ]
    whole = configuration_at(tmp_path / "site.toml")
    served = [table.id for each in read for table in each.table]
    assert sorted(served) == sorted(table.id for table in whole.table)
    assert len(set(served)) == 10
    assert sorted(
        device.link for each in read for t in each.table for device in t.device
    ) == sorted(links)
    assert [each.broker.url[-4:] for each in read] == ["1883", "1884", "1885", "1883"]
    assert len({each.site.node for each in read}) == DAEMONS
    told = carrousel_settings(tmp_path / "site.toml")
    terms = told["jackpots"][0]["terms"]
    assert list(terms["authorisation"]["tables"]) == made.linked


def state(table: str, boot: str, link: str = "up") -> tuple[str, bytes]:
    body = {"boot": boot, "devices": {"wheel": {"state": link}}}
    return f"{ROOT}/{table}/state", msgspec.json.encode(body)


def node(name: str, boot: str, status: str = "online") -> tuple[str, bytes]:
    return f"{ROOT}/node/{name}/status", msgspec.json.encode({"status": status, "boot": boot})


def told(*messages: tuple[str, bytes]) -> Any:
    latest = dict(messages)
    return SimpleNamespace(
        latest=latest, body=lambda topic: json.loads(latest[topic]) if topic in latest else None
    )


def test_states_are_right_once_they_are_those_of_daemons_that_run_now() -> None:
    tables, before = ["table-1", "poker-1"], {b"b1"}
    old = [node("pit-1", "b1"), state("table-1", "b1"), state("poker-1", "b1")]
    assert site_standing.states_are_right(told(*old), tables, set())
    assert not site_standing.states_are_right(told(*old), tables, before)
    new = [node("pit-1", "b2"), state("table-1", "b2"), state("poker-1", "b2")]
    assert site_standing.states_are_right(told(*new), tables, before)
    assert not site_standing.states_are_right(
        told(*new, state("poker-1", "b2", "stale")), tables, before
    )
    assert not site_standing.states_are_right(
        told(*new, node("pit-1", "b2", "offline")), tables, before
    )
    assert not site_standing.states_are_right(told(*new[:2]), tables, before)


def test_the_jackpot_is_in_play_if_the_running_controller_publishes_it() -> None:
    def meter(boot: str, *in_play: bool) -> tuple[str, bytes]:
        tables = {f"poker-{number}": {"in_play": each} for number, each in enumerate(in_play, 1)}
        body = {"boot": boot, "in_play": True, "tables": tables}
        return site_standing.METER, msgspec.json.encode(body)

    linked = ["poker-1", "poker-2"]
    assert not site_standing.in_play(told(), linked)
    assert not site_standing.in_play(told(meter("c1", True)), linked)
    assert not site_standing.in_play(told(meter("c1", True, False)), linked)
    assert site_standing.in_play(told(meter("c1", True, True)), linked)
    assert not site_standing.in_play(told(meter("c1", True, True)), linked, b"c1")


def test_what_the_archive_lacks_of_the_journals_is_found(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite3"
    fill(journal, tables=2, entries=300, published=True)
    told_by, kept = (
        site_standing.JournalledEvents([journal]),
        site_standing.ArchivedEvents(str(tmp_path / "archive.sqlite3")),
    )
    told_by.update()
    with closing(JournalReader(journal)) as reader:
        entries = [entry for entry in reader.entries() if entry.kind == "event"]
    assert len(told_by.events) == len(entries) > 20
    assert not kept.has(told_by.events)  # there is no archive yet
    records = [event_record("bench", entry.body, entry.time, entry.table) for entry in entries]
    with closing(SQLiteArchive(tmp_path / "archive.sqlite3")) as archive:
        archive.store(records[:-1])
        assert not kept.has(told_by.events)
        archive.store(records[-1:])
    assert kept.has(told_by.events)


def listening(received: Sequence[float], late: Sequence[float]) -> Any:
    made = object.__new__(site.ResultListener)
    made.arrivals, made.late = list(received), list(late)
    return made


def test_it_is_normal_after_the_last_window_that_was_not() -> None:
    window = site.WINDOW_SECONDS
    received = [100.0 + window * number + 0.1 for number in range(6)]
    calm, late = [0.01] * 6, [9.0, 0.01, 9.0, 0.01, 0.01, 0.01]
    until = 100.0 + 6 * window
    assert site.seconds_until_normal(100.0, until, listening(received, calm), 0.01) == 0.0
    assert site.seconds_until_normal(100.0, until, listening(received, late), 0.01) == 3 * window
    assert site.seconds_until_normal(100.0, until, listening(received, [9.0] * 6), 0.01) is None
