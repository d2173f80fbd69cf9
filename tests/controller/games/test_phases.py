"""Where a dealt table stands: one table of phases, and a decision is due if and only if the table
asks for something.
"""

from __future__ import annotations

import pytest

from controller.games.dealt.phases import PHASES, Phase
from tests.controller.decrees import PAIRS
from tests.controller.games.test_every_input import Trial
from tests.controller.outcomes import shown

STEPS = 400
COUPS = ("trente-et-quarante", "punto-banca")
BANKED = ("trijoker", "texas-house", "pai-gow")


def test_every_phase_has_its_row() -> None:
    assert set(PHASES) == set(Phase)


@pytest.mark.parametrize("noise", [0.02, 0.3])
@pytest.mark.parametrize(("game", "decree"), [pair for pair in PAIRS if pair[0] in COUPS])
def test_a_decision_is_due_if_and_only_if_the_table_asks(
    game: str, decree: str, noise: float
) -> None:
    trial = Trial(game, decree, "phases", noise=noise)
    seen = set()
    for _ in range(STEPS):
        trial.run(1)
        told = shown(trial.game, trial.state)
        assert (told["phase"] == Phase.DECISION) == bool(told["asks"])
        seen.add(told["phase"])
    assert "decision" in seen
    assert len(seen) > 3


@pytest.mark.parametrize("noise", [0.02, 0.3])
@pytest.mark.parametrize(("game", "decree"), [pair for pair in PAIRS if pair[0] in BANKED])
def test_a_decision_that_is_due_is_asked_for(game: str, decree: str, noise: float) -> None:
    trial = Trial(game, decree, "phases", noise=noise)
    seen = set()
    for _ in range(STEPS):
        trial.run(1)
        told = shown(trial.game, trial.state)
        assert told["asks"] or told["phase"] != Phase.DECISION
        seen.add(Phase(told["phase"]))
    assert Phase.DECISION in seen
