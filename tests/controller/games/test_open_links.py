"""A link that opens, and nothing heard yet: to a game that is nothing at all, whatever lies on its
table.
"""

from __future__ import annotations

import pytest

from controller.contract.notation import Input
from devices.readings import LinkOpen
from tests.controller.games.test_every_input import Trial
from tests.support.games.decrees import PAIRS

STEPS = 120
DEVICES = ("device", "shoe", "")


class Opening(Trial):
    """Before each input, the link of each device opens."""

    def give(self, given: Input, *, keep: bool = True) -> None:
        for device in DEVICES:
            opened = LinkOpen(at=1.0, device=device)
            assert self.game.step(self.state, opened) == (self.state, ())
            assert not self.game.confidential(self.state, opened, ())
        super().give(given, keep=keep)


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_an_open_link_changes_nothing_in_any_game(game: str, decree: str) -> None:
    trial = Opening(game, decree)
    trial.run(STEPS)
    assert trial.said
