"""The cards that a shuffler misses may be those of a player who did not show them: they are
reported to surveillance alone.
"""

from __future__ import annotations

import msgspec
import pytest

from common.contract.events import DeckChecked
from common.readings import ShufflerVerdict
from tests.support.games.circle_play import Play, table
from tests.support.games.play import confidential, of_kind

rule = pytest.mark.rule
LACKS = ShufflerVerdict(
    at=1.0, device="shuffler", count=50, count_right=False, missing=("Ah", "As"), extra=("Kc",)
)


def names_nothing(play: Play) -> None:
    assert confidential(play.game, play.state, LACKS)
    events = play.take(LACKS)
    [checked] = of_kind(events, DeckChecked)
    assert (checked.right, checked.count) == (False, 50)
    told = b"".join(map(msgspec.json.encode, events)).decode()
    assert not [card for card in ("Ah", "As", "Kc") if f'"{card}"' in told]


@rule("BAL09-082")
@pytest.mark.parametrize("ends", ["winner", "void"])
def test_after_a_round_missing_cards_may_belong_to_a_player_who_did_not_show(
    ends: str,
) -> None:
    play = table("BAL09")
    play.send("bets.open")
    play.send("bets.close")
    play.send("cards.deal", count=8)
    names_nothing(play)
    if ends == "winner":
        play.close(winner=4)
    else:
        play.send("round.void", reason="inspector")
    names_nothing(play)
    play.take(
        ShufflerVerdict(at=1.0, device="shuffler", count=52, count_right=True, set_right=True)
    )
    names_nothing(play)


@rule("BAL09-082")
def test_before_the_first_round_missing_cards_may_be_of_the_match_before() -> None:
    names_nothing(table("BAL09"))
