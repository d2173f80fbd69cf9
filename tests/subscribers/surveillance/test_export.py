"""An export of the archive is complete, verbatim, and harmless to its reader."""

from __future__ import annotations

import csv
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from common.contract.times import format_utc
from controller.cli import main as novamas
from subscribers.surveillance import export as program
from subscribers.surveillance import export_parquet
from subscribers.surveillance.archive import ArchiveRecord, ArchiveRow, Query, RecordArchive
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.export import ExportError, export
from subscribers.surveillance.export_forms import COLUMNS
from tests.subscribers.surveillance.said import event, finding
from tests.support.journal.premises import entries, evening

BOX = b'{"sealed":"c2VjcmV0","key":"00","signature":"11"}'
EVENTS = [
    event(1, words=("ARA02-014", "Ángel"), session=2, round=5, body=b'{"seq":1,"n":"\xc3\xb1"}'),
    event(2, table="R2", type="=cmd|' /C calc'!A0", words=("@SUM(A1)", "b"), body=b"=1+1"),
    finding(3, words=("+34",), body=b'{"a":\n1}'),
    event(4, kind="sealed", key="box", body=BOX),
    event(5, body=b"\xff\x00", time="2026-13-45T00:00:00.000000Z"),
    event(6, kind="alert", key="cleared", body=b"", type="-1"),
]


def rows(records: list[ArchiveRecord]) -> list[ArchiveRow]:
    return [ArchiveRow(number, record) for number, record in enumerate(records, 1)]


def test_csv_is_a_row_a_record_and_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    assert export(rows(EVENTS), "csv", path)[0] == len(EVENTS)
    with path.open(newline="", encoding="utf-8") as file:
        head, *told = csv.reader(file)
    assert tuple(head) == COLUMNS
    assert len(told) == len(EVENTS)
    assert not [cell for line in told for cell in line if cell[:1] in set("=+-@\t\r")]
    first = dict(zip(head, told[0], strict=True))
    assert (first["words"], first["body"]) == ("ARA02-014; Ángel", '{"seq":1,"n":"ñ"}')
    assert told[1][head.index("type")] == "'=cmd|' /C calc'!A0"
    assert told[1][head.index("body")] == "'=1+1"
    assert told[1][head.index("words")] == "'@SUM(A1); b"


def test_lines_have_every_body_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    export(rows(EVENTS), "jsonl", path)
    lines = path.read_bytes().splitlines()
    told = [json.loads(line) for line in lines]
    assert [each["number"] for each in told] == [1, 2, 3, 4, 5, 6]
    assert EVENTS[0].body in lines[0]
    assert BOX in lines[3]
    assert told[2]["body"] == '{"a":\n1}'
    assert (told[4]["body"], told[5]["body"]) == ("\\xff\x00", "")
    assert told[0]["words"] == ["ARA02-014", "Ángel"]


def test_parquet_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_parquet, "MAX_GROUP_ROWS", 4)
    path = tmp_path / "r.parquet"
    count, digest = export(rows(EVENTS), "parquet", path)
    assert (count, digest) == (6, sha256(path.read_bytes()).hexdigest())
    file = pq.ParquetFile(path)
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [4, 2]
    told: list[dict[str, Any]] = file.read().to_pylist()
    assert [each["body"] for each in told] == [each.body for each in EVENTS]
    assert [event["type"] for event in told] == [each.type for each in EVENTS]
    assert tuple(told[0]["words"]) == EVENTS[0].words
    assert format_utc(told[0]["time"].timestamp()) == EVENTS[0].time
    assert told[4]["time"] is None


def test_a_group_of_rows_ends_with_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_parquet, "MAX_GROUP_BYTES", 1000)
    path = tmp_path / "r.parquet"
    export(rows([event(n, body=bytes(400)) for n in range(1, 8)]), "parquet", path)
    file = pq.ParquetFile(path)
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [3, 3, 1]


@pytest.mark.parametrize("form", program.WRITERS)
def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path, form: str) -> None:
    def broken() -> Any:
        yield from rows(EVENTS)
        raise ArchiveError("the archive is gone")

    path = tmp_path / "r"
    with pytest.raises(ArchiveError):
        export(broken(), form, path)
    with pytest.raises(ExportError, match="nothing in the archive matches"):
        export([], form, path)
    assert list(tmp_path.iterdir()) == []
    export(rows(EVENTS), form, path)
    before = path.read_bytes()
    with pytest.raises(ExportError, match="the file exists; name another file, or give --r"):
        export(rows(EVENTS[:1]), form, path)
    with pytest.raises(ArchiveError):
        export(broken(), form, path, replace=True)
    assert path.read_bytes() == before
    export(rows(EVENTS[:1]), form, path, replace=True)
    assert path.read_bytes() != before
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"

    def slow() -> Any:
        yield rows(EVENTS)[0]
        path.write_text("somebody else's")

    with pytest.raises(ExportError, match="the file exists"):
        export(slow(), "csv", path)
    assert path.read_text() == "somebody else's"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    path = tmp_path / "r.csv"
    export(rows(EVENTS), "csv", path)
    assert list(tmp_path.iterdir()) == [path]


def ran(place: str, *words: str) -> int:
    return program.main(["--settings", json.dumps({"archive": place}), "export", *words])


def test_the_command(
    archive: RecordArchive, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive.store([event(n, table="R1" if n % 2 else "R2") for n in range(1, 11)])
    path = str(tmp_path / "r.jsonl")
    words = ("--form", "jsonl", "--table", "R1", "--to", format_utc(1_790_000_006))
    assert ran(place, path, *words) == 0
    output = capsys.readouterr().err
    digest = sha256(Path(path).read_bytes()).hexdigest()
    assert f"3 records in {path}, SHA-256 {digest}" in output
    assert (
        "of table R1 at madrid-1, boot boot-1, the events 2 to 2 are missing in the archive"
        in output
    )
    assert "table R2" not in output
    assert ran(place, path, *words) == 1
    assert "the file exists" in capsys.readouterr().err
    assert ran(place, path, "--form", "csv", "--from", "yesterday", "--replace") == 2
    assert "'yesterday' is not a time; write 1h" in capsys.readouterr().err
    assert ran(place, str(tmp_path / "none"), "--form", "csv", "--table", "R9") == 1
    assert "nothing in the archive matches" in capsys.readouterr().err
    assert ran(place, str(tmp_path / "no" / "r"), "--form", "csv") == 1
    assert "No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("zone", "since"), [("Europe/Madrid", "2026-09-21T15:33:20"), ("UTC", "2026-09-21T13:33:20Z")]
)
def test_times_are_local_unless_they_have_an_offset(
    zone: str, since: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        given = program.command_line().parse_args(
            ["--settings", "{}", "export", "f", "--form", "csv", "--from", since]
        )
        assert program._query(given) == Query(since="2026-09-21T13:33:20.000000Z")
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_an_export_is_a_witness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a real journal: it agrees; what was changed behind the daemon's back is found."""
    journal = tmp_path / "journal.sqlite3"
    point = await evening(journal)
    assert point.key is not None
    archive = SQLiteArchive(tmp_path / "archive.sqlite3")
    told = [entry for entry in entries(journal) if entry.kind == "event"]
    archive.store(
        [
            event(entry.seq, entry.table, entry.boot, body=entry.body, time=entry.time)
            for entry in told
        ]
    )
    body = json.dumps({name: getattr(point, name) for name in point.__struct_fields__}).encode()
    archive.store([event(0, table="", kind="checkpoint", key="point", body=body)])
    archive.store([finding(1), event(0, kind="sealed", key="box", body=BOX)])
    path = tmp_path / "witness.jsonl"
    export(archive.find(Query()), "jsonl", path)
    archive.close()
    assert (
        novamas(["verify", str(journal), "--text", "--signer", point.key, "--witness", str(path)])
        == 0
    )
    assert f"{len(told)} events as in the journal" in capsys.readouterr().out
    forged = path.read_bytes().replace(b'"type":"round.result"', b'"type":"round.void"')
    assert forged != path.read_bytes()
    path.write_bytes(forged)
    assert (
        novamas(["verify", str(journal), "--text", "--signer", point.key, "--witness", str(path)])
        == 1
    )
    assert "was published with other content than the journal has" in capsys.readouterr().out
