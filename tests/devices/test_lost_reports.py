"""A report that was damaged on the line never lets the next one take its place unnoticed: before a
card or number comes that counts as live, the codec reports what makes the table ask a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import xor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    CardDrawn,
    DiceRead,
    LinkGap,
    LinkGarbage,
    LinkLate,
    Reading,
    WheelCell,
    WheelNumber,
)
from devices.codec import Codec, FrameProof
from devices.recording import read_recording
from devices.watch import Watch
from tests.devices.test_proof import profile
from tests.devices.test_recordings import RECORDINGS
from tests.devices.test_splits import make
from tests.support.devices.described import proof
from tests.support.for_each import for_each
from tests.world.wheels.kinds import FOLDER as WORLD

SAMPLES = 18
"""Places in each recording at which bytes are damaged."""
LONGEST = 6_000
"""Bytes of a recording that are used."""
HIGH_BIT, LOW_BIT = 0x80, 0x01
"""What is damaged of a byte: a protocol without a check cannot show that a letter became another
one, so that its bytes become such that it never sends.
"""

Chunks = list[tuple[float, bytes]]
Made = Callable[[], Codec]


def results(readings: Iterable[AnyReading], asking: tuple[type[Reading], ...]) -> Iterator[object]:
    """Yield the results that count as live, and None before each that makes the table ask a person,
    or whose own count does.
    """
    for reading in readings:
        match reading:
            case CardDrawn(card=card, to=to, late=late, unsure=unsure):
                yield None if late or unsure or card is None else (card, to)
            case WheelNumber(number=result, spin=count, late=late):
                yield from _counted(result, count, late)
            case WheelCell(cell=result, spin=count, late=late):
                yield from _counted(result, count, late)
            case DiceRead(values=result, throw=count, late=late):
                yield from _counted(tuple(result), count, late)
            case _ if isinstance(reading, asking):
                yield None


def _counted(result: object, count: int | None, late: bool) -> Iterator[object]:
    if count is not None or late:
        yield None
    if not late:
        yield result


def play(codec: Codec, chunks: Chunks) -> list[object]:
    watch = Watch(codec, "device", 60.0)
    watch.opened(chunks[0][0] - 60.0)
    readings = [reading for at, data in chunks for reading in watch.feed(data, at)]
    deals = any(isinstance(reading, CardDrawn) for reading in readings)
    asking = (LinkGap, LinkLate) if deals else (LinkGap, LinkLate, LinkGarbage)
    return list(results(readings, asking))


def taken_for_another(sent: list[object], received: list[object]) -> object | None:
    """Return the first result that follows another one without a question, though it does not
    follow it in what was sent.
    """
    places, asked = {-1}, True
    for result in received:
        if result is None:
            asked = True
            continue
        after = range(min(places) + 1, len(sent)) if asked else [place + 1 for place in places]
        found = {place for place in after if place < len(sent) and sent[place] == result}
        if not found:
            return result
        places, asked = found, False
    return None


def damaged(data: bytes, place: int, how: str) -> bytes:
    match how:
        case "flip":
            return data[:place] + bytes((data[place] ^ HIGH_BIT,)) + data[place + 1 :]
        case "bit":
            return data[:place] + bytes((data[place] ^ LOW_BIT,)) + data[place + 1 :]
        case "cut":
            return data[:place]
        case _:
            return data[:place] + data[place + 2 :]


def assert_none_takes_the_place_of_another(
    made: Made, chunks: Chunks, number: int, place: int, how: str
) -> None:
    at, data = chunks[number]
    after = damaged(data, place, how)
    if not after.strip(b"\r\n []<>"):
        return  # what is lost without a trace, or with what a shoe is known to repeat
    changed = [*chunks[:number], (at, after), *chunks[number + 1 :]]
    sent = [result for result in play(made(), chunks) if result is not None]
    wrong = taken_for_another(sent, play(made(), changed))
    assert wrong is None, (number, data, changed[number], wrong)


def test_what_follows_another_result_without_a_question() -> None:
    assert taken_for_another([1, 2, 3], [1, None, 3]) is None
    assert taken_for_another([1, 2, 3], [1, 3]) == 3
    assert taken_for_another([1, 2, 2, 3], [None, 2, 3]) is None
    assert taken_for_another([1, 2], [1, 5]) == 5


BY_PROFILE = {
    "bee-tek": lambda: proof("bee-tek"),
    "slot-board": lambda: proof("slot-board"),
}
"""Profiles of devices that have a driver, too: by the beginning of the recordings' names."""
CASES = {path.stem: (path, lambda path=path: make(read_recording(path))) for path in RECORDINGS} | {
    f"{path.stem}, by a profile": (path, made)
    for start, made in BY_PROFILE.items()
    for path in RECORDINGS
    if path.stem.startswith(start)
}


@for_each("name", CASES)
def test_no_damaged_line_of_a_recording_lets_another_take_its_place(name: str) -> None:
    path, made = CASES[name]
    chunks, size = Chunks(), 0
    for chunk in read_recording(path):
        if not chunk.sent and size < LONGEST:
            chunks.append((chunk.at, bytes(chunk.data)))
            size += len(chunk.data)
    places = [(number, at) for number, (_, data) in enumerate(chunks) for at in range(len(data))]
    checked = made().proof is FrameProof.CHECKED
    for index, (number, place) in enumerate(places[:: max(1, len(places) // SAMPLES)]):
        how = ("bit" if checked else "flip", "cut", "missing")[index % 3]
        assert_none_takes_the_place_of_another(made, chunks, number, place, how)


HEAD = """
name = "a-reader"
kind = "shoe"
title = "A reader of cards"
source = "a test"
"""
CARDS = [rank + suit for rank in "A23456789TJQK" for suit in "cdhs"]
MAP = "\n[maps.cards]\n" + "".join(f'{card} = "{card}"\n' for card in CARDS)
LINES = (
    HEAD
    + """
[[message]]
name = "card"
match = "C,(?P<card>..)"
fields = { card = { map = "cards" } }

[[message.say]]
reading = "card.drawn"
with = { card = "{card}" }

[[message]]
name = "heartbeat"
match = "alive"
"""
)
ANY = """
[[message]]
name = "anything else"
unknown = true
"""
LETTERS = """
[fields]
letter = { at = 0, width = 1, is = "C" }
card = { at = 1, width = 2, map = "cards" }
"""
SAY = """
[[message]]
name = "card"
length = 3

[[message.say]]
reading = "card.drawn"
with = { card = "{card}" }
"""
CHECK = """
[checksum]
kind = "xor"
at = -2
from = 1
short = 0
"""
MARKS = (
    HEAD
    + """
[framing]
form = "marks"
longest = 16
start = "\\u0002"
end = "\\u0003"
tail = 2
body = [1, -3]
within = 1.0
"""
    + CHECK
    + LETTERS
    + SAY
)
COUNTED = (
    MARKS.replace("[checksum]", '[sequence]\nfield = "number"\nlast = 9\n\n[checksum]')
    .replace(
        "card = { at = 1", 'number = { at = 1, width = 1, encoding = "decimal" }\ncard = { at = 2'
    )
    .replace("length = 3", "length = 4")
)
TWICE = LINES.replace("(?P<card>..)", "(?P<card>..)(?P<count>[0-9])").replace(
    'with = { card = "{card}" }', 'with = { card = "{card}" }\ntwice = true\nchanged = ["count"]'
)
FOUND = LINES.replace("[[message]]", '[framing]\nfind = "C,..|alive"\n\n[[message]]', 1)
JSON = (
    HEAD
    + """
scheme = "mqtt"

[framing]
form = "json"

[fields]
topic = { of = "topic" }
card = { of = "$.card", map = "cards" }

[[message]]
name = "card"

[[message.say]]
reading = "card.drawn"
with = { card = "{card}" }
"""
)


def line(card: str, _: int) -> bytes:
    return f"C,{card}\r\n".encode()


def checked(text: str) -> bytes:
    covered = text.encode() + b"\x03"
    return b"\x02" + covered + b"%02X" % reduce(xor, covered)


READERS: dict[str, tuple[Made, Callable[[str, int], bytes]]] = {
    "lines": (profile(LINES + MAP), line),
    "lines, and any other": (profile(LINES + ANY + MAP), line),
    "found in lines": (profile(FOUND + MAP), line),
    "twice": (profile(TWICE + MAP), lambda card, n: f"C,{card}{n % 10}\r\n".encode() * 2),
    "marks": (profile(MARKS + MAP), lambda card, _: checked(f"C{card}")),
    "counted": (profile(COUNTED + MAP), lambda card, n: checked(f"C{n % 10}{card}")),
    "json": (profile(JSON + MAP), lambda card, _: b'cards 0 {"card":"%b"}\n' % card.encode()),
}
"""By name: a profile without ``gap``, and its reports of a card, by the number of the card."""

cards = st.sampled_from(CARDS)


@pytest.mark.parametrize("name", READERS)
@given(st.data())
def test_no_damaged_card_of_a_profile_lets_the_next_take_its_place(
    name: str, data: st.DataObject
) -> None:
    made, report = READERS[name]
    drawn = data.draw(st.lists(cards, min_size=2, max_size=6))
    chunks = [(100.0 + number, report(card, number)) for number, card in enumerate(drawn)]
    assert play(made(), chunks) == [(card, None) for card in drawn]
    number = data.draw(st.integers(0, len(chunks) - 1))
    place = data.draw(st.integers(0, len(chunks[number][1]) - 1))
    how = data.draw(st.sampled_from(["flip", "cut", "missing"]))
    assert_none_takes_the_place_of_another(made, chunks, number, place, how)


LINE_READERS = {name: READERS[name][0] for name in ("lines", "found in lines", "twice")}


@pytest.mark.parametrize("made", [*LINE_READERS.values(), lambda: proof("bee-tek")])
def test_a_gap_that_a_person_has_settled_hides_no_other(made: Made) -> None:
    """A second card that is damaged, before any report has arrived whole."""
    codec = made()
    for at in (100.0, 130.0):
        assert LinkGap in map(type, codec.feed(b"C,\xff\r\n", at))


def test_a_card_that_was_not_confirmed_is_a_gap() -> None:
    """Of two copies, one became the report of another card: neither card is known."""
    codec = READERS["twice"][0]()
    codec.feed(b"C,As1\r\nC,As1\r\n", 100.0)
    readings = codec.feed(b"C,Kd2\r\nC,Kh2\r\nC,2c3\r\nC,2c3\r\n", 101.0)
    assert [type(reading) for reading in readings] == [LinkGap, LinkGap, CardDrawn]


def test_a_damaged_card_before_the_first_number_is_a_gap() -> None:
    codec = READERS["counted"][0]()
    readings = codec.feed(checked("C0As")[:-1] + b"!" + checked("C1Kd"), 100.0)
    assert [type(reading) for reading in readings] == [LinkGarbage, LinkGap, CardDrawn]
    readings = codec.feed(b"noise" + checked("C2Qd"), 101.0)
    assert [type(reading) for reading in readings] == [LinkGarbage, CardDrawn]


@pytest.mark.parametrize(
    ("gap", "expected"), [("", [LinkGap]), ("gap = false\n", [])], ids=["by default", "allowed"]
)
def test_frames_of_an_unknown_kind_may_have_been_cards(
    gap: str, expected: list[type[Reading]]
) -> None:
    assert [type(each) for each in profile(LINES + ANY + MAP)().feed(b"hello\r\n", 1.0)] == [
        LinkGap
    ]
    codec = profile(LINES + ANY + gap + MAP)()
    assert [type(each) for each in codec.feed(b"hello\r\n", 100.0)] == expected
    assert codec.feed(b"alive\r\n", 101.0) == []


NUMBERS = (WORLD / "number-display.toml").read_text()
UNCHECKED = NUMBERS.replace(
    NUMBERS[NUMBERS.index("[checksum]") : NUMBERS.index("[[message]]")], ""
).replace("\nwith =", "\ntwice = false\nwith =")


@pytest.mark.parametrize("text", [NUMBERS, NUMBERS + ANY, UNCHECKED, UNCHECKED + ANY])
@given(st.data())
def test_no_damaged_number_of_a_profile_lets_the_next_take_its_place(
    text: str, data: st.DataObject
) -> None:
    shown = data.draw(st.lists(st.integers(0, 36), min_size=2, max_size=6))
    chunks = [(100.0 + 40 * at, checked(f"N{number:02}")) for at, number in enumerate(shown)]
    number = data.draw(st.integers(0, len(chunks) - 1))
    place = data.draw(st.integers(0, len(chunks[number][1]) - 1))
    how = data.draw(st.sampled_from(["flip", "cut", "missing"]))
    assert_none_takes_the_place_of_another(profile(text), chunks, number, place, how)
