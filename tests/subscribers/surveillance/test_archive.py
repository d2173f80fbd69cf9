"""Every archive keeps each record once, as it was, and finds it again."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from common.contract.times import format_utc
from subscribers.surveillance.archive import (
    ArchiveRecord,
    ArchiveRow,
    Gap,
    Query,
    RecordArchive,
    Removal,
    RetainedRange,
)
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from tests.subscribers.surveillance.said import event, finding


def found(archive: RecordArchive, **query: Any) -> list[ArchiveRecord]:
    return [row.record for row in archive.find(Query(**query))]


@pytest.mark.usefixtures("programs")
def test_a_record_is_as_it_was(archive: RecordArchive) -> None:
    record = event(3, session=2, round=17, words=("Artículo 7", "ball_off_track"), body=b"\x00\xff")
    kept = archive.store([record])
    assert [row.record for row in kept.new] == [record]
    assert kept.new[0].number == 1
    assert list(archive.find(Query())) == [ArchiveRow(1, record)]


def test_numbers_grow(archive: RecordArchive) -> None:
    archive.store([event(2), event(1)])
    archive.store([finding(0), event(2), event(3)])
    rows = list(archive.find(Query(order="number")))
    assert [row.record.seq for row in rows] == [2, 1, 0, 3]
    numbers = [row.number for row in rows]
    assert numbers == sorted(set(numbers))
    assert numbers[0] > 0
    assert archive.newest_number() == numbers[-1]
    after = archive.find(Query(order="number", after=numbers[1]))
    assert [row.number for row in after] == numbers[2:]


def test_what_comes_again_is_kept_once(archive: RecordArchive) -> None:
    first = archive.store([event(1), event(1)])
    again = archive.store([event(1, received=format_utc(1_790_000_999))])
    assert len(first.new) == 1
    assert (first.conflicts, again.new, again.conflicts) == ((), (), ())
    assert found(archive) == [event(1)]


def test_a_late_copy_is_the_same_record(archive: RecordArchive) -> None:
    archive.store([event(1, body=b'{"seq":1,"round":4}')])
    late = event(1, body=b'{"seq":1,"historical":true,"round":4}')
    assert archive.store([late]).conflicts == ()


def test_a_differing_copy_changes_nothing(archive: RecordArchive) -> None:
    archive.store([event(1), event(2)])
    other = event(1, body=b'{"seq":1,"number":17}')
    kept = archive.store([event(3), other])
    assert kept.conflicts == ((event(1), other),)
    assert [row.record for row in kept.new] == [event(3)]
    assert found(archive) == [event(1), event(2), event(3)]


def test_the_same_record_twice_in_one_call(archive: RecordArchive) -> None:
    first, other = event(1), event(1, body=b"{}")
    result = archive.store([first, first, other, event(1)])
    assert [row.record for row in result.new] == [first]
    assert result.conflicts == ((first, other),)


def test_a_large_batch_with_a_copy_in_it(archive: RecordArchive) -> None:
    records = [event(seq) for seq in range(1, 131) if seq != 60]
    archive.store(records[:1])
    result = archive.store([*records, event(7)])
    assert [row.record for row in result.new] == records[1:]
    assert [row.record for row in archive.find(Query(order="number"))] == records
    assert [(gap.first, gap.last) for gap in archive.gaps("madrid-1")] == [(60, 60)]


def test_the_same_key_at_another_site_is_another_record(archive: RecordArchive) -> None:
    archive.store([event(1), event(1, site="bilbao")])
    assert len(found(archive)) == 2
    assert found(archive, sites=("bilbao",)) == [event(1, site="bilbao")]


def test_all_or_none(archive: RecordArchive) -> None:
    broken = event(3, body="no bytes")
    with pytest.raises((ArchiveError, TypeError)):
        archive.store([event(1), event(2), broken])
    assert found(archive) == []
    assert len(archive.store([event(1)]).new) == 1


def test_queries_agree_with_a_list(archive: RecordArchive) -> None:
    """Anything that may be asked, against the plainest reckoning of it."""
    dice = random.Random(18)
    records = [
        event(
            n,
            table=dice.choice(["R1", "R2", "PB3"]),
            site=dice.choice(["madrid-1", "bilbao"]),
            time=format_utc(1_790_000_000 + dice.randrange(20)),
            type=dice.choice(["round.result", "round.void", "Alert.raised"]),
            session=dice.choice([0, 1, 2]),
            round=dice.choice([0, 1, 2, 3]),
            words=tuple(dice.sample(["ARA02-014", "ara02-015", "Ángel", "wheel", "100%_x"], 2)),
        )
        if dice.random() < 0.8
        else finding(n, words=("wheel",))
        for n in range(1, 400)
    ]
    for start in range(0, len(records), 50):
        archive.store(records[start : start + 50])
    rows = [ArchiveRow(number, record) for number, record in enumerate(records, 1)]
    choices: dict[str, list[Any]] = {
        "sites": [(), ("madrid-1",), ("bilbao", "nowhere")],
        "tables": [(), ("R1",), ("R1", "PB3"), ("",)],
        "kinds": [(), ("event",), ("finding",), ("finding", "access"), ("event", "finding")],
        "types": [(), ("round.void",), ("round.void", "round.result")],
        "words": [
            (), ("ara02",), ("ARA02-015",), ("ángel", "WHEEL"), ("alert",), ("100%",), ("1%",),
        ],
        "since": [None, format_utc(1_790_000_005)],
        "until": [None, format_utc(1_790_000_011)],
        "session": [None, 1],
        "round": [None, 2],
        "after": [0, 200],
        "order": ["number", "time", "latest"],
        "limit": [None, 7],
    }  # fmt: skip
    for _ in range(250):
        query = Query(
            **{
                name: given[0] if dice.random() < 0.6 else dice.choice(given)
                for name, given in choices.items()
            }
        )
        assert list(archive.find(query)) == reckoned(rows, query), query


def reckoned(rows: list[ArchiveRow], query: Query) -> list[ArchiveRow]:
    def fits(row: ArchiveRow) -> bool:
        record = row.record
        words = [word.casefold() for word in (record.type, *record.words)]
        return (
            (not query.sites or record.site in query.sites)
            and (not query.tables or record.table in query.tables)
            and (not query.kinds or record.kind in query.kinds)
            and (not query.types or record.type in query.types)
            and all(any(w.startswith(each.casefold()) for w in words) for each in query.words)
            and (query.since is None or record.time >= query.since)
            and (query.until is None or record.time < query.until)
            and (query.session is None or record.session == query.session)
            and (query.round is None or record.round == query.round)
            and row.number > query.after
        )

    chosen = [row for row in rows if fits(row)]
    if query.order != "number":
        chosen.sort(key=lambda row: (row.record.time, row.number), reverse=query.order == "latest")
    return chosen[: query.limit]


def test_more_than_a_page(archive: RecordArchive) -> None:
    archive.store([event(n, words=("wheel",)) for n in range(1, 1302)])
    assert [r.seq for r in found(archive, tables=("R1",))] == list(range(1, 1302))
    assert [r.seq for r in found(archive, order="latest")] == list(range(1301, 0, -1))
    assert len(found(archive, words=("whe",), limit=1201)) == 1201


def test_gaps(archive: RecordArchive) -> None:
    assert (archive.gaps("madrid-1"), archive.newest_number()) == ([], 0)
    archive.store([event(n) for n in (1, 2, 5, 9)])
    archive.store([event(n, table="R2", time=format_utc(1_790_000_100 + n)) for n in (3, 4)])
    archive.store([event(4, site="bilbao"), event(1, boot="boot-10"), event(1, table="R10")])
    archive.store([event(1, boot="boot-")])
    assert archive.gaps("madrid-1") == [
        Gap("madrid-1", "R1", "boot-1", 3, 4),
        Gap("madrid-1", "R1", "boot-1", 6, 8),
        Gap("madrid-1", "R2", "boot-1", 1, 2),
    ]
    archive.store([event(n) for n in (3, 4, 6, 7, 8)])
    archive.store([event(n, table="R2") for n in (1, 2)])
    assert archive.gaps("madrid-1") == []


def test_values_are_remembered(place: str) -> None:
    first = open_archive(place)
    assert first.load_value("cursor") is None
    first.save_value("cursor", b"\x00 1")
    first.save_value("cursor", b"2")
    first.close()
    second = open_archive(place)
    assert second.load_value("cursor") == b"2"
    second.close()


def test_what_policy_removes(archive: RecordArchive) -> None:
    archive.store([event(n, words=("wheel",)) for n in range(1, 6)])
    archive.store([event(7, words=("wheel",)), finding(2)])
    numbers = {row.record.seq: row.number for row in archive.find(Query(kinds=("event",)))}
    three = Removal("event", numbers[3])
    assert (
        archive.count_removable(three),
        archive.remove(three),
        archive.count_removable(three),
    ) == (3, 3, 0)
    assert [r.seq for r in found(archive, kinds=("event",))] == [4, 5, 7]
    assert [r.seq for r in found(archive, words=("wheel",))] == [4, 5, 7]
    assert found(archive, kinds=("finding",)) == [finding(2)]
    assert archive.gaps("madrid-1") == [Gap("madrid-1", "R1", "boot-1", 6, 6)]
    highest = max(row.number for row in archive.find(Query()))
    assert archive.remove(Removal("event", highest)) == 3
    assert archive.remove(Removal("finding", highest)) == 1
    assert found(archive) == []
    assert archive.gaps("madrid-1") == []
    assert archive.newest_number() == highest
    [row] = archive.store([event(8)]).new
    assert row.number > highest
    assert archive.gaps("madrid-1") == []


def test_what_is_spared_stays(archive: RecordArchive) -> None:
    archive.store([event(n) for n in range(1, 9)])
    archive.store([event(n, table="R2") for n in (1, 2)])
    numbers = [row.number for row in archive.find(Query(tables=("R1",), order="number"))]
    spared = RetainedRange("madrid-1", "R1", numbers[2], numbers[4])
    some = Removal("event", numbers[-1], (spared, RetainedRange("bilbao", "R1", 1, numbers[-1])))
    assert (archive.count_removable(some), archive.remove(some)) == (5, 5)
    assert [r.seq for r in found(archive, tables=("R1",))] == [3, 4, 5]
    assert archive.gaps("madrid-1") == []
    archive.store([event(10)])
    assert archive.gaps("madrid-1") == [Gap("madrid-1", "R1", "boot-1", 9, 9)]
    assert archive.remove(Removal("event", numbers[-1])) == 3
    assert archive.gaps("madrid-1") == [Gap("madrid-1", "R1", "boot-1", 9, 9)]


def test_readers_beside_the_writer(place: str) -> None:
    """Several read while one writes: each sees the records of whole calls of ``keep`` alone."""
    writer = open_archive(place)
    writer.store([event(n) for n in range(1, 6)])
    wrong: list[object] = []
    enough = threading.Event()

    def read() -> None:
        reader = open_archive(place, read_only=True)
        try:
            seen = 0
            while not enough.is_set():
                count = len(list(reader.find(Query(limit=450))))
                if count % 5 or count < seen:
                    wrong.append(count)
                seen = count
        except ArchiveError as error:
            wrong.append(error)
        finally:
            reader.close()

    readers = [threading.Thread(target=read) for _ in range(3)]
    for each in readers:
        each.start()
    for start in range(6, 400, 5):
        writer.store([event(n) for n in range(start, start + 5)])
    enough.set()
    for each in readers:
        each.join()
    writer.close()
    assert wrong == []


def test_a_reader_changes_nothing(place: str) -> None:
    writer = open_archive(place)
    reader = open_archive(place, read_only=True)
    for change in (
        lambda: reader.store([event(1)]),
        lambda: reader.save_value("cursor", b"1"),
        lambda: reader.remove(Removal("event", 1)),
    ):
        with pytest.raises(ArchiveError, match="for reading"):
            change()
    assert list(writer.find(Query())) == []
    reader.close()
    writer.close()


def test_two_writers_alternate(place: str) -> None:
    """The recorder stores events while a search stores that cards were shown."""
    archives = [open_archive(place) for _ in range(2)]

    def write(archive: RecordArchive, table: str) -> None:
        for n in range(1, 31):
            archive.store([event(n, table=table)])

    threads = [
        threading.Thread(target=write, args=(archive, f"T{n}"))
        for n, archive in enumerate(archives)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = list(archives[0].find(Query(order="number")))
    assert len(rows) == 60
    assert len({row.number for row in rows}) == 60
    for archive in archives:
        archive.close()


def test_there_is_one_recorder(place: str) -> None:
    """Others read and write beside it."""
    recorder = open_archive(place, recorder=True)
    with pytest.raises(ArchiveError, match="another recorder uses this archive; stop it"):
        open_archive(place, recorder=True)
    other = open_archive(place)
    assert len(other.store([finding(1)]).new) == 1
    recorder.close()
    open_archive(place, recorder=True).close()
    other.close()


def test_a_follower_by_number_misses_nothing(place: str) -> None:
    """While two write: no smaller number appears after one that was seen."""
    writers = [open_archive(place) for _ in range(2)]

    def write(archive: RecordArchive, table: str) -> None:
        for n in range(1, 60, 2):
            archive.store([event(n, table=table), event(n + 1, table=table)])

    threads = [
        threading.Thread(target=write, args=(archive, f"T{n}")) for n, archive in enumerate(writers)
    ]
    reader = open_archive(place, read_only=True)
    for thread in threads:
        thread.start()
    seen = [0]
    while len(seen) < 121:
        seen += [row.number for row in reader.find(Query(order="number", after=seen[-1]))]
    for thread in threads:
        thread.join()
    assert seen == [0, *(row.number for row in reader.find(Query(order="number")))]
    for archive in (*writers, reader):
        archive.close()


@pytest.mark.parametrize("text", ["a\0b", "\x1b0", "\x1b", "\0\x1b1", "Ñandú 🂡"])
def test_any_character_is_kept(archive: RecordArchive, text: str) -> None:
    record = event(1, type=text, key=text, table=text, words=(text,))
    archive.store([record])
    assert archive.store([record]).new == ()
    assert found(archive, tables=(text,), words=(text,)) == [record]


def test_a_closed_archive_raises_an_error(place: str) -> None:
    archive = open_archive(place)
    archive.close()
    with pytest.raises(ArchiveError, match="closed"):
        archive.load_value("cursor")
