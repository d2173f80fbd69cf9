"""Every game takes everything: it follows a command or says why not, and no reading, however wrong,
is too much for it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
import pytest

from controller.contract.commands import COMMANDS, BoxesSet, Command
from controller.contract.events import (
    AnyEvent,
    CardDealt,
    CardTurned,
    Irregularity,
    ResultCorrected,
    RoundResult,
)
from controller.contract.notation import Input, read_input
from controller.contract.outcomes import hands
from controller.contract.refusals import RejectedError
from controller.games.decks import deck
from controller.games.game import Game
from controller.games.games import make_game
from devices.readings import (
    READINGS,
    CardDrawn,
    DiceRead,
    DiceState,
    Phase,
    WheelCell,
    WheelNumber,
    WheelPhase,
)
from tests.conftest import cases
from tests.support.for_each import for_each
from tests.support.games.anything import FOREIGN, WHO, anything
from tests.support.games.decrees import PAIRS
from tests.support.games.monkey import MANNERS, Manners, Monkey
from tests.support.games.outcomes import shown

STEPS = cases(80, 160)
EACH = 40
"""After so many steps every command there is, is said at once to the table as it is then."""
WITH_JOKER = frozenset(deck("deck_53"))
WHEELS = ("roulette-french", "roulette-american", "boule", "fortune-wheel")
PHASES: dict[str, tuple[Phase, ...]] = {
    "roulette": ("bets_open", "ball_in_rim", "no_more_bets", "settled"),
    "other": ("launched", "settling", "settled"),
}
KINDS: tuple[type[Any], ...] = (*COMMANDS, *READINGS, *(CardDrawn,) * 10)
SAID_AGAIN = {BoxesSet}
"""To say the boxes in play again is no error: they are in play."""


class Trial:
    """A table that is played as far as a monkey comes, to which anything else is said on the way:
    the more, the more ``noise``.
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
        for step in range(1, steps + 1):
            if step % EACH == 0:
                for kind in COMMANDS:
                    self.give(anything(kind, self._chance, self.pack), keep=False)
            self.give(self.next())

    def next(self) -> Input:
        """What is said next."""
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
        except ValueError:  # it has not learned how to say that
            return anything(self._chance.choice(COMMANDS), self._chance, self.pack)

    def give(self, given: Input, *, keep: bool = True) -> None:
        """One input. A command changes something, says something, or is rejected with a reason;
        nothing else ever happens, and a table that was written down and taken up again does the
        same.
        """
        try:
            state, events = self.game.step(self.state, given)
            self.game.confidential(self.state, given, events)
            msgspec.json.encode([self.game.show(state), self.game.history(state)])
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
    """The cards that are told."""
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


@pytest.mark.parametrize("noise", [0.02, 0.3])
@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_a_command_is_followed_or_rejected_and_nothing_is_too_much(
    game: str, decree: str, noise: float
) -> None:
    trial = Trial(game, decree, noise=noise)
    trial.run(STEPS)
    assert trial.silent <= SAID_AGAIN
    assert trial.said


@for_each(("game", "decree"), PAIRS)
def test_before_a_session_no_command_is_left_without_an_answer(game: str, decree: str) -> None:
    made, chance = make_game(game, decree, {}), random.Random(f"{game} {decree}")
    strange = 0
    for kind in COMMANDS:
        given = anything(kind, chance)
        try:
            _, events = made.step(made.begin(), given)
        except RejectedError as rejected:
            if not str(rejected):
                raise
            strange += rejected.refusal is not None and rejected.refusal.key == "unknown_command"
        else:
            assert events
    assert strange


DEALT = [(game, decree) for game, decree in PAIRS if game not in (*WHEELS, "craps")]


@cache
def expecting(game_id: str, decree: str) -> Trial:
    """A table that waits for a card of a round, and for nothing else."""
    for seed in range(20):
        trial = Trial(game_id, decree, f"card {seed}", noise=0.0)
        for _ in range(80):
            told = shown(trial.game, trial.state)
            blind = getattr(
                getattr(trial.state, "current", None), "blind", False
            )  # no reader is believed in this round
            if (
                told["expected"] not in (None, "burn", "discards")
                and not told["asks"]
                and not blind
            ):
                return trial
            trial.run(1)
    raise AssertionError("no card was ever expected")


@pytest.mark.parametrize(("game", "decree"), DEALT)
@for_each("card", FOREIGN)
def test_a_card_of_no_deck_asks_and_nobody_can_let_it_count(
    game: str, decree: str, card: str
) -> None:
    if card == "X" and game == "pai-gow":
        card = "XX"
    trial = expecting(game, decree)
    state, events = trial.game.step(trial.state, CardDrawn(at=1.0, device="shoe", card=card))
    asked = [event.asks for event in events if isinstance(event, Irregularity) and event.asks]
    assert "card.decide" in asked[-1]
    decisions: list[dict[str, str | None]] = [
        {"action": "accept"},
        {"action": "read", "card": card},
    ]
    for said in (*decisions, *({"action": "for", "who": who} for who in WHO)):
        decision = {"at": 1.0, "type": "card.decide", "by": "M. Lasa", "role": "inspector", **said}
        try:
            after, _ = trial.game.step(state, read_input(msgspec.json.encode(decision)))
        except RejectedError:
            continue
        # Where the pack is dealt on all the same, what the reader said of it is forgotten.
        assert f'"card":"{card}"'.encode() not in msgspec.json.encode(after), decision
