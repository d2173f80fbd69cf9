"""A game can be read in one direction: a turn or a game has no parent that answers for it."""

from __future__ import annotations

from tests.support.games import flatness

MAX_METHODS = 25
MAX_JUMPS_OF_A_CARD = 25
MAX_JUMPS = {"a signed session.open": 77, "a result": 43}
"""What they are: lower a bound when a way becomes shorter."""


def test_no_game_calls_a_parent() -> None:
    assert flatness.parent_calls() == 0


def test_no_name_is_defined_on_several_levels() -> None:
    found = {name: flatness.repeated(kind) for name, kind in flatness.classes().items()}
    assert {name: names for name, names in found.items() if names} == {}


def test_no_class_knows_everything() -> None:
    counted = {name: flatness.methods(kind) for name, kind in flatness.classes().items()}
    assert {name: count for name, count in counted.items() if count > MAX_METHODS} == {}


def test_a_card_takes_a_short_way() -> None:
    assert flatness.fourth_card() <= MAX_JUMPS_OF_A_CARD


async def test_a_command_and_a_result_take_no_longer_way() -> None:
    counted = await flatness.journeys()
    assert {name: count for name, count in counted.items() if count > MAX_JUMPS[name]} == {}


def test_the_counts_are_printed() -> None:
    assert flatness.report().startswith("super() in controller/games: 0\n")
