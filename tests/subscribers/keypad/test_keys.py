"""The meaning of the keys at each game: only commands of that game, in every language."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.commands import AnyCommand
from common.contract.messages.messages import LANGUAGES, text
from common.contract.shown import AnyShown
from subscribers.keypad.keys import (
    DUTY_SLOTS,
    KEYS_BY_VIEW,
    SLOTS,
    WITNESS_KEYS,
    TypedError,
    command_fields,
    current_meanings,
    duty_key,
    witness_key,
)
from tests.support.for_each import for_each

VIEWS = [str(view.__struct_config__.tag) for view in get_args(AnyShown)]
COMMANDS = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyCommand)}
ALL = [
    (view, slot, meaning)
    for view, slots in KEYS_BY_VIEW.items()
    for slot, each in slots.items()
    for meaning in each
]
ALL += [
    (view, slot, meaning)
    for view in WITNESS_KEYS
    for slot, meaning in witness_key(view, 7, ("witness.report",)).items()
]
TYPED = {
    "nothing": "",
    "box": "3",
    "seat": "4",
    "dice": "52",
    "count": "2",
    "number": "0",
    "faces": "61",
}


def test_every_view_has_keys_and_no_other() -> None:
    assert KEYS_BY_VIEW.keys() == set(VIEWS)
    assert {slot for _, slot, _ in ALL} <= set(SLOTS)


@for_each(("view", "slot", "meaning"), ALL)
def test_a_key_gives_a_command_that_can_be_read(view: str, slot: str, meaning: object) -> None:
    meaning = next(each for one, other, each in ALL if (one, other) == (view, slot))
    body = {
        **command_fields(meaning, TYPED[meaning.needs]),
        "by": "M. Lasa",
        "role": "croupier",
        "at": 0,
    }
    kind = COMMANDS[meaning.command]
    read = msgspec.convert({**body, "type": meaning.command}, kind)
    assert read.by == "M. Lasa"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_and_every_answer_has_its_text(language: str) -> None:
    for _, _, meaning in ALL:
        assert text(meaning.text, language, **meaning.fields)
        needs = "dice" if meaning.needs == "faces" else meaning.needs
        assert text(f"keypad.needs_{needs}", language)


@for_each("view", VIEWS)
def test_a_key_means_the_first_command_that_is_accepted_and_allowed(view: str) -> None:
    commands = sorted({meaning.command for each in KEYS_BY_VIEW[view].values() for meaning in each})
    for taken in commands:
        found = current_meanings(view, [taken], commands)
        assert {each.command for each in found.values()} == {taken}
        assert current_meanings(view, [taken], []) == {}
    assert current_meanings("unheard-of", commands, commands) == {}
    for slot, each in KEYS_BY_VIEW[view].items():
        assert current_meanings(view, commands, commands)[slot] == each[0]
        assert all(one.command != other.command for one, other in pairwise(each))


@given(st.sampled_from(ALL), st.text("0123456789", max_size=4))
def test_what_is_typed_fits_or_is_refused_with_words(entry: tuple, typed: str) -> None:  # type: ignore[type-arg]
    _, _, meaning = entry
    words = ""
    try:
        given_ = command_fields(meaning, typed)
    except TypedError as error:
        words = str(error)
    if words:
        assert text(words, "eu")
        return
    assert (meaning.needs == "nothing") == (typed == "")
    if meaning.needs in ("box", "seat"):
        assert given_["who"] == f"{meaning.needs}:{int(typed)}"
        assert int(typed) > 0
    if meaning.needs in ("dice", "faces"):
        values = given_["values" if meaning.needs == "dice" else "dice"]
        assert all(1 <= each <= 6 for each in values)
        assert len(values) == 2
    if meaning.needs == "number":
        assert given_ == {"round": 7, "number": int(typed)}


def test_the_key_of_a_witness_takes_no_other_key_and_names_the_round() -> None:
    may = ("witness.report",)
    for view, (slot, _) in WITNESS_KEYS.items():
        assert slot not in {*KEYS_BY_VIEW[view], *DUTY_SLOTS}
        assert witness_key(view, 7, may)[slot].fields == {"round": 7}
        assert witness_key(view, None, may) == witness_key(view, 7, ()) == {}
    assert witness_key("blackjack", 7, may) == {}


@for_each("view", VIEWS)
def test_the_holder_of_the_keypad_comes_on_and_leaves(view: str) -> None:
    may = ("staff.on", "staff.off")
    there = {"croupier": ("A. Riera",)}
    comes = duty_key(view, "M. Lasa", "croupier", there, may)
    leaves = duty_key(view, "A. Riera", "croupier", there, may)
    if view == "blackjack":
        assert comes == leaves == {}
        return
    (slot,) = comes
    assert slot in DUTY_SLOTS
    assert slot not in KEYS_BY_VIEW[view]
    assert (comes[slot].command, leaves[slot].command) == ("staff.on", "staff.off")
    assert command_fields(comes[slot], "") == {"person": "M. Lasa", "duty": "croupier"}
    with pytest.raises(TypedError):
        command_fields(comes[slot], "3")
    assert duty_key(view, "M. Lasa", "croupier", there, ()) == {}
    assert duty_key(view, "M. Lasa", "director", there, may) == {}
    assert duty_key(view, "M. Lasa", None, there, may) == {}
