"""The serial port of the Deck Mate 1: power-on, and its history on request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import DeviceReport, LinkGarbage, ShufflerState
from devices.shuffler.deck_mate_1 import MAX_LINE_BYTES, DeckMate1

BOOT = b"\x00SHUFFLE MASTER  DECK MATE  V1.62\r\n"
HISTORY = (
    b"Serial Number: 7\r\n"
    b"Door Opened Time: 22:10:00 Date: 01-01-03 P: 120 G: 44 Cyc: 8\r\n"
    b"Jam Recovery Time: 1 Date: 2 P: 1 G: 1 Cyc: 9\r\n"
)


def test_its_power_came_on() -> None:
    codec = DeckMate1("shuffler")
    frame = "SHUFFLE MASTER  DECK MATE  V1.62"
    assert codec.feed(BOOT, 1.0) == [
        DeviceReport(at=1.0, device="shuffler", frame=frame, report="powered_up", value=frame),
        ShufflerState(at=1.0, device="shuffler", frame=frame, state="idle", detail="powered up"),
    ]
    assert len(codec.feed(BOOT, 2.0)) == 2


def test_a_history_is_reported_once_and_never_as_a_state() -> None:
    said = DeckMate1("shuffler").feed(HISTORY, 1.0)
    assert [(each.report, each.value) for each in said if isinstance(each, DeviceReport)] == [
        ("said", "Serial Number: 7"),
        ("history", "sent"),
    ]
    assert not [each for each in said if isinstance(each, ShufflerState)]


def test_it_listens_to_nothing() -> None:
    codec = DeckMate1("shuffler")
    assert codec.polls() == ()
    with pytest.raises(ValueError, match="accepts no commands"):
        codec.encode("shuffle")


@given(st.binary(max_size=900), st.lists(st.integers(1, 50), max_size=20))
def test_any_split_gives_the_same_and_noise_is_never_an_exception(
    noise: bytes, cuts: list[int]
) -> None:
    stream = BOOT + noise + b"\r\n" + HISTORY
    codec, said, begin = DeckMate1("shuffler"), [], 0
    for cut in cuts:
        said += codec.feed(stream[begin : begin + cut], 1.0)
        begin += cut
    said += codec.feed(stream[begin:], 1.0)
    whole = DeckMate1("shuffler").feed(stream, 1.0)
    assert [each for each in said if not isinstance(each, LinkGarbage)] == [
        each for each in whole if not isinstance(each, LinkGarbage)
    ]
    lost = [
        sum(reading.bytes for reading in part if isinstance(reading, LinkGarbage))
        for part in (said, whole)
    ]
    assert lost[0] == lost[1]


def test_the_buffer_is_bounded() -> None:
    said = DeckMate1("shuffler").feed(b"x" * (3 * MAX_LINE_BYTES + 1), 1.0)
    assert (
        sum(reading.bytes for reading in said if isinstance(reading, LinkGarbage))
        == 3 * MAX_LINE_BYTES
    )
