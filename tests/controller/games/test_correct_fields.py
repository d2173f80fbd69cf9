"""A correction with fields that results of the game do not have is refused, not silently read
without them.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from common.contract.notation import read_input
from common.contract.refusals import RejectedError
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS

OWN = {
    **dict.fromkeys(("roulette-french", "roulette-american", "boule", "fortune-wheel"), "number"),
    **dict.fromkeys(("punto-banca", "trente-et-quarante"), "winner"),
    "craps": "dice",
}
FIELD_VALUES: dict[str, Any] = {
    "number": 7,
    "winner": "player",
    "dice": [1, 2],
    "hands": {"player": ["7h"]},
    "decisions": {"box:1": "go"},
}
HERE = [(pair, OWN[pair[0]]) for pair in PAIRS if pair[0] in OWN]


@for_each(("pair", "own"), HERE)
@for_each("other", FIELD_VALUES)
def test_only_its_own_field_corrects_a_result(pair: tuple[str, str], own: str, other: str) -> None:
    game = make_game(*pair, {})
    line = {
        "at": 1.0,
        "type": "result.correct",
        "by": "M. Lasa",
        "role": "table_head",
        "round": 1,
        own: FIELD_VALUES[own],
        other: FIELD_VALUES[other],
    }
    given = read_input(msgspec.json.encode(line))
    why = "not among" if other == own else f"corrected with {own} only; leave out {other}"
    with pytest.raises(RejectedError, match=why):
        game.step(game.begin(), given)
