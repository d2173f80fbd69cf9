"""Lists of results as other systems write them, and what is not one."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.shadow.list_format import (
    ListFormat,
    ListFormatError,
    format_names,
    parse_format,
    read_format,
)
from controller.shadow.listed import ListError, read_list
from controller.shadow.results import ListedResult

DAY = date(2026, 11, 26)


def listed(
    data: bytes | str, form: str | ListFormat, table: str = "ruleta-1"
) -> list[ListedResult]:
    found = read_format(form)[0] if isinstance(form, str) else form
    body = data if isinstance(data, bytes) else data.encode()
    return [*read_list(body, found, table=table, day=DAY, day_begins=time(6))]


def shape(text: str) -> ListFormat:
    return parse_format(b'source = "a test"\nevidence = "plausible"\n' + text.encode(), "test.toml")


def utc(results: list[ListedResult]) -> list[str]:
    return [
        f"{datetime.fromtimestamp(each.at or 0, UTC):%d %H:%M:%S} {each.number}" for each in results
    ]


def test_every_shipped_format_can_be_read() -> None:
    assert {"date-time-number", "novamas", "numbers", "time-number"} == {*format_names()}
    for name in format_names():
        assert read_format(name)[0].source


def test_numbers_alone() -> None:
    found = listed("17\r\n0\r\n\r\n08\r\n00\r\n", "numbers")
    assert [(each.line, each.number, each.at) for each in found] == [
        (1, "17", None),
        (2, "0", None),
        (4, "8", None),
        (5, "00", None),
    ]


def test_a_file_of_several_tables_in_the_letters_of_windows() -> None:
    data = "Mesa;Día;Hora;Número\nruleta-1;26/11/2026;21:00:00;17\nruleta-2;26/11/2026;21:00:10;3\n"
    form = shape(
        'encoding = "cp1252"\nzone = "Europe/Madrid"\ntable = "Mesa"\ndate = "Día"\n'
        'time = "Hora"\ntime_format = "%d/%m/%Y %H:%M:%S"\nnumber = "Número"\n'
    )
    assert utc(listed(data.encode("cp1252"), form)) == ["26 20:00:00 17"]
    with pytest.raises(
        ListError, match=r"no table 'ruleta-11'; did you mean `ruleta-1`\? in the list"
    ):
        listed(data.encode("cp1252"), form, table="ruleta-11")


def test_times_after_midnight_belong_to_the_gaming_day_that_began_before() -> None:
    form = shape('headings = false\nzone = "UTC"\ntime = 1\ntime_format = "%H:%M"\nnumber = 2\n')
    assert utc(listed("22:10;1\n23:59;2\n00:01;3\n05:59;4\n", form)) == [
        "26 22:10:00 1",
        "26 23:59:00 2",
        "27 00:01:00 3",
        "27 05:59:00 4",
    ]


def test_an_hour_that_occurs_twice_is_told_apart_by_the_order() -> None:
    form = shape('headings = false\nzone = "Europe/Madrid"\ntime = 1\nnumber = 2\n')
    rows = ["2026-10-25 02:10:00;1", "2026-10-25 02:50:00;2", "2026-10-25 02:05:00;3"]
    assert utc(listed("\n".join(rows), form)) == ["25 00:10:00 1", "25 00:50:00 2", "25 01:05:00 3"]


def test_the_newest_row_first() -> None:
    text = 'headings = false\nzone = "UTC"\ntime = 1\nnumber = 2\n'
    data = "2026-11-26 22:02:00;3\n2026-11-26 22:01:00;2\n2026-11-26 22:00:00;1\n"
    newest = listed(data, shape(text + "newest_first = true\n"))
    assert [each.number for each in newest] == ["1", "2", "3"]
    assert [each.line for each in newest] == [3, 2, 1]
    with pytest.raises(ListError, match=r"line 1: .*go back; state `newest_first`"):
        listed(data, shape(text))


def test_spellings_and_rows_that_are_no_results() -> None:
    form = shape(
        'headings = false\nnumber = 2\nno_result = ["VOID", ""]\nnumbers = { "37" = "00" }\n'
    )
    found = listed("a;37\nb;VOID\nc;\nd;5\n", form)
    assert [(each.line, each.number) for each in found] == [(1, "00"), (4, "5")]


def test_marks_of_spreadsheets_and_utf_16() -> None:
    form = shape('delimiter = ","\nnumber = "n"\n')
    assert [each.number for each in listed(b"\xef\xbb\xbfn,x\r\n5,\r\n", form)] == ["5"]
    wide = shape('delimiter = ","\nencoding = "utf-16"\nnumber = "n"\n')
    assert [each.number for each in listed("n,x\r\n5,\r\n".encode("utf-16"), wide)] == ["5"]


@pytest.mark.parametrize(
    ("data", "form", "message"),
    [
        (b"", 'number = "n"', "empty: not even its headings"),
        (b"x;y\n1;2\n", 'number = "n"', "line 1: `number` of the format: no column 'n'"),
        (b"n;n\n1;2\n", 'number = "n"', "line 1: .*two columns have this heading"),
        (b"n;x\n1;2\n3\n", 'number = "x"', "line 3: 1 columns, and `number` is column 2"),
        (b"n\n1\nred 7\n", 'number = "n"', "line 3: the number's column has 'red 7'"),
        (b"n\n1\n\xff\n", 'number = "n"', "line 3: not utf-8; state the list's `encoding`"),
        (b"n\0\n", 'number = "n"', "line 1: a NUL character; .* utf-16"),
        (b'n\n"1\n2\n', 'number = "n"', "line 2: "),
        (b"t;n\n9 pm;1\n", 'time = "t"\nnumber = "n"', "line 2: the time '9 pm' does not have"),
        (b"t;n\n0001-01-01 00:00:00;1\n", 'time = "t"\nnumber = "n"', "line 2: .* impossible year"),
        (b"n\n" + b"9" * 300 + b"\n", 'number = "n"', "line 2: column 1 has 300 characters"),
        (b"n\n" + b"1\n" * 20_001, 'number = "n"', "line 20002: more than 20000 results"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(data: bytes, form: str, message: str) -> None:
    with pytest.raises(ListError, match=message):
        listed(data, shape(form))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("number = 0", "number"),
        ("numbr = 1", "numbr"),
        ("number = 1\ndate = 2", "needs a column `time`"),
        ('number = "n"\nheadings = false', "named by their numbers"),
        ('number = 1\nzone = "Europe/Palma"', "'Europe/Palma' is no time zone"),
        ('number = 1\nzone = "../../etc/passwd"', "is no time zone"),
        ("number = ", "test.toml"),
    ],
)
def test_a_format_with_a_mistake_is_refused(text: str, message: str) -> None:
    with pytest.raises(ListFormatError, match=message):
        shape(text)


def test_a_format_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ListFormatError, match="no format 'number'; did you mean `numbers`"):
        read_format("number")
    with pytest.raises(ListFormatError, match=r"own\.toml: No such file"):
        read_format(str(tmp_path / "own.toml"))


@given(st.binary(max_size=400), st.sampled_from(["novamas", "numbers", "time-number"]))
def test_any_bytes_are_a_list_or_an_error(data: bytes, form: str) -> None:
    try:
        found = listed(data, form)
    except ListError:
        return
    assert all(each.number.isalnum() for each in found)
