"""A table of each game under each decree, with an open session."""

from __future__ import annotations

import pytest

from tests.support.games.roulette_play import PAIRS, Play


@pytest.fixture(params=PAIRS, ids="-".join)
def play(request: pytest.FixtureRequest) -> Play:
    game, decree = request.param
    table = Play(decree, game)
    table.open(minimum=500, currency="EUR")
    return table
