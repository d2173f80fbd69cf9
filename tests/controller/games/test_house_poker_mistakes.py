"""Mistakes at house poker that are corrected before the result: of a reader, and of the person who
reports the cards.
"""

from __future__ import annotations

import pytest

from common.contract.events import CardDealt, CardTurned, DeckChecked, Irregularity
from common.contract.refusals import RejectedError
from common.readings import ShufflerVerdict
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import confidential, of_kind
from tests.support.games.poker_play import Play, box, dealt, result, singly, stopped, table

ONE, TWO, BANK = "Ts Td Tc 6c 7s", "As Ac 5d 8c Jh", "Ah Kd 5s 4s 9h"


def to_be_shown(*, second: str = "go") -> Play:
    """The cards of two boxes are unknown; the bank's lie open, and it plays."""
    play = table()
    play.bets(1, 2)
    play.cards(singly("- - - - -", "- - - - -", BANK))
    play.act(1, "go")
    play.act(2, second)
    play.turn("dealer")
    return play


def test_the_cards_of_one_box_reported_for_another() -> None:
    play = to_be_shown()
    play.show("box:1", TWO)
    play.show("box:2", TWO)
    stopped(play, "card_duplicate")
    play.show("box:1", ONE)
    stopped(play, "shown_differs")
    assert {
        event.card for event in of_kind(play.send("card.decide", action="accept"), CardTurned)
    } == set(ONE.split())
    events = play.show("box:2", TWO)
    assert [(hand.who, hand.cards) for hand in outcome_of(result(events)).hands][:2] == [
        ("box:1", tuple(ONE.split())),
        ("box:2", tuple(TWO.split())),
    ]


def test_a_hand_that_is_shown_twice() -> None:
    play = to_be_shown()
    play.show("box:1", ONE)
    with pytest.raises(RejectedError, match="the cards of box:1 are already face up"):
        play.show("box:1", ONE)


def test_a_card_that_the_reader_knew_in_a_hand_that_gave_up() -> None:
    """The folded hand is no longer shown: a person vouches for the card that lies open."""
    play = table()
    dealt(play, "- - - - -", TWO, BANK)
    play.act(1, "go")
    play.act(2, "pass")
    play.turn("dealer")
    play.show("box:1", "As Ad 2c 3c 4d")
    stopped(play, "card_duplicate")
    events = play.send("card.decide", action="accept")
    assert (box(events).kind, result(events).confirmed_by) == ("pair", "M. Lasa (table_head)")


def test_no_statement_puts_a_card_in_two_places() -> None:
    play = to_be_shown()
    play.show("box:1", "Ah Td Tc 6c 7s")
    stopped(play, "card_duplicate")
    with pytest.raises(
        RejectedError,
        match="these cards cannot be accepted; send the right ones or void the round:",
    ):
        play.send("card.decide", action="accept")


def test_a_card_that_is_read_twice_lies_there_unread() -> None:
    """A card that lies face down must not be looked at to name it: it stays where it is, and is
    shown in its time.
    """
    play = table()
    play.bets(1)
    play.cards("As Ah As")
    stopped(play, "card_duplicate")
    events = play.send("card.decide", action="read")
    assert [(event.to, event.card) for event in of_kind(events, CardDealt)] == [("box:1", None)]
    play.cards("Kd Kc 5s 2d 4s 3h 9h")
    play.act(1, "go")
    play.turn("dealer")
    assert "cards.show" in play.shown["asks"]
    assert box(play.show("box:1", "As Ad Kc 2d 3h")).kind == "pair"


def test_a_card_that_lies_face_up_is_not_left_unread() -> None:
    play = table()
    play.bets(1)
    play.cards("As Ah Ad Kd Kc 5s 2d 4s 3h -")
    stopped(play, "card_unread")
    with pytest.raises(RejectedError, match="the card is face up; name it with action read"):
        play.send("card.decide", action="read")


def test_a_hand_that_has_lost_gets_no_card_that_it_has_bought() -> None:
    play = table()
    dealt(play, ONE, TWO, BANK)
    play.act(1, "buy")
    play.act(2, "buy")
    play.send("deal.error", error="exposed", who="box:1", fault="player")
    assert [event.to for event in of_kind(play.cards("2h"), CardDealt)] == ["box:2"]


def test_a_silence_after_a_card_that_came_before_bets_closed() -> None:
    """Cards may have come unseen between those that wait: their places are not guessed."""
    play = table()
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    play.cards("As")
    play.gap()
    play.cards("Kc")
    events = play.send("bets.close")
    assert [event.what for event in of_kind(events, Irregularity)] == ["silence"]
    assert of_kind(events, CardDealt) == []
    play.send("cards.deal", count=10)
    assert play.shown["phase"] == "decisions"


def test_removing_the_card_does_not_end_the_silence() -> None:
    play = table()
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    play.cards("As")
    play.gap()
    play.cards("Kc")
    play.send("card.decide", action="remove")
    stopped(play, "card_before_close")
    assert [event.what for event in of_kind(play.send("bets.close"), Irregularity)] == ["silence"]


def test_the_open_card_of_those_dealt_in_a_silence_is_reported_with_them() -> None:
    play = table(exposed="first")
    play.bets(1)
    play.gap()
    events = play.send("cards.deal", count=2, cards=["Kd"])
    assert [event.card for event in of_kind(events, CardTurned)] == ["Kd"]
    assert play.shown["asks"][0] == "cards.deal", "the others are still to be reported"


def test_a_verdict_that_comes_late_is_never_acted_upon() -> None:
    play = table()
    play.verdict(count=51)
    assert play.shown["deck"] is False
    assert play.verdict(count=52, late=True) == []
    assert play.shown["deck"] is False


def test_a_verdict_does_not_name_a_card_that_came_too_early() -> None:
    play = table()
    play.send("bets.open")
    play.send("boxes.set", boxes=[1])
    play.cards("As")
    [checked] = of_kind(play.verdict(count=51, missing=("As",)), DeckChecked)
    assert not checked.right
    assert "As" not in str(checked)
    assert len(play.sealed) == 2


def test_one_card_shown_by_its_place_is_one() -> None:
    play = to_be_shown()
    with pytest.raises(RejectedError, match="with index name exactly one card, not 2"):
        play.show("box:1", "2c 3c", index=1)


def test_missing_cards_may_belong_to_a_player_who_did_not_show_in_an_earlier_round() -> None:
    lacks = ShufflerVerdict(at=1.0, device="shuffler", count=51, missing=("Kh",))
    play = table()
    for _ in range(2):
        assert confidential(play.game, play.state, lacks)
        events = play.take(lacks)
        assert [checked.right for checked in of_kind(events, DeckChecked)] == [False]
        assert "Kh" not in str(events)
        play.take(
            ShufflerVerdict(at=2.0, device="shuffler", count=52, count_right=True, set_right=True)
        )
    play.send("bets.open")
    play.send("round.void", reason="inspector")
    assert confidential(play.game, play.state, lacks)
    assert "Kh" not in str(play.take(lacks))
