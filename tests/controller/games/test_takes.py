"""The commands that a table lists as possible: each is followed at some table that lists it. (That
no other command is ever followed is in ``test_drives.py``.)
"""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import replace

from common.contract.commands import COMMANDS, Command, tag_of
from common.contract.refusals import RejectedError
from controller.games.games import GAMES, make_game
from controller.tables.card_secrecy import is_counted
from tests.support.for_each import for_each
from tests.support.games import scripts
from tests.support.games.decrees import PAIRS
from tests.support.games.plausible import accepted
from tests.support.games.trial import Trial

MIN_STEPS, MAX_STEPS = 200, 3000
"""Steps within which each command that a game's tables list must be followed once: more only as
long as one is left that chance has not filled in well.
"""


def commands_of(trial: Trial) -> tuple[type[Command], ...]:
    game: Any = trial.game
    return tuple(kind for kind in COMMANDS if kind in game.inputs.takes)


@pytest.mark.parametrize("game", GAMES)
def test_each_listed_command_is_followed_somewhere(game: str) -> None:
    chance = random.Random(f"{game} takes")
    offered: set[str] = set()
    followed: set[str] = set()
    for _, decree in (pair for pair in PAIRS if pair[0] == game):
        trial = Trial(game, decree, "followed", noise=0.05)
        for step in range(MAX_STEPS):
            if step >= MIN_STEPS and offered == followed:
                break
            trial.run(1)
            takes = {*trial.game.view(trial.state).takes}
            offered |= takes
            for kind in commands_of(trial):
                if tag_of(kind) in takes - followed and accepted(
                    trial.game, trial.state, kind, chance, trial.pack
                ):
                    followed.add(tag_of(kind))
    assert offered
    assert offered == followed


@for_each("name", sorted(scripts.scripts()))
def test_a_table_lists_the_commands_that_it_follows_in_a_script(name: str) -> None:
    script = scripts.read(name)
    game: Any = make_game(script.game, script.decree, script.settings)
    state, count, unsaid = game.begin(), 0, []
    for each in script.inputs:
        given: Any = each
        if game.face_down and is_counted(each):  # as its table does
            count += 1
            given = replace(each, reading=count)
        takes = game.view(state).takes
        with suppress(RejectedError):
            state, _ = game.step(state, given)
            if isinstance(each, Command) and tag_of(type(each)) not in takes:
                unsaid.append(each)
    assert unsaid == []
