"""That all chance comes from one source, which may be seeded."""

from __future__ import annotations

from random import Random

from common import randomness


def drawn() -> tuple[bytes, str, str, float]:
    return (
        randomness.token_bytes(32),
        randomness.token_hex(4),
        randomness.token_urlsafe(12),
        randomness.fraction(),
    )


def test_a_seed_gives_the_same_chance_again() -> None:
    with randomness.use(Random(1).randbytes):
        first = drawn()
    with randomness.use(Random(1).randbytes):
        assert drawn() == first
    assert drawn() != first
    assert [len(each) for each in first[:3]] == [32, 8, 16]


def test_a_fraction_is_below_one() -> None:
    for byte, fraction in ((b"\x00", 0.0), (b"\xff", 1 - 2**-53)):
        with randomness.use(byte.__mul__):
            assert randomness.fraction() == fraction
