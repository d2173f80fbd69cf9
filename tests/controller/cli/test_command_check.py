"""``novamas send`` finds a mistake in a command without a broker, and refuses no command that a
daemon or a jackpot controller would follow.
"""

from __future__ import annotations

from typing import Any

import pytest

from controller.cli.command_check import command_mistake


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("award.pay", {"award": 1, "paid": 0, "amount": "5.00"}, None),
        ("award-pay", {"award": 1, "amount": "5.00"}, None),  # `paid`: the controller answers
        ("award.pay", {"award": "one", "paid": 0, "amount": "5.00"}, "award: expected a whole"),
        ("award.payed", {}, "no order 'award.payed'; did you mean `award.pay`?"),
        ("round.void", {}, "no order 'round.void'"),
    ],
)
def test_an_order_to_a_jackpot(name: str, fields: dict[str, Any], expected: str | None) -> None:
    mistake = command_mistake(name, fields, None, None, is_jackpot=True)
    assert mistake == expected or (expected is not None and str(mistake).startswith(expected))


@pytest.mark.parametrize("name", ["session.open", "session-open"])
@pytest.mark.parametrize("minimum", ["5,00", 5, "no amount"])
def test_an_amount_is_checked_where_its_currency_is_known(name: str, minimum: object) -> None:
    fields = {"minimum": minimum, "currency": "EUR"}
    assert command_mistake(name, fields, "X", "inspector", is_jackpot=False) is None
