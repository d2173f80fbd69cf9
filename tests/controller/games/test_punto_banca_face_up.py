"""Cards that a reader reports face up: they are not published before a person has looked."""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardDealt,
    CardTurned,
    RoundResult,
)
from common.contract.refusals import RejectedError
from tests.controller.games.test_punto_banca_cards import stopped, table
from tests.support.games.play import of_kind


@pytest.mark.parametrize(
    ("said", "told"), [({"action": "accept"}, None), ({"action": "exposed"}, "Kc")]
)
def test_an_exposed_card_may_count_and_is_published_when_a_person_confirms_it(
    said: dict[str, str], told: str | None
) -> None:
    play = table()
    play.bets()
    assert of_kind(play.cards("Kc", exposed=True), CardDealt) == []
    [dealt] = of_kind(play.send("card.decide", **said), CardDealt)
    assert (dealt.to, dealt.card) == ("player", told)
    assert play.shown["hands"]["player"] == [told]


def test_an_exposed_card_may_be_another_whose_frame_is_no_evidence() -> None:
    play = table()
    play.bets()
    play.cards("Kc", exposed=True)
    [dealt] = of_kind(play.send("card.decide", action="exposed", card="2d"), CardDealt)
    assert dealt.card == "2d"
    assert "Kc" not in str(play.events)


def test_a_third_card_that_lies_face_down_is_not_published_by_the_shoe_alone() -> None:
    play = table()
    play.bets()
    play.cards("2c 3d 3c 3s")
    play.send("cards.turn")
    stopped(play.cards("9h", exposed=True), "card_exposed")
    assert of_kind(play.events, RoundResult) == []
    said = play.send("card.decide", action="accept")
    assert [(event.to, event.index, event.card) for event in of_kind(said, CardDealt)] == [
        ("player", 3, None)
    ]
    assert "9h" not in str(play.events)
    assert [event.card for event in of_kind(play.send("cards.turn"), CardTurned)] == ["9h"]


def test_a_third_card_that_is_dealt_face_up_is_published_as_always() -> None:
    play = table(third_card="face_up")
    play.bets()
    play.cards("2c 3d 3c 3s")
    play.send("cards.turn")
    [dealt] = of_kind(play.cards("9h", exposed=True), CardDealt)
    assert dealt.card == "9h"


def test_a_card_that_no_reader_saw_face_up_is_not_exposed() -> None:
    play = table()
    play.cards("Kc")
    with pytest.raises(RejectedError, match="no reader saw this card"):
        play.send("card.decide", action="exposed")
