"""The commands of a table in the topic ``info``: who may send each, the game's facts about its
fields, and the command that undoes it.
"""

from __future__ import annotations

from common.contract.commands import COMMANDS, Command, tag_of
from common.contract.forms import form
from common.contract.retained import Undo
from controller.games.games import make_game
from controller.people.authority import allowed_commands, command_rights, narrow_at_table
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS

KINDS: dict[str, type[Command]] = {tag_of(kind): kind for kind in COMMANDS}


@for_each(("game", "decree"), PAIRS)
def test_every_command_of_the_table_is_listed_with_its_roles(game: str, decree: str) -> None:
    right = command_rights(game, decree)
    found = allowed_commands(game, decree, {}, right)
    assert {*found} == {*right} - {"recall"}
    assert {*make_game(game, decree, {}).view(make_game(game, decree, {}).begin()).takes} <= {
        *found
    }
    for name, each in found.items():
        assert {*each.roles} == {*right[name].roles} - {"reader"}


@for_each(("game", "decree"), PAIRS)
def test_choices_and_fields_are_those_of_the_form(game: str, decree: str) -> None:
    for name, each in allowed_commands(game, decree, {}, command_rights(game, decree)).items():
        if name not in KINDS:
            assert not each.choices
            continue
        fields = {field.name: field for field in form(name).fields}
        assert {*each.choices, *each.leaves_out} <= {*fields}
        assert not any(fields[left].required for left in each.leaves_out)
        for field, values in each.choices.items():
            assert values
            assert {*values} <= {*fields[field].choices} or not fields[field].choices


def test_restrictions_and_marks_of_the_site() -> None:
    right = narrow_at_table(
        command_rights("roulette-french", "ARA02"), {"round.void": ("inspector",)}
    )
    found = allowed_commands("roulette-french", "ARA02", {}, right, ("result.correct",))
    assert found["round.void"].roles == ("inspector",)
    assert {name for name, each in found.items() if each.two_persons} == {"result.correct"}
    assert "ball_out" in found["round.void"].choices["reason"]
    assert "straight" in found["bet.place"].choices["bet"]


@for_each(
    ("game", "command", "undo"),
    [
        ("roulette-french", "bet.place", Undo("bet.withdraw")),
        ("roulette-french", "round.confirm", Undo("result.correct")),
        ("roulette-french", "round.void", None),
        ("craps", "dice.tell", Undo("result.correct")),
        ("chemin-de-fer", "round.confirm", None),
        ("blackjack", "hand.stand", None),
        ("poker-no-draw", "hand.act", Undo("hand.act", {"valid": False})),
        ("trijoker", "hand.act", Undo("hand.act", {"valid": False})),
        ("texas-holdem", "hand.act", None),
        ("texas-holdem", "deal.error", Undo("deal.error", {"valid": False})),
        ("boule", "staff.on", Undo("staff.off")),
    ],
)
def test_the_command_that_undoes_another(game: str, command: str, undo: Undo | None) -> None:
    assert (
        allowed_commands(game, "EUS96", {}, command_rights(game, "EUS96"))[command].undone_by
        == undo
    )


def test_roles_that_depend_on_a_reason_are_listed_with_it() -> None:
    found = allowed_commands(
        "roulette-french", "ARA02", {}, command_rights("roulette-french", "ARA02")
    )
    assert found["round.void"].reasons == {"inspector": ("inspector",)}
    assert found["round.confirm"].reasons == {}
