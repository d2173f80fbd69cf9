"""What the topic ``info`` says of each command at a table: who may give it, what the game knows of
its fields, what takes it back.
"""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from controller.contract.commands import COMMANDS, BetPlace, Command, HandAct, RoundVoid, tag_of
from controller.contract.forms import form
from controller.contract.refusals import RejectedError
from controller.contract.retained import Undo
from controller.games.games import make_game
from controller.people.authority import allowed, at_table, rights
from tests.controller.games.test_every_input import Trial
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS
from tests.support.games.plausible import accepted

KINDS: dict[str, type[Command]] = {tag_of(kind): kind for kind in COMMANDS}


@for_each(("game", "decree"), PAIRS)
def test_every_command_of_the_table_is_there_with_its_roles(game: str, decree: str) -> None:
    right = rights(game, decree)
    found = allowed(game, decree, {}, right)
    assert {*found} == {*right} - {"recall"}
    assert {*make_game(game, decree, {}).takes(make_game(game, decree, {}).begin())} <= {*found}
    for name, each in found.items():
        assert {*each.roles} == {*right[name].roles} - {"reader"}


@for_each(("game", "decree"), PAIRS)
def test_choices_and_fields_are_those_of_the_form(game: str, decree: str) -> None:
    for name, each in allowed(game, decree, {}, rights(game, decree)).items():
        if name not in KINDS:
            assert not each.choices
            continue
        fields = {field.name: field for field in form(name).fields}
        assert {*each.choices, *each.leaves_out} <= {*fields}
        assert not any(fields[left].required for left in each.leaves_out)
        for field, values in each.choices.items():
            assert values
            assert {*values} <= {*fields[field].choices} or not fields[field].choices


def test_what_the_site_narrows_and_marks() -> None:
    right = at_table(rights("roulette-french", "ARA02"), {"round.void": ("inspector",)})
    found = allowed("roulette-french", "ARA02", {}, right, ("result.correct",))
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
def test_what_takes_a_command_back(game: str, command: str, undo: Undo | None) -> None:
    assert allowed(game, "EUS96", {}, rights(game, "EUS96"))[command].undone_by == undo


@pytest.mark.parametrize(
    ("game", "decree"), [pair for pair in PAIRS if not pair[0].startswith("blackjack")]
)  # at black jack chance places hardly a bet
def test_a_value_that_is_not_offered_is_refused(game: str, decree: str) -> None:
    """Of what a game narrows: no reason, bet or action beside its choices is ever followed."""
    found, chance = allowed(game, decree, {}, rights(game, decree)), random.Random(game)
    tried = 0
    for step in range(400):
        if tried > 4:
            break
        if step % 100 == 0:  # noise can bring one table to where only a right answer goes on
            trial = Trial(game, decree, f"choices {step}", noise=0.05)
        trial.run(1)
        for kind, field in ((RoundVoid, "reason"), (BetPlace, "bet"), (HandAct, "action")):
            each = found.get(tag_of(kind))
            if each is None or field not in each.choices:
                continue
            given = accepted(trial.game, trial.state, kind, chance, trial.pack)
            tried += given is not None
            said = getattr(given, field, None)
            assert said is None or said.partition(":")[0] in {
                value.partition(":")[0] for value in each.choices[field]
            }
    assert tried


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_what_is_left_out_is_never_needed(game: str, decree: str) -> None:
    found, chance = allowed(game, decree, {}, rights(game, decree)), random.Random(game)
    trial = Trial(game, decree, "left out", noise=0.05)
    for _ in range(40):
        trial.run(1)
        for name, each in found.items():
            if not each.leaves_out:
                continue
            given: Any = accepted(trial.game, trial.state, KINDS[name], chance, trial.pack)
            if given is None:
                continue
            said = msgspec.to_builtins(given)
            defaults = {
                field.name: field.default
                for field in msgspec.structs.fields(type(given))
                if field.name in each.leaves_out
            }
            try:
                trial.game.step(trial.state, msgspec.convert(said | defaults, type(given)))
            except RejectedError as rejected:
                raise AssertionError(f"{given}: {rejected}") from rejected
