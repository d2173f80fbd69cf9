"""Invariants of a table of circle poker: rounds of each game, with errors."""

from __future__ import annotations

import pytest

from tests.support.games.circle_evening import ROUNDS, Evening, rounds_with_errors
from tests.support.games.circle_play import PAIRS


@pytest.mark.parametrize(("decree", "game"), PAIRS, ids=lambda name: name)
def test_any_round_has_its_outcome(decree: str, game: str) -> None:
    evening = Evening(decree, game, 1)
    rounds_with_errors(evening)
    assert evening.corrected > ROUNDS / 50
