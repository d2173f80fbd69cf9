"""The phases of each game, and what leads from one to the next: found by playing the scripts of
``tests/scripts``, and by giving each command that the guards let through in each of their states.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from contextlib import suppress
from typing import Any, NamedTuple

from msgspec.structs import replace

from common.contract.commands import COMMANDS, Command, Role, tag_of
from common.contract.notation import Input
from common.contract.refusals import RejectedError
from common.readings import READINGS
from controller.games.dealt.phases import Phase
from controller.games.games import make_game
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.tables.card_secrecy import is_counted
from tests.support.games import scripts
from tests.support.games.monkey import MANNERS, Manners
from tests.support.games.plausible import accepted

MAX_TRIES = 6
"""States of a phase in which each command is tried."""
COMMAND_TYPES = {tag_of(kind): kind for kind in COMMANDS}
ORDER = (
    *(Phase.CLOSED, Phase.NO_SHOE, Phase.BURNING, Phase.WAITING),
    *("relaunch", Phase.BETS_OPEN, "bets_closed"),
    *(phase for phase in Phase if phase is not Phase.SHOE_OVER),
    Phase.SHOE_OVER,
)
"""The phases of all games, about as a round passes through them."""
INPUTS = (*COMMAND_TYPES, *(str(kind.__struct_config__.tag) for kind in READINGS))
"""The names of all inputs: commands, then readings."""
GROUPS = {AT_THE_TABLE: "at the table", IN_CHARGE: "in charge", VOIDERS: "by the decree"}
"""Names of the usual groups of roles."""


class Move(NamedTuple):
    """An input, and the phase that it leads to from another one."""

    given: str
    to: str


class Phases:
    """What the games of one view do: ``moves``: by input and target, the phases from which it leads
    there; ``stays``: by command, the phases in which it is accepted and may change nothing of the
    phase; ``who``: by command, who may give it.
    """

    def __init__(self) -> None:
        self.games: set[str] = set()
        self.seen: set[str] = set()
        self.moves: dict[Move, set[str]] = defaultdict(set)
        self.stays: dict[str, set[str]] = defaultdict(set)
        self.who: dict[str, set[str]] = defaultdict(set)
        self._tries: Counter[tuple[str, str]] = Counter()

    @property
    def phases(self) -> list[str]:
        """The phases, in the order of a round."""
        return [phase for phase in dict.fromkeys(map(str, ORDER)) if phase in self.seen]

    def play(self, name: str) -> None:
        """Play a script."""
        script = scripts.read(name)
        game: Any = make_game(script.game, script.decree, script.settings)
        pack = MANNERS.get(script.game, Manners()).pack
        state, count = game.begin(), 0
        self.games.add(script.game)
        self.seen.add(phase_of(game, state))
        for kind, row in game.inputs.commands.items():
            self.who[tag_of(kind)].add(group(row.roles))
        for number, each in enumerate(script.inputs):
            for command in game.view(state).takes:
                self._try(game, state, command, f"{name} {number}", pack)
            given: Any = each
            if game.face_down and is_counted(each):  # as its table does
                count += 1
                given = replace(each, reading=count)
            with suppress(RejectedError):
                state = self._give(game, state, given)

    def _try(self, game: Any, state: Any, command: str, seed: str, pack: tuple[str, ...]) -> None:
        """Give a command that the guards let through, in a few states of each phase."""
        before = phase_of(game, state)
        self._tries[before, command] += 1
        if self._tries[before, command] > MAX_TRIES:
            return
        chance = random.Random(f"{seed} {command}")
        given = accepted(game, state, COMMAND_TYPES[command], chance, pack)
        if given is not None:
            self._give(game, state, given)
        else:
            self.stays[command].add(before)

    def _give(self, game: Any, state: Any, given: Input) -> Any:
        """Step the game. Return its next state."""
        after, _ = game.step(state, given)
        name, before, now = tag(given), phase_of(game, state), phase_of(game, after)
        self.seen |= {before, now}
        if before != now:
            self.moves[Move(name, now)].add(before)
        elif isinstance(given, Command):
            self.stays[name].add(before)
        return after


def phase_of(game: Any, state: Any) -> str:
    return str(game.view(state).shown.phase)


def tag(given: Input) -> str:
    return str(given.__struct_config__.tag)


def group(roles: tuple[Role, ...]) -> str:
    """The name of a group of roles."""
    return GROUPS.get(roles) or ", ".join(role.replace("_", " ") for role in roles)


def phases_by_view() -> dict[str, Phases]:
    """The phases of all games, by the view of their retained state."""
    found: dict[str, Phases] = defaultdict(Phases)
    for name in sorted(scripts.scripts()):
        script = scripts.read(name)
        game = make_game(script.game, script.decree, script.settings)
        view = str(game.view(game.begin()).shown.__struct_config__.tag)
        found[view].play(name)
    return dict(found)
