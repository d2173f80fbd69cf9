"""Which of two events was first, as far as their clocks show."""

from __future__ import annotations

from itertools import product

import msgspec
from msgspec.structs import replace

from common.contract.events import DataLate
from common.contract.notation import write
from common.contract.order import Stamp, is_before
from common.contract.times import format_utc, parse_utc
from common.readings import MAX_EXACT_INTEGER
from tests.support.for_each import for_each

NOON = parse_utc("2026-11-23T12:00:00Z")
ONE = Stamp("r1", "b1", 7, format_utc(NOON), 1_000)


def at(seconds: float, bound: float | None = 0.0) -> Stamp:
    """A stamp of another machine."""
    return Stamp("r2", "b2", 3, format_utc(NOON + seconds), 5, bound)


@for_each(
    ("other", "allowed", "first"),
    [
        (at(0.3), 0.1, True),
        (at(-0.3), 0.1, False),
        (at(0.2), 0.1, None),
        (at(-0.1), 0.1, None),
        (at(0.0), 0.0, None),
        (at(0.000001), 0.0, True),
        (at(3.0, 5.0), 0.1, None),
        (at(6.0, 5.0), 0.1, True),
        (at(5.1, 5.0), 0.1, None),
        (at(86_400.0, None), 0.1, None),
        (at(86_400.0), None, None),
        (at(86_400.0, 5.0), None, None),
    ],
)
def test_two_machines(other: Stamp, allowed: float | None, first: bool | None) -> None:
    assert is_before(ONE, other, allowed) is first
    assert is_before(other, ONE, allowed) is (None if first is None else not first)


def test_one_run_needs_no_wall_clock() -> None:
    """An hour back in between changes nothing."""
    later = replace(ONE, seq=8, time=format_utc(NOON - 3600), mono_ns=2_000)
    beside = replace(later, table="r2", seq=1)
    for other in (later, beside):
        assert is_before(ONE, other, None) is True
        assert is_before(other, ONE, None) is False
    assert is_before(ONE, ONE, None) is None
    assert is_before(later, beside, None) is None  # read at the same moment
    again = replace(beside, mono_ns=5)  # the count of the year's 105th day begins at 0 again
    assert is_before(replace(ONE, mono_ns=MAX_EXACT_INTEGER - 5), again, None) is True
    assert is_before(again, replace(ONE, mono_ns=MAX_EXACT_INTEGER - 5), None) is False


def test_the_order_is_transitive() -> None:
    """Of three events none is before itself, and true times never contradict the order."""
    stamps = [
        (true, at(true + wrong, bound))
        for true in (0.0, 0.3, 1.0, 4.0)
        for bound in (0.2, 2.0)
        for wrong in (-bound, 0.0, bound)
    ]
    for (true, one), (later, other) in product(stamps, repeat=2):
        said = is_before(one, replace(other, boot="b3"), 0.1)
        assert said is not (true > later)
        if said is not None:
            assert said is (true < later)


def test_a_message_and_an_event_are_stamped_alike() -> None:
    event = DataLate(
        device="wheel",
        frames=1,
        silence=2.0,
        table="r1",
        boot="b1",
        seq=1,
        time=format_utc(NOON),
        mono_ns=1,
    )
    body = write(replace(event, time_bound=0.5))
    stamp = msgspec.json.decode(body, type=Stamp)
    assert stamp.time_bound == 0.5
    assert is_before(event, at(9.0), 0.1) is True
    assert b"time_bound" not in write(event)
    assert b'"time_bound":null' in write(replace(event, time_bound=None))
