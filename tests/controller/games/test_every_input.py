"""Every game states why it does not follow a command, and counts no card that is of no deck."""

from __future__ import annotations

import random
from functools import cache

import msgspec
import pytest

from common.contract.commands import COMMANDS
from common.contract.events import (
    Irregularity,
)
from common.contract.notation import read_input
from common.contract.refusals import RejectedError
from common.readings import (
    CardDrawn,
)
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.anything import FOREIGN, WHO, anything
from tests.support.games.decrees import PAIRS
from tests.support.games.outcomes import shown
from tests.support.games.trial import WHEELS, Trial


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
def test_a_card_of_no_deck_asks_and_cannot_be_accepted(game: str, decree: str, card: str) -> None:
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
        # Where the deal continues, the reader's report about the pack is forgotten.
        assert f'"card":"{card}"'.encode() not in msgspec.json.encode(after), decision
