"""Amounts on the wire are minor units and state so; a refusal's amounts are money for people."""

from __future__ import annotations

import json
import re
from pathlib import Path

from common.contract.commands import COMMANDS, tag_of
from common.contract.forms import NAMES, form
from common.contract.jackpot import JACKPOT_ORDERS
from common.contract.messages.messages import LANGUAGES, catalogue
from common.contract.refusals import AMOUNT_FIELDS, Refusal

ROOT = Path(__file__).parents[3]
PAGES = "commands", "jackpot"
COUNTED = {
    *("boxes_out_of_range", "cards_due", "cards_due_to", "discards_counted", "players_too_many"),
    *("signed_life", "signed_too_long", "staff_too_many", "too_many_bettors", "order_outdated"),
    "too_many_on_bank",
}
"""Refusals whose ``most``, ``due`` or ``said`` is a count, or the number of a state."""
NAMED = {
    *("allowed", "amount", "ante", "due", "highest", "least", "left", "meter", "minimum"),
    *("most", "paid", "said", "second", "stake"),
}


def test_every_amount_of_a_refusal_is_marked_as_an_amount() -> None:
    for key, text in catalogue("en").items():
        name = key.removeprefix("refusal.")
        if key.startswith("refusal.") and name not in COUNTED:
            fields = {each for each in re.findall(r"\{(\w+)\}", text) if each in NAMED}
            assert fields <= {*AMOUNT_FIELDS.get(name, ())}, name
    for name, amounts in AMOUNT_FIELDS.items():
        for language in LANGUAGES:
            text = catalogue(language)[f"refusal.{name}"]
            assert all(f"{{{field}}}" in text for field in amounts), (name, language)


def test_a_refusal_has_its_amounts_as_money() -> None:
    refusal = Refusal("minimum_not_authorised", {"minimum": 300, "allowed": ("500", "1000")})
    told = refusal.with_amounts(lambda amount: f"{amount / 100:.2f} EUR").error()
    assert told == "the minimum of a cloth may not be 3.00 EUR; allowed: 5.00 EUR, 10.00 EUR"
    counted = Refusal("too_many_bettors", {"most": 3})
    assert counted.with_amounts(str) == counted


def test_the_schemas_call_every_amount_minor_units() -> None:
    orders = {str(kind.__struct_config__.tag): kind for kind in JACKPOT_ORDERS}
    kinds = {tag_of(kind): kind for kind in COMMANDS} | orders
    pages = [
        json.loads((ROOT / f"docs/integrator/schemas/{page}.json").read_text()) for page in PAGES
    ]
    shapes = pages[0]["$defs"] | pages[1]["$defs"]
    for name in NAMES:
        for field in form(name).fields:
            if field.kind == "amount":
                told = shapes[kinds[name].__name__]["properties"][field.name]["description"]
                assert "minor units" in told, (name, field.name)
