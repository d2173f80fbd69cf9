"""A table of any game with any inputs, and invariants at each step."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from common.contract.commands import COMMANDS, Command
from common.contract.events import (
    AnyEvent,
    CardDealt,
    CardTurned,
    ResultCorrected,
    RoundResult,
)
from common.contract.notation import Input
from common.contract.outcomes import hands
from common.contract.refusals import RejectedError
from common.readings import (
    READINGS,
    CardDrawn,
    DiceRead,
    DiceState,
    Phase,
    WheelCell,
    WheelNumber,
    WheelPhase,
)
from controller.games.decks import deck
from controller.games.game import Game
from controller.games.games import make_game
from tests.support.games.anything import anything
from tests.support.games.monkey import MANNERS, Manners, Monkey
from tests.support.games.outcomes import shown

STEPS_BETWEEN_SWEEPS = 40
"""After this many steps every possible command is sent to the table in its current state."""
WITH_JOKER = frozenset(deck("deck_53"))
WHEELS = ("roulette-french", "roulette-american", "boule", "fortune-wheel")
PHASES: dict[str, tuple[Phase, ...]] = {
    "roulette": ("bets_open", "ball_in_rim", "no_more_bets", "settled"),
    "other": ("launched", "settling", "settled"),
}
KINDS: tuple[type[Any], ...] = (*COMMANDS, *READINGS, *(CardDrawn,) * 10)


class Trial:
    """A table that a monkey plays as far as it gets, with random inputs on the way: the more, the
    more ``noise``.
    """

    def __init__(self, game_id: str, decree: str, seed: str = "", noise: float = 0.1) -> None:
        self.game: Game = make_game(game_id, decree, {})
        self.state: Any = self.game.begin()
        self.silent: set[type[Any]] = set()
        self.said = 0
        self._chance = random.Random(f"{game_id} {decree} {seed}")
        self._monkey = Monkey(f"{game_id} {decree} {seed}", game_id)
        self._id, self._noise, self._phase = game_id, noise, 0
        self.pack = MANNERS.get(game_id, Manners()).pack
        self._cards = WITH_JOKER if game_id == "pai-gow" else frozenset(self.pack)

    def run(self, steps: int) -> None:
        deque(self.steps(steps), maxlen=0)

    def steps(self, count: int) -> Iterator[Input]:
        """Play this many steps, and yield the inputs of each."""
        for step in range(1, count + 1):
            if step % STEPS_BETWEEN_SWEEPS == 0:
                for kind in COMMANDS:
                    self.give(anything(kind, self._chance, self.pack), keep=False)
            given = self.next()
            self.give(given)
            yield given

    def next(self) -> Input:
        """The next input."""
        if len(self._monkey.left) < 12:
            self._monkey.left += self.pack
        luck = self._chance.random()
        if luck < self._noise:
            return anything(self._chance.choice(KINDS), self._chance, self.pack)
        if self._id == "craps" and luck < 0.5:
            return anything(self._chance.choice((DiceState, DiceRead)), self._chance)
        if self._id in WHEELS and luck < 0.6:
            phases = PHASES["roulette" if self._id.startswith("roulette") else "other"]
            self._phase += 1
            if self._phase % (len(phases) + 1) == 0:
                return anything(self._chance.choice((WheelNumber, WheelCell)), self._chance)
            phase = phases[self._phase % (len(phases) + 1) - 1]
            return WheelPhase(
                at=1.0, device="device", phase=phase, spin=self._phase // (len(phases) + 1)
            )
        try:
            return self._monkey.next(shown(self.game, self.state))
        except ValueError:  # it has not learned this input
            return anything(self._chance.choice(COMMANDS), self._chance, self.pack)

    def give(self, given: Input, *, keep: bool = True) -> None:
        """One input. A command changes something, publishes something, or is rejected with a
        reason; nothing else ever happens, and a table that was saved and restored does the same.
        """
        try:
            state, events = self.game.step(self.state, given)
            self.game.confidential(self.state, given, events)
            view = self.game.view(state)
            msgspec.json.encode([view.shown, view.history()])
        except RejectedError as rejected:
            if isinstance(given, Command) and str(rejected):
                return
            raise
        except Exception as error:
            error.add_note(f"given: {given}")
            raise
        if isinstance(given, Command) and state == self.state and not events:
            self.silent.add(type(given))
        assert self._cards.issuperset(cards_in(events)), given
        if keep:
            again = msgspec.json.decode(msgspec.json.encode(self.state), type=self.game.state_type)
            assert again == self.state
            assert self.game.step(again, given) == (state, events), given
            self.state, self.said = state, self.said + len(events)


def cards_in(events: Iterable[AnyEvent]) -> set[str]:
    """The published cards."""
    found = {
        event.card
        for event in events
        if isinstance(event, CardDealt | CardTurned) and event.card is not None
    }
    for event in events:
        if isinstance(event, RoundResult | ResultCorrected):
            found |= {
                card
                for hand in hands(event.outcome)
                for card in (*hand.cards, *hand.best, *hand.low)
            }
    return found


class Play:
    """A table that was played: ``inputs``, and the state of the table after each."""

    def __init__(self, trial: Trial, steps: int) -> None:
        self.game, self.pack, self.begin = trial.game, trial.pack, trial.state
        self.inputs: list[Input] = []
        self.states: list[Any] = []
        for given in trial.steps(steps):
            self.inputs.append(given)
            self.states.append(trial.state)
        self.silent, self.said = trial.silent, trial.said


class Drive:
    """Plays of one table, each with this many steps. Each is played when an observer first uses it;
    all observers use the same ones.
    """

    def __init__(self, game_id: str, decree: str, noise: float, steps: int) -> None:
        self.game_id, self.decree, self.noise = game_id, decree, noise
        self._steps = steps
        self._plays: list[Play] = []

    def play(self, number: int) -> Play:
        """The play of this number, from 0."""
        for seed in range(len(self._plays), number + 1):
            trial = Trial(self.game_id, self.decree, f"drive {seed}", self.noise)
            self._plays.append(Play(trial, self._steps))
        return self._plays[number]
