"""The Angel Eye says each report three times: which reports are copies, and which are others."""

from __future__ import annotations

import pytest

from common.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    DeviceReport,
    LinkGap,
    LinkGarbage,
    ShoeReset,
)
from devices.shoe.angel_eye import AngelEye, Options
from tests.support.devices.shoe_pens import ShoeFeed, card, cards, of, report
from tests.support.for_each import for_each


def shoe(strict_bcc: bool = True, min_draw: float = 0.2) -> ShoeFeed:
    return ShoeFeed(AngelEye("shoe", Options(strict_bcc=strict_bcc, min_draw=min_draw)))


def told(readings: list[AnyReading]) -> list[tuple[str, str]]:
    return [(reading.report, reading.value) for reading in of(DeviceReport, readings)]


class TestCopies:
    def test_one_whole_copy_is_enough(self) -> None:
        feed = shoe()
        body = card("7h")
        assert cards(feed.raw(report(1, body, wrong=1) * 2 + report(1, body))) == ["7h"]
        assert [r.bytes for r in of(LinkGarbage, feed.readings)] == [2 * len(report(1, body))]

    def test_copies_may_come_later_and_over_another_connection(self) -> None:
        feed = shoe()
        feed.send(1, card("7h"), copies=1)
        feed.codec.reconnected(feed.now)
        assert feed.send(1, card("7h"), after=60.0, copies=2) == []

    def test_copies_of_several_reports_may_be_mixed(self) -> None:
        feed = shoe()
        mixed = (report(1, b"L\x80") + report(2, card("7h")) + report(3, b"C")) * 3
        assert [type(r) for r in feed.raw(mixed)] == [DeviceReport, CardDrawn, CardCut]

    def test_a_report_long_after_one_like_it_is_another(self) -> None:
        """Seven were lost, and the next has by chance the number and the content of the one before
        the last.
        """
        feed = shoe()
        feed.send(1, card("7h"))
        feed.send(2, card("8h"))
        gap, drawn = feed.send(1, card("7h"), after=8.0)
        assert isinstance(gap, LinkGap)
        assert isinstance(drawn, CardDrawn)
        assert (gap.lost, drawn.card) == (7, "7h")

    def test_copies_of_the_report_before_may_wait_for_another_connection(self) -> None:
        feed = shoe()
        mixed = report(1, card("7h")) + report(2, b"C")
        feed.raw(mixed)
        feed.codec.reconnected(feed.now)
        assert feed.raw(mixed * 2, after=60.0) == []

    def test_the_site_configures_how_long_copies_may_be_mixed(self) -> None:
        codec = AngelEye("shoe", Options(mixed=10.0))
        for seq, name, at in ((1, "7h", 0.0), (2, "8h", 1.0)):
            codec.feed(report(seq, card(name)), at)
        assert codec.feed(report(1, card("7h")), 9.0) == []
        assert cards(codec.feed(report(1, card("7h")), 20.0)) == ["7h"]

    def test_a_second_reset_with_the_same_number(self) -> None:
        feed = shoe()
        for _ in range(2):
            feed.send(0, b"S")
            feed.send(1, card("7h"))
        assert [type(r) for r in feed.readings] == [ShoeReset, CardDrawn] * 2

    def test_the_same_card_again_is_another_card(self) -> None:
        feed = shoe()
        feed.send(1, card("7h"))
        assert cards(feed.send(2, card("7h"))) == ["7h"]

    def test_the_first_report_after_a_reset_has_its_number(self) -> None:
        feed = shoe()
        feed.send(1, b"S")
        assert feed.send(1, card("7h")) == of(CardDrawn, feed.readings)
        feed.send(2, b"S")
        assert cards(feed.send(2, card("7h"))) == ["7h"]

    @for_each(
        ("numbers", "lost"),
        [
            ((1, 2, 3), []),
            ((8, 9, 1, 2), []),
            ((8, 9, 0, 1), []),
            ((1, 3), [1]),
            ((9, 2), [1]),
            ((7, 1), [2]),
            ((7, 0), [2]),
            ((9, 0, 9, 1), [8, 1]),  # it is known by now that 0 follows 9
            ((5, 4), [7]),
        ],
    )
    def test_a_number_that_is_missing(self, numbers: tuple[int, ...], lost: list[int]) -> None:
        feed = shoe()
        for number, drawn in zip(numbers, ("7h", "8h", "9h", "Th"), strict=False):
            assert cards(feed.send(number, card(drawn))) == [drawn]
        assert [gap.lost for gap in of(LinkGap, feed.readings)] == lost

    def test_the_same_number_with_another_content_is_a_whole_turn(self) -> None:
        feed = shoe()
        feed.send(4, card("7h"))
        gap, drawn = feed.send(4, card("8h"))
        assert isinstance(gap, LinkGap)
        assert gap.lost == 8
        assert isinstance(drawn, CardDrawn)

    @pytest.mark.parametrize(("number", "lost"), [(5, []), (6, []), (0, []), (1, []), (3, [6])])
    def test_after_a_reset_the_numbers_may_restart(self, number: int, lost: list[int]) -> None:
        feed = shoe()
        feed.send(7, b"P")
        feed.send(5, b"S")
        feed.send(number, b"C")
        assert [gap.lost for gap in of(LinkGap, feed.readings)] == lost

    def test_what_was_missed_while_the_link_was_closed(self) -> None:
        feed = shoe()
        feed.send(4, card("7h"))
        feed.codec.reconnected(feed.now)
        assert [type(r) for r in feed.send(7, card("8h"))] == [LinkGap, CardDrawn]
