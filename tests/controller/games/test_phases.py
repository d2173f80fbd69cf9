"""Where a dealt table stands: one table of phases, and a decision is due if and only if the table
asks for something.
"""

from __future__ import annotations

import pytest

from controller.games.dealt.phases import PHASES, Phase
from tests.conftest import cases
from tests.controller.games.test_every_input import Trial
from tests.support.games.decrees import PAIRS
from tests.support.games.outcomes import shown

STEPS, LEAST, MOST = 100, cases(3, 8), 8
"""Steps of a play; plays at least and at most: more only as long as a phase has not come."""
ON_THE_MODEL = (
    *("trente-et-quarante", "punto-banca", "chemin-de-fer", "baccarat-two-cloths"),
    *("blackjack", "blackjack-triple", "poker-no-draw", "poker-draw-house", "three-card-poker"),
    *("trijoker", "texas-house", "pai-gow"),
    *("texas-holdem", "omaha", "omaha-five", "omaha-hi-lo", "holdem-double", "synthetic-poker"),
    *("circle-draw", "five-card-stud", "seven-card-stud"),
)


def test_every_phase_has_its_row() -> None:
    assert set(PHASES) == set(Phase)


@pytest.mark.parametrize("noise", [0.02, 0.3])
@pytest.mark.parametrize(("game", "decree"), [pair for pair in PAIRS if pair[0] in ON_THE_MODEL])
def test_a_decision_is_due_if_and_only_if_the_table_asks(
    game: str, decree: str, noise: float
) -> None:
    """But for what its phase lacks, of which the table of phases has all."""
    seen: set[Phase] = set()
    for seed in range(MOST):
        if seed >= LEAST and Phase.DECISION in seen and len(seen) > 3:
            break
        trial = Trial(game, decree, f"phases {seed}", noise=noise)
        for _ in range(STEPS):
            trial.run(1)
            told = shown(trial.game, trial.state)
            phase, asks = Phase(told["phase"]), set(told["asks"])
            seen.add(phase)
            if phase is Phase.DECISION:
                assert asks
            else:
                assert asks <= set(PHASES[phase].lacks)
    assert Phase.DECISION in seen
    assert len(seen) > 3 or game == "pai-gow"  # few people check its deck amid such noise
