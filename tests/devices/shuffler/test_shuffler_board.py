"""The codec of a shuffler's board, which accepts no report that names cards in order."""

from __future__ import annotations

from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.notation import write
from common.readings import (
    AnyReading,
    DeviceReport,
    LinkGap,
    LinkGarbage,
    ShufflerPacket,
    ShufflerState,
    ShufflerStateName,
    ShufflerVerdict,
)
from devices.shuffler.shuffler_board import NEW_DECK
from tests.support.devices.board_pens import Board, of
from tests.support.for_each import for_each


def shuffler() -> Board:
    board = Board("shuffler-board")
    board.show("state", "idle", 0, seconds=2.0)
    return board


def reports(readings: list[AnyReading]) -> list[tuple[str, str]]:
    return [(r.report, r.value) for r in of(DeviceReport, readings)]


@for_each("state", get_args(ShufflerStateName))
def test_every_state_once(state: str) -> None:
    board = Board("shuffler-board")
    readings = board.show("state", state, 0, seconds=5.0)
    assert [(r.state, r.detail) for r in of(ShufflerState, readings)] == [(state, None)]


def test_a_state_with_what_is_the_matter() -> None:
    board = shuffler()
    readings = board.show("state", "jam", 0, "feed", seconds=1.0) + board.show(
        "state", "jam", 0, "exit", seconds=1.0
    )
    assert [(r.state, r.detail) for r in of(ShufflerState, readings)] == [
        ("jam", "feed"),
        ("jam", "exit"),
    ]


class TestVerdicts:
    @pytest.mark.parametrize(
        ("fields", "verdict"),
        [
            (
                (1, 52, 1, 1, "-", "-"),
                {"decks": 1, "count": 52, "count_right": True, "set_right": True},
            ),
            ((1, 51, 0, "-", "-", "-"), {"decks": 1, "count": 51, "count_right": False}),
            (("-", "-", 1, "-", "-", "-"), {"count_right": True}),
            (
                (1, 52, 1, 0, "7h", "Ks+X"),
                {
                    "decks": 1,
                    "count": 52,
                    "count_right": True,
                    "set_right": False,
                    "missing": ("7h",),
                    "extra": ("Ks", "X"),
                },
            ),
        ],
    )
    def test_count_and_set_are_two_facts(
        self, fields: tuple[Any, ...], verdict: dict[str, Any]
    ) -> None:
        board = shuffler()
        readings = board.say("verdict", *fields, after=1.0)
        assert readings == [
            ShufflerVerdict(
                at=board.now,
                device="board",
                frame=of(ShufflerVerdict, readings)[0].frame,
                **verdict,
            ),
        ]


class TestPackets:
    def test_packets_with_their_place_and_without(self) -> None:
        board = shuffler()
        readings = board.say("packet", 1, 5, "box:3", after=1.0) + board.say(
            "packet", 2, 5, "dealer", after=1.0
        )
        readings += board.say("packet", 3, 7, after=1.0)
        told = [(r.size, r.to, r.index, r.late) for r in of(ShufflerPacket, readings)]
        assert told == [(5, "box:3", 1, False), (5, "dealer", 2, False), (7, None, 3, False)]

    def test_equal_packets_are_two(self) -> None:
        board = shuffler()
        assert (
            len(
                of(
                    ShufflerPacket,
                    board.say("packet", 1, 5, after=0.1) + board.say("packet", 2, 5, after=0.1),
                )
            )
            == 2
        )

    def test_an_unreported_packet(self) -> None:
        board = shuffler()
        board.lose()
        readings = board.say("state", "dealing", 1, after=1.0)
        assert [gap.lost for gap in of(LinkGap, readings)] == [1]
        assert reports(readings) == [("packets_missed", "1")]
        board.lose(2)
        assert reports(board.say("packet", 4, 5, after=1.0)) == [("packets_missed", "2")]

    def test_packets_are_not_missed_by_a_restart_in_a_silence(self) -> None:
        board = shuffler()
        board.now += 600.0
        board.number, board.started = 500, board.now - 500.0
        board.codec.reconnected(board.now)
        board.state = "state", "dealing", 7
        assert reports(board.wait(3.0)) == [("boot", "not heard")]

    def test_after_a_restart_they_are_counted_from_zero(self) -> None:
        board = shuffler()
        board.say("packet", 1, 5, after=1.0)
        board.restart()
        readings = board.say("boot", 1, "model 7") + board.say("packet", 1, 5, after=2.0)
        assert reports(readings) == [("boot", "model 7")]
        assert [r.index for r in of(ShufflerPacket, readings)] == [1]


ORDERS = [
    ("order", "7h", "Ks", "2c"),
    ("cards", "7h+Ks+2c"),
    ("packet", 1, 3, "7h+Ks+2c"),
    ("packet", 1, "7h", "Ks"),
    ("packet", 1, 3, "box:1", "7h", "Ks", "2c"),
    ("state", "dealing", 1, "7h"),
    ("state", "dealing", "7h", "Ks"),
    ("verdict", 1, 52, 1, 0, "Ks+7h", "-"),  # not as in a new deck
    ("verdict", 1, 52, 1, 1, "7h", "-"),  # nothing is wrong, and yet a card is named
    ("verdict", 1, 52, 0, 0, "+".join(NEW_DECK[:9]), "-"),
    ("verdict", 1, 52, 1, 1, "-", "-", "7h"),
    ("boot", 1, "7h Ks 2c"),
    ("next", "10H"),
]


class TestNoOrder:
    @for_each("fields", ORDERS, ids=str)
    def test_a_report_that_names_cards_is_dropped_and_reported(
        self, fields: tuple[Any, ...]
    ) -> None:
        board = shuffler()
        frames = board.codec.counters.frames
        readings = board.say(*fields, after=1.0)
        assert ("cards_refused", fields[0]) in reports(readings)
        assert {type(r) for r in readings} <= {DeviceReport, LinkGap}
        assert not any(
            card in str(write(r)) for r in readings for card in ("7h", "Ks", "2c", "10H")
        )
        assert (board.codec.counters.frames, board.codec.counters.unknown) == (frames + 1, 1)

    def test_what_is_damaged_is_not_shown(self) -> None:
        board = shuffler()
        readings = board.raw(board.line("verdict", 1, 52, 1, 0, "7h", "Ks").replace(b"52", b"51"))
        assert [(r.frame, r.bytes > 40) for r in of(LinkGarbage, readings)] == [(None, True)]

    @given(
        st.integers(0, 2**32),
        st.sampled_from("+, -/:;"),
        st.sampled_from(["order", "packet", "state", "verdict", "boot", "x"]),
    )
    def test_no_shuffled_deck_comes_through(self, seed: int, between: str, word: str) -> None:
        """However a board may try to say it in one report."""
        deck = list(NEW_DECK)
        Random(seed).shuffle(deck)
        board = shuffler()
        for size in (1, 9, 26):
            said = between.join(deck[:size])
            for fields in (
                (said,),
                (1, said),
                (1, 5, said),
                (1, 52, 1, 1, said, "-"),
                (1, 52, 1, 1, "-", said),
            ):
                readings = board.say(word, *fields, after=1.0)
                assert (
                    of(ShufflerVerdict, readings)
                    + of(ShufflerPacket, readings)
                    + of(ShufflerState, readings)
                    == []
                )
                assert not any(
                    card in str(write(r)) for r in readings for card in deck[:size] if card != "X"
                )
