"""Amounts as people write them, to minor units and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.money import MINOR_UNIT_DIGITS, format_amount, parse_amount

READ = [
    ("5.00", "EUR", 500),
    ("5,00", "EUR", 500),
    ("-12.34", "EUR", -1234),
    ("0", "EUR", 0),
    ("0.00", "EUR", 0),
    ("500", "JPY", 500),
    ("5.000", "KWD", 5000),
]
REFUSED = [
    ("5", "EUR", "5 may mean 5.00 or 0.05 EUR"),
    ("-500", "EUR", "-500 may mean -500.00 or -5.00 EUR"),
    ("5", "KWD", "5 may mean 5.000 or 0.005 KWD"),
    ("1.000", "EUR", "2 decimals, as 5.00"),
    ("5.0", "EUR", "2 decimals, as 5.00"),
    ("5.00", "JPY", "no decimals, as 5"),
    ("5e2", "EUR", "2 decimals, as 5.00"),
    ("1.000,00", "EUR", "2 decimals, as 5.00"),
    ("5.00 EUR", "EUR", "2 decimals, as 5.00"),
    ("٥.٠٠", "EUR", "2 decimals, as 5.00"),
    ("", "EUR", "2 decimals, as 5.00"),
    ("9" * 40, "EUR", "2 decimals, as 5.00"),
]


def test_an_amount_has_exactly_the_decimals_of_its_currency() -> None:
    for written, currency, amount in READ:
        assert parse_amount(written, currency) == amount, written
    for written, currency, why in REFUSED:
        with pytest.raises(ValueError, match=why):
            parse_amount(written, currency)


@given(st.integers(-(10**12), 10**12), st.sampled_from(["EUR", "???", *MINOR_UNIT_DIGITS]))
def test_what_is_written_is_read_as_the_same_amount(amount: int, currency: str) -> None:
    assert parse_amount(format_amount(amount, currency), currency) == amount
