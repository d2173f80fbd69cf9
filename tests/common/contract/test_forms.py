"""The form of each command: its fields are those of the command, and all of it is translated."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from common.contract.commands import COMMANDS, Command, tag_of
from common.contract.forms import SENT_OTHERWISE, Form, form
from common.contract.jackpot import JACKPOT_ORDERS, JackpotOrder
from common.contract.messages.messages import LANGUAGES, catalogue
from common.contract.notation import read_input
from tests.support.for_each import for_each

FORMS = [form(tag_of(kind)) for kind in COMMANDS]
ORDERS = [form(str(kind.__struct_config__.tag)) for kind in JACKPOT_ORDERS]
FILLED = {
    "integer": 2,
    "integers": [1, 2],
    "amount": 500,
    "round": 1,
    "number": 17,
    "text": "a word",
    "texts": ["1", "2"],
    "name": "A. Vila",
    "flag": True,
    "hand": "box:1",
    "card": "7h",
    "cards": ["7h", "8s"],
    "cards_by_hand": {"box:1": ["7h"]},
    "choice_by_hand": {"box:1": "go"},
}


@for_each("kind", COMMANDS)
def test_a_form_has_the_fields_of_its_command(kind: type[Command]) -> None:
    names = {field.name for field in form(tag_of(kind)).fields}
    assert names == {*kind.__struct_fields__} - {*SENT_OTHERWISE}


@for_each("of", FORMS, ids=lambda of: of.command)
def test_a_form_that_is_filled_in_is_a_command(of: Form) -> None:
    for wanted in (True, False):  # all fields, and only the required ones
        said = {
            field.name: next(iter(field.choices), FILLED.get(field.kind))
            if field.kind == "choice"
            else FILLED[field.kind]
            for field in of.fields
            if wanted or field.required
        }
        head = {"type": of.command, "at": 1.0, "by": "M. Lasa", "role": "table_head"}
        given = read_input(msgspec.json.encode(head | said))
        assert isinstance(given, Command)


@for_each("of", FORMS, ids=lambda of: of.command)
def test_every_choice_of_a_form_is_a_value_of_the_command(of: Form) -> None:
    needed = {
        field.name: next(iter(field.choices), FILLED.get(field.kind))
        for field in of.fields
        if field.required
    }
    head = {"type": of.command, "at": 1.0, "by": "M. Lasa", "role": "table_head", **needed}
    for field in of.fields:
        assert (field.kind in ("choice", "choice_by_hand")) == bool(field.choices)
        for value in field.choices:
            said = {"box:1": value} if field.kind == "choice_by_hand" else value
            assert read_input(msgspec.json.encode(head | {field.name: said}))


@for_each("of", [*FORMS, *ORDERS], ids=lambda of: of.command)
@for_each("language", LANGUAGES)
def test_a_form_has_words_in_every_language(of: Form, language: str) -> None:
    texts = catalogue(language)
    keys = [of.text, *(field.text for field in of.fields)]
    keys += [key for field in of.fields for key in field.choices.values()]
    assert [key for key in keys if key not in texts] == []


@for_each("of", FORMS, ids=lambda of: of.command)
def test_values_outside_the_bounds_are_refused_by_the_contract_or_by_every_game(of: Form) -> None:
    for field in of.fields:
        if field.kind in ("integer", "amount", "round"):
            assert field.least in (0, 1)
            assert field.most is not None
            head = {"type": of.command, "at": 1.0, "by": "M. Lasa", "role": "table_head"}
            needed = {
                each.name: next(iter(each.choices), FILLED.get(each.kind))
                for each in of.fields
                if each.required
            }
            body = head | needed
            assert read_input(msgspec.json.encode(body | {field.name: field.most}))
            with pytest.raises(ValueError, match=field.name):
                read_input(msgspec.json.encode(body | {field.name: field.most + 1}))


def order(of: Form, **said: Any) -> JackpotOrder:
    """The order that a form makes with its required fields filled in, and these."""
    needed = {
        field.name: next(iter(field.choices), FILLED.get(field.kind))
        for field in of.fields
        if field.required
    }
    head = {"type": of.command, "by": "M. Lasa", "role": "table_head"}
    given: JackpotOrder = msgspec.convert({**head, **needed, **said}, JackpotOrder)
    return given


@for_each("of", ORDERS, ids=lambda of: of.command)
def test_the_form_of_an_order_of_a_jackpot_is_the_order(of: Form) -> None:
    made = order(of)
    assert {field.name for field in of.fields} == {*made.__struct_fields__} - {*SENT_OTHERWISE}
    for field in of.fields:
        for value in field.choices:
            assert getattr(order(of, **{field.name: value}), field.name) == value
        if field.kind in ("integer", "amount"):
            assert field.least is not None
            assert field.most is not None
            for bound in (field.least, field.most):
                assert getattr(order(of, **{field.name: bound}), field.name) == bound
            with pytest.raises(ValueError, match=field.name):
                order(of, **{field.name: field.most + 1})
