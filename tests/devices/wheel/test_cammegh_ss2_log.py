"""The win log of a Slingshot 2: its pages, and every way in which they cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat

from hypothesis import given
from hypothesis import strategies as st

from common.readings import (
    DeviceParameter,
    DeviceRefused,
    LinkGarbage,
    LinkLost,
    Number,
    WheelLog,
    unescape,
)
from devices.wheel.cammegh_ss2 import Options
from devices.wheel.cammegh_ss2_log import (
    MAX_PAGES,
    MAX_REQUESTS,
    PAGE_CHARACTERS,
    LogEntry,
    read_page,
)
from simulators.wheel.cammegh_ss2 import ARCADE, SlingshotSS2
from tests.devices.wheel.asked_slingshot import (
    VALUES,
    AskedWheel,
    entries_text,
    page_line,
)
from tests.support.for_each import for_each

Lines = Callable[[int], bytes]
VALUES_OF_PAGES = st.lists(st.integers(0, 75), max_size=3 * PAGE_CHARACTERS)


def entry(value: int) -> LogEntry:
    return None if value >= 38 else "00" if value == 37 else value


def answering(
    page: Callable[[int], Iterable[bytes]], count: Iterable[int], after: float = 0.05
) -> Callable[[str], list[tuple[float, bytes]]]:
    """Answers: the parameters, then the number of pages and each page as the test gives them."""
    counts = iter(count)

    def answers(request: str) -> list[tuple[float, bytes]]:
        if request == "*s t":
            return [(after, b"*s t %d\r\n" % next(counts))]
        if request in VALUES:
            return [(0.15, VALUES[request].encode() + b"\r\n")]
        return [(after, line + b"\r\n") for line in page(int(request.removeprefix("*s r ")))]

    return answers


def whole(values: list[int]) -> Callable[[str], list[tuple[float, bytes]]]:
    """A wheel that answers at once."""
    pages = -(-len(values) // PAGE_CHARACTERS)
    return answering(
        lambda page: [page_line(entries_text(values[page * PAGE_CHARACTERS :][:PAGE_CHARACTERS]))],
        repeat(pages),
    )


def log_of(asked: AskedWheel, until: float = 60.0) -> WheelLog:
    asked.run(until)
    (log,) = asked.of(WheelLog)
    return log


@given(VALUES_OF_PAGES)
def test_every_entry_is_read(values: list[int]) -> None:
    log = log_of(AskedWheel(answers=whole(values)), 30)
    assert (log.problem, log.first) == (None, 0)
    assert log.entries == tuple(map(entry, values))


def test_the_log_of_the_model() -> None:
    wheel = SlingshotSS2(seed=3, mode=ARCADE, games_per_hour=120)
    asked = AskedWheel(wheel)
    asked.run(300)
    wheel.attended = False
    wheel.receive(b"*P 0\r\n", asked.now)
    asked.run(380)
    assert len(wheel.wins) > 3
    assert [log.entries for log in asked.of(WheelLog) if not log.problem] == [tuple(wheel.wins)]


def test_an_empty_log() -> None:
    log = log_of(AskedWheel(answers=whole([])))
    assert (log.pages, log.entries, log.problem) == (0, (), None)


def test_the_newest_pages_of_a_long_log() -> None:
    values = [index % 37 for index in range((MAX_PAGES + 2) * PAGE_CHARACTERS - 5)]
    asked = AskedWheel(answers=whole(values))
    log = log_of(asked, 120)
    assert log.first == 2 * PAGE_CHARACTERS
    assert log.entries == tuple(values[2 * PAGE_CHARACTERS :])
    assert "*s r 1" not in {request for _, request in asked.requests}


def test_the_log_is_never_erased() -> None:
    asked = AskedWheel(answers=whole(list(range(38)) * 20))
    asked.run(60)
    assert not [request for _, request in asked.requests if request.startswith("*s e")]


def test_the_letters_of_the_request_may_precede_a_page() -> None:
    asked = AskedWheel(
        answers=answering(lambda page: [b"*s r %d " % page + page_line("&&")], repeat(1))
    )
    assert log_of(asked).entries == (5, 5)


def test_the_evidence_is_the_lines_as_they_came() -> None:
    values = [7] * 300
    log = log_of(AskedWheel(answers=whole(values)))
    assert log.frame is not None
    lines = unescape(log.frame).split(b"\r\n")
    assert [read_page(line) is not None for line in lines] == [True, True]


class TestWhatGoesWrong:
    def test_a_wrong_sum_once(self) -> None:
        lines = iter([page_line("&", 1), *repeat(page_line("&"), 9)])
        log = log_of(AskedWheel(answers=answering(lambda _: [next(lines)], repeat(1))))
        assert (log.problem, log.entries) == (None, (5,))

    def test_damage_that_the_sum_does_not_show(self) -> None:
        """Two entries in each other's place have the same sum: two answers must agree."""
        lines = iter([page_line("&'"), page_line("'&"), *repeat(page_line("&'"), 9)])
        log = log_of(AskedWheel(answers=answering(lambda _: [next(lines)], repeat(1))))
        assert log.entries == (5, 6)

    @for_each(
        ("line", "problem"),
        [
            (page_line("&" * 200, 1), "checksum"),
            (page_line("&" * 200)[:-3], "truncated"),
            (page_line("&" * 200)[9:], "truncated"),
            (page_line("&" * 200) + b"00", "truncated"),
            (page_line("&&~&&"), "wrapped"),
            (b"*s NO", "refused"),
            (b"*s BUSY", "refused"),
        ],
    )
    def test_a_page_that_cannot_be_used(self, line: bytes, problem: str) -> None:
        asked = AskedWheel(answers=answering(lambda _: [line], repeat(1)))
        log = log_of(asked)
        assert (log.problem, log.entries) == (problem, ())
        assert [request for _, request in asked.requests].count("*s r 0") <= MAX_REQUESTS
        assert not asked.of(LinkGarbage)
        assert bool(asked.of(DeviceRefused)) == (problem == "refused")

    def test_no_answer_at_all(self) -> None:
        asked = AskedWheel(answers=answering(lambda _: [], repeat(1)))
        assert log_of(asked).problem == "unanswered"
        assert [request for _, request in asked.requests].count("*s r 0") == MAX_REQUESTS

    def test_an_entry_after_an_empty_page(self) -> None:
        pages = [page_line(""), page_line("&")]
        assert log_of(AskedWheel(answers=answering(lambda p: [pages[p]], repeat(2)))).problem == (
            "wrapped"
        )

    def test_a_number_of_pages_that_was_damaged_once(self) -> None:
        log = log_of(AskedWheel(answers=answering(lambda _: [page_line("&")], [3, *repeat(1, 9)])))
        assert (log.pages, log.entries) == (1, (5,))

    def test_the_page_before_comes_once_more(self) -> None:
        pages = [page_line("&" * PAGE_CHARACTERS), page_line("'")]
        repeated = answering(lambda page: [pages[0], pages[page]], repeat(2))
        assert log_of(AskedWheel(answers=repeated)).entries == (*[5] * PAGE_CHARACTERS, 6)

    def test_the_wheel_is_started_in_the_middle(self) -> None:
        asked = AskedWheel(answers=whole([7] * 1500))
        asked.run(18)
        assert not asked.of(WheelLog)
        asked.wheel.receive(b"*P 1\r\n", asked.now)
        asked.run(22)
        (log,) = asked.of(WheelLog)
        assert (log.problem, log.entries) == ("interrupted", ())
        count = len(asked.requests)
        asked.run(60)
        assert len(asked.requests) == count

    def test_the_link_is_lost_in_the_middle(self) -> None:
        values = [index % 37 for index in range(1500)]
        asked = AskedWheel(answers=whole(values))
        asked.run(18)
        asked.readings += asked.watch.lost(asked.now, "unplugged")
        asked.readings += asked.watch.opened(asked.now, kept=True)
        log = log_of(asked, 90)
        assert log.entries == tuple(values)
        assert asked.of(LinkLost)

    def test_read_once_until_the_wheel_has_played(self) -> None:
        asked = AskedWheel(answers=whole([7]))
        asked.run(1500)
        assert len(asked.of(WheelLog)) == 1
        assert len({each.at // 600 for each in asked.of(DeviceParameter)}) == 3

    def test_a_wheel_of_39_pockets_has_no_known_log(self) -> None:
        """Its values 38 and 39 may be pockets or failed launches: the guide does not say."""
        asked = AskedWheel(answers=whole([7]), options=Options(ask=True, pockets=39))
        asked.run(60)
        assert not asked.of(WheelLog)


@st.composite
def troubled_lines(draw: st.DrawFn) -> tuple[list[int], Iterator[bytes]]:
    """A page, and the lines that arrive for it: cut, changed, or as it is."""
    values = draw(st.lists(st.integers(0, 75), min_size=1, max_size=PAGE_CHARACTERS))
    line = page_line(entries_text(values))
    lines = []
    for at in draw(st.lists(st.integers(0, len(line) - 1), max_size=5)):
        changed = bytearray(line)
        changed[at] ^= 1 << draw(st.integers(0, 6))
        lines.append(draw(st.sampled_from([line[:at], line[at:], bytes(changed), line])))
    return values, iter([*lines, *repeat(line, 20)])


@given(troubled_lines(), st.floats(0, 3))
def test_what_is_read_is_the_page_or_nothing(
    troubled: tuple[list[int], Iterator[bytes]], after: float
) -> None:
    """However the line cuts or changes it: never an entry that the wheel does not have."""
    values, lines = troubled
    log = log_of(AskedWheel(answers=answering(lambda _: [next(lines)], repeat(1), after)), 90)
    expected: tuple[Number | None, ...] = tuple(map(entry, values))
    assert log.entries == (expected if log.problem is None else ())
