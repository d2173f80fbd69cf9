"""The registry of drivers, the document that describes them, and the guide to the next one."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import AnyReading, LinkGarbage, WheelNumber
from devices.codec import Driver
from devices.drivers import DRIVERS, driver
from devices.recording import read_recording
from devices.watch import Watch
from tests.support import contract
from tests.support.for_each import for_each

RECORDINGS = Path(__file__).parents[1] / "recordings"
ROWS = {
    row[0]: row for row in contract.table(contract.sections("technician/devices.md")["Devices"])
}
GUIDE = dict(
    re.findall(
        r"^## (\d)\..*?\n```\w*\n(.*?)^```",
        (contract.DOCS / "engineer" / "new-device.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
)


def marked(cell: str) -> list[str]:
    return re.findall(r"[^` ]+", cell)


def test_the_table_has_every_driver() -> None:
    assert list(ROWS) == sorted(DRIVERS)


@pytest.mark.parametrize("name", DRIVERS)
def test_a_row_agrees_with_its_driver(name: str) -> None:
    _, title, kind, evidence, line, gives, commands, recordings = ROWS[name]
    found = driver(name)
    assert (found.name, found.title, found.kind, found.evidence, found.line) == (
        name,
        title,
        kind,
        evidence,
        line,
    )
    assert marked(commands) == list(found.commands)
    files = [
        path
        for path in sorted(RECORDINGS.glob("*.txt"))
        if read_recording(path).header["driver"] == name
    ]
    assert marked(recordings) == [path.stem for path in files]
    said = set()
    for path in files:
        lines = path.with_suffix(".readings.jsonl").read_bytes().splitlines()
        said |= {msgspec.json.decode(line)["type"] for line in lines}
    of_the_watch = {"link.up", "link.stale", "link.lost", "link.unintelligible"}
    assert marked(gives) == sorted(said - of_the_watch)


PAGES = {
    path.relative_to(contract.DOCS).as_posix(): contract.sections(
        path.relative_to(contract.DOCS).as_posix()
    )
    for path in (
        *sorted((contract.DOCS / "technician" / "devices").glob("*.md")),
        contract.DOCS / "technician" / "profiles-reference.md",
    )
}


@for_each("name", DRIVERS)
def test_the_options_are_described(name: str) -> None:
    options = driver(name).options
    [section] = [
        text
        for sections in PAGES.values()
        for heading, text in sections.items()
        if heading == f"Options of {name}"
    ]
    told = [(option, default) for option, default, _ in contract.table(section)]
    fields = msgspec.structs.fields(options)
    assert told == [(field.name, msgspec.json.encode(field.default).decode()) for field in fields]


@for_each("page", [page for page in PAGES if "/devices/" in page])
def test_a_page_explains_how_to_connect_and_what_is_unknown(page: str) -> None:
    sections = PAGES[page]
    assert {"Connect", "What is not known"} <= sections.keys()
    assert {"What it gives", "What they give"} & sections.keys()
    connect = {row[0]: row[1] for row in contract.table(sections["Connect"])}
    assert {"Cable", "Serial"} & connect.keys()
    names = [
        heading.removeprefix("Options of ")
        for heading in sections
        if heading.startswith("Options of ")
    ]
    speeds = {line for name in names if (line := driver(name).line)}
    assert [
        line
        for line in speeds
        if f"{line.removeprefix('baud=')} baud" not in " ".join(connect.values())
    ] == []


def test_an_unknown_driver_is_reported_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"no driver 'acme'; there are: .*cammegh-ss2"):
        driver("acme")


def example() -> Driver:
    module = ModuleType("acme_w1")
    exec(GUIDE["1"], module.__dict__)
    found = module.__dict__["DRIVER"]
    assert isinstance(found, Driver)
    return found


@given(st.data())
def test_the_example_of_the_guide_keeps_what_it_demands(data: st.DataObject) -> None:
    found = example()
    some = st.sampled_from([b"N:17\n", b"N:2", b"\n", b"x" * 64, b"x" * 63, b"\xff"])
    stream = b"".join(data.draw(st.lists(some | st.binary(max_size=9), max_size=9)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    whole, split = found.make("device", found.options()), found.make("device", found.options())
    pieces = [stream[begin:end] for begin, end in pairwise([0, *cuts, len(stream)])]
    readings = whole.feed(stream, 1.0)
    assert [reading for piece in pieces for reading in split.feed(piece, 1.0)] == readings
    assert whole.counters == split.counters
    numbers = sum(isinstance(reading, WheelNumber) for reading in readings)
    assert numbers == len(re.findall(rb"^N:(?:\d|[12]\d|3[0-6])\n", stream, re.MULTILINE))


def test_the_row_of_the_guide_agrees_with_its_driver() -> None:
    found = example()
    name, title, kind, evidence, line, *_ = (
        cell.strip(" `") for cell in GUIDE["4"].strip().strip("|").split("|")
    )
    assert (name, title, kind, evidence, line) == (
        found.name,
        found.title,
        found.kind,
        found.evidence,
        found.line,
    )


def test_the_example_of_the_guide_works(tmp_path: Path) -> None:
    found = example()
    assert re.fullmatch(rf'\s*"{found.name}": "devices\.wheel\.acme_w1:DRIVER",\s*', GUIDE["2"])
    path = tmp_path / "acme.txt"
    path.write_text(GUIDE["3"])
    recording = read_recording(path)
    assert recording.problems == []
    assert recording.header["driver"] == found.name
    kinds: dict[type[AnyReading], list[AnyReading]] = defaultdict(list)
    watch = Watch(found.make("device", found.options()), "device", stale_after=60.0)
    watch.opened(0.0)
    for chunk in recording:
        for reading in watch.feed(chunk.data, chunk.at):
            kinds[type(reading)].append(reading)
    assert [
        reading.number for reading in kinds[WheelNumber] if isinstance(reading, WheelNumber)
    ] == [17, 22]
    assert [reading.frame for reading in kinds[LinkGarbage]] == [r"N:2\xff"]
