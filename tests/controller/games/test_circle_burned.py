"""A burned card that everybody saw: the decrees forbid it, and a person decides about the round."""

from __future__ import annotations

import pytest

from common.contract.events import AnyEvent, CardsBurned, Irregularity
from common.readings import CardDrawn
from tests.support.games.circle_play import HOLES, Play, table

rule = pytest.mark.rule


def draw(play: Play, cards: str, *, exposed: bool = False) -> list[AnyEvent]:
    events: list[AnyEvent] = []
    for card in cards.split():
        events += play.take(
            CardDrawn(
                at=play.now(), device="shoe", frame=f"frame {card}", card=card, exposed=exposed
            )
        )
    return events


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL09", marks=rule("BAL09-028")),
        pytest.param("EUS96", marks=rule("EUS96-205")),
    ],
)
def test_a_burned_card_that_lay_face_up_is_for_a_person(decree: str) -> None:
    play = table(decree)
    play.send("bets.open")
    play.send("bets.close")
    draw(play, HOLES)
    play.close()
    events = draw(play, "2c", exposed=True)
    assert [event.count for event in events if isinstance(event, CardsBurned)] == [1]
    [asked] = [event for event in events if isinstance(event, Irregularity)]
    assert (asked.what, asked.detail, asked.asks) == (
        "deal_exposed",
        "burn",
        ("card.decide", "round.void"),
    )
    assert "2c" not in str(events) + str(play.shown)
    play.accept()
    draw(play, "3c 4c 9d")
    assert play.current.open


@rule("BAL09-024")
def test_a_card_burned_for_one_that_came_too_early_is_published_and_the_deal_continues() -> None:
    play = table("BAL09", "seven-card-stud")
    play.send("bets.open")
    play.send("bets.close")
    draw(play, "2c 3c 4c 5c 2d 3d 4d 5d 2h 3h 4h 5h 2s")
    play.act(4, "bet")
    draw(play, "3s")  # before the bets are equal: it leaves with four more
    play.close()
    events = draw(play, "4s", exposed=True)
    assert [event.what for event in events if isinstance(event, Irregularity)] == ["deal_exposed"]
    assert not play.state.doubts
    draw(play, "5s 6c 6d")
    assert [place.to for place in play.current.due] == [
        "seat:4",
        "seat:1",
        "seat:2",
        "seat:3",
        "dead",
    ]
