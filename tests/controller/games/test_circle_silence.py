"""A silent device of circle poker: the cards that it may have missed are requested, and no card
goes to a wrong place.
"""

from __future__ import annotations

import pytest

from common.contract.events import BetsClosed, CardDealt
from common.readings import LinkLost, LinkStale, LinkUnintelligible, LinkUp, ShoeReset
from tests.support.games.circle_play import HOLES, Play, holdem, table, whats
from tests.support.games.play import of_kind


def lost(play: Play) -> list[str]:
    return whats(play.take(LinkLost(at=play.now(), device="shoe", reason="unplugged")))


def up(play: Play, device: str = "shoe") -> list[str]:
    return whats(play.take(LinkUp(at=play.now(), device=device)))


def test_a_device_that_returns_while_cards_are_due_may_have_missed_some() -> None:
    play = holdem()
    assert lost(play) == []  # no card comes while bets are open
    play.close()
    assert up(play) == ["silence"]
    play.again()
    assert play.asks == ("card.decide", "round.void")


def test_cards_that_people_report_meanwhile_are_not_requested() -> None:
    play = holdem()
    lost(play)
    play.close()
    play.send("cards.burn")
    play.show("board", "2c 3c 4c")
    assert play.current.open
    assert up(play) == []


def test_a_device_that_was_never_silent_has_missed_nothing() -> None:
    play = holdem()
    play.close()
    assert up(play) == []


def test_another_device_that_returns_ends_no_silence() -> None:
    play = holdem()
    lost(play)
    play.close()
    assert up(play, "shuffler") == []
    assert up(play) == ["silence"]


@pytest.mark.parametrize(
    "kind",
    [
        LinkStale(at=1.0, device="shoe", age=9.0),
        LinkUnintelligible(at=1.0, device="shoe", bytes=99),
    ],
)
def test_a_silence_lasts_until_the_device_is_understood(
    kind: LinkStale | LinkUnintelligible,
) -> None:
    play = holdem()
    play.take(kind)
    play.close()
    assert up(play) == ["silence"]


@pytest.mark.parametrize(
    "heard", [ShoeReset(at=1.0, device="shoe"), LinkLost(at=1.0, device="shoe", reason="unplugged")]
)
def test_a_reader_that_restarts_in_a_deal_may_have_missed_a_card(
    heard: ShoeReset | LinkLost,
) -> None:
    play = table()
    play.bets()
    play.cards("Ah Kh")
    assert whats(play.take(heard)) == ["silence"]


def test_the_first_card_after_a_silence_before_the_deal_need_not_be_the_first() -> None:
    play = table("BAL09", "five-card-stud")
    play.send("bets.open")
    lost(play)
    up(play)
    events = play.cards("Ah")
    assert of_kind(events, BetsClosed)[0].unobserved
    assert whats(events) == ["silence"]
    assert [event.card for event in of_kind(events, CardDealt)] == [None]


def test_closing_the_antes_after_a_silence_begins_the_deal() -> None:
    play = table()
    play.send("bets.open")
    lost(play)
    up(play)
    play.send("bets.close")
    assert whats(play.cards(HOLES)) == []
    assert play.current.open
    assert play.current.used == 8
