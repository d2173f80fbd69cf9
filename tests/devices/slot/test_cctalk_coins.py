"""The amount of a coin: acceptor and settings must agree, or it is not accepted."""

from __future__ import annotations

from devices.slot.cctalk_coins import (
    ACCEPTOR_FAULTS,
    COIN_REFUSALS,
    CoinTable,
    agreed_amounts,
    amount_of,
)
from tests.support.for_each import for_each


@for_each(
    ("name", "amount"),
    [
        ("EU050A", 50),
        ("EU200B", 200),
        ("GB050A", None),
        ("EU1K0A", None),
        ("EU000A", None),
        ("......", None),
        ("", None),
    ],
)
def test_the_amount_in_a_name(name: str, amount: int | None) -> None:
    assert amount_of(name, "EU") == amount


def test_without_settings_every_coin_of_the_currency_is_accepted() -> None:
    assert agreed_amounts(
        {5: "EU100A", 6: "EU200A", 7: "GB100A", 8: "......"}, {}, "EU"
    ) == CoinTable({5: 100, 6: 200})


def test_with_settings_no_other_coin_is() -> None:
    assert agreed_amounts({5: "EU100A", 6: "EU200A"}, {6: 200}, "EU") == CoinTable({6: 200})


def test_settings_apply_where_the_acceptor_is_silent() -> None:
    assert agreed_amounts({1: "TK001A", 2: "......"}, {1: 500, 2: 250, 3: 100}, "EU") == CoinTable(
        {1: 500, 2: 250, 3: 100}
    )


def test_where_they_disagree_the_coin_is_not_accepted() -> None:
    assert agreed_amounts({5: "EU100A", 6: "EU200A"}, {5: 200, 6: 200}, "EU") == CoinTable(
        {6: 200}, ("position 5 is EU100A, the settings say 200",)
    )


def test_an_error_is_either_a_refused_coin_or_a_fault() -> None:
    assert not set(COIN_REFUSALS) & set(ACCEPTOR_FAULTS)
