"""Errors with the cards of chemin de fer, and by the croupier; situations that no decree foresees.
Each with its law.
"""

from __future__ import annotations

import pytest

from common.contract.events import (
    CardDealt,
    CardRemoved,
    CardTurned,
    Irregularity,
    RoundResult,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from common.readings import LinkGap, LinkLost, LinkUp
from tests.support.games.chemin_play import at_table, points, result_of, rules
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only, whats

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
every = pytest.mark.parametrize("decree", DECREES)


# The cards


@rules("ARA02-088", "BAL05-107", "EUS96-133", "GAL07-057")
def test_a_card_before_the_bets_are_closed_is_played_unless_the_inspector_rejects_it(
    decree: str,
) -> None:
    for action in ("accept", "remove"):
        play = at_table(decree)
        play.send("bets.open")
        told = only(play.cards("9h"), Irregularity)
        assert (told.what, told.asks, told.law[:5]) == (
            "card_before_close",
            ("card.decide", "round.void"),
            decree,
        )
        with pytest.raises(
            RejectedError, match="a card drawn before the bets closed needs a decision"
        ):
            play.send("bets.close")
        events = play.decide(action)
        assert [event.card for event in of_kind(events, CardRemoved)] == [None] * (
            action == "remove"
        )
        play.send("bets.close")
        play.cards("2h 3c 4d 4s" if action == "remove" else "2h 7c 4d")
        play.stand()
        play.stand()
        cards = result_of(play.turn())["player"][0]
        assert cards == (("2h", "4d") if action == "remove" else ("9h", "7c"))


@every
def test_a_card_while_no_round_is_in_hand_is_the_first_of_the_next(decree: str) -> None:
    play = at_table(decree)
    assert whats(play.cards("9h")) == ["card_out_of_round"]
    play.decide("accept")
    assert [(event.to, event.card) for event in of_kind(play.bets(), CardDealt)] == [
        ("player", None)
    ]


@rules("ARA02-089", "EUS96-134", "GAL07-053")
def test_a_card_that_left_the_shoe_is_never_counted_back(decree: str) -> None:
    play = at_table(decree)
    play.cards("9h")
    play.decide("remove")
    assert play.shown["shoe"]["left"] == 311
    play.dealt("2h 3c 4d 4s")
    play.send("round.void", reason="cards_stuck")
    assert play.shown["shoe"]["left"] == 307


@rules("ARA02-090", "BAL05-108", "EUS96-057", "GAL07-055 GAL07-060")
def test_a_card_face_up_in_the_shoe_is_removed_and_the_next_takes_its_place(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c")
    assert whats(play.cards("9h", exposed=True)) == ["card_exposed", "card.expected"]
    assert play.shown["asks"] == ["card.decide", "round.void"]
    assert "9h" not in str(play.events), "a device's report publishes no card"
    said = play.decide("exposed")
    assert (whats(said), only(said, CardRemoved).card) == (["card.removed", "card.expected"], "9h")
    assert [event.to for event in of_kind(play.cards("4d 4s"), CardDealt)] == ["player", "banker"]
    seen = play.decide("remove")  # the shoe did not see it, a person did
    assert only(seen, CardRemoved).card == "4s"
    play.cards("5s")
    play.stand()
    play.stand()
    assert points(play.turn()) == {"player": (6, "lose"), "banker": (8, "win")}


@every
def test_a_card_that_the_shoe_wrongly_saw_face_up_is_not_published(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c")
    play.cards("9h", exposed=True)
    play.cards("4d")
    assert play.state.expected is None
    said = play.decide("accept")
    assert [(event.to, event.card) for event in of_kind(said, CardDealt)] == [
        ("player", None),
        ("banker", None),
    ]
    assert "9h" not in str(play.events)


@every
def test_a_card_removed_unseen_is_not_named_and_one_that_differs_is(
    decree: str,
) -> None:
    play = at_table(decree)
    play.dealt("2h 3c")
    play.cards("9h", exposed=True)
    assert only(play.decide("remove"), CardRemoved).card is None
    play.cards("8h", exposed=True)
    assert only(play.decide("exposed", card="7d"), CardRemoved).card == "7d"
    assert not {"9h", "8h"} & {
        word.strip("'") for word in str(play.events).replace(",", " ").split()
    }
    assert play.state.expected == "player"


@every
def test_an_unrequested_third_card_waits_too(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    assert whats(play.cards("9h", exposed=True)) == ["card_exposed"]
    assert "9h" not in str(play.events)


@every
def test_a_third_card_that_is_dealt_face_up_is_published_as_always(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 2d 4s")
    play.send("hand.draw")
    events = play.cards("9h", exposed=True)
    assert (whats(events), only(events, CardRemoved).card) == (
        ["card_exposed", "card.removed"],
        "9h",
    )


@rules("ARA02-091", "BAL05-109", "EUS96-142", "GAL07-056")
def test_cards_stuck_together_make_the_round_null(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d")
    void = only(play.send("round.void", reason="cards_stuck"), RoundVoid)
    assert (void.reason, void.law) == ("cards_stuck", play.book.void["cards_stuck"].rule)
    assert history(play)[-1]["kind"] == "void"


@rules("ARA02-092", "EUS96-143", "GAL07-117")
def test_a_card_on_the_floor_keeps_its_value(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    with pytest.raises(RejectedError, match="role technician is not allowed"):
        play.decide("floor", who="player", index=1, role="technician")
    assert whats(play.decide("floor", who="player", index=1)) == ["card_on_floor"]
    play.stand()
    play.stand()
    assert points(play.turn())["player"] == (6, "lose")


@every
def test_a_card_that_was_not_read_stops_the_table(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c")
    assert whats(play.cards("-")) == ["card_unread", "card.expected"]
    assert not of_kind(play.cards("4s"), CardDealt)
    events = play.decide("read", card="4d")
    assert [(event.to, event.card) for event in of_kind(events, CardDealt)] == [
        ("player", None),
        ("banker", None),
    ]


@every
def test_the_shoes_reading_is_not_published_when_a_person_reads_another_card(decree: str) -> None:
    play = at_table(decree)
    play.send("bets.open")
    play.cards("9h")
    play.decide("read", card="8h")
    play.send("bets.close")
    play.cards("3c 8d 4s")
    play.stand()
    play.stand()
    result = only(play.turn(), RoundResult)
    assert "9h" not in str(result)


@every
def test_a_card_too_many_is_for_a_person_to_place(decree: str) -> None:
    for action, where in (("remove", None), ("next_round", 1)):
        play = at_table(decree)
        play.dealt("2h 3c 4d 4s")
        play.stand()
        play.stand()
        assert whats(play.cards("9h"))[0] == "card_surplus"
        play.decide(action)
        assert points(play.turn()) == {"player": (6, "lose"), "banker": (7, "win")}
        assert len(of_kind(play.bets(), CardDealt)) == (where or 0)


# The croupier


@rules("ARA02-103", "BAL05-116", "EUS96-148", "GAL07-109")
def test_both_cards_shown_by_the_croupier_bind_the_banker_to_the_table_and_to_draw(
    decree: str,
) -> None:
    play = at_table(decree)
    play.dealt("Ah 3c Ad Ks")
    play.decide("exposed", who="player", index=1, fault="croupier")
    events = play.decide("exposed", who="player", index=2, fault="croupier")
    assert [event.card for event in of_kind(events, CardTurned)] == ["Ad"]
    play.draw()
    play.cards("9h")  # three against nine: he may, elsewhere
    play.stand("banker")
    assert only(play.turn(), Irregularity).what == "bank_word"
    play.draw("banker")
    assert points(play.cards("2s")) == {"player": (1, "lose"), "banker": (5, "win")}


@every
def test_one_card_shown_by_the_croupier_changes_nothing_for_the_banker(decree: str) -> None:
    play = at_table(decree)
    play.dealt("Ah 3c Ad Ks")
    play.decide("exposed", who="player", index=1, fault="croupier")
    play.draw()
    play.cards("9h")
    play.stand("banker")
    assert not of_kind(play.turn(), Irregularity)


@rules("ARA02-105", "BAL05-119", "EUS96-149", "GAL07-118")
def test_a_card_falsely_called_is_the_banks_where_it_makes_five_or_less(decree: str) -> None:
    for drawn, out in (("2c", []), ("2c 4c", ["4c"])):
        play = at_table(decree)
        play.dealt("2h Kc 4d 5s")
        play.draw()
        play.cards(drawn)
        events = play.stand("player")
        assert only(events[:1], Irregularity).what == "false_card"
        assert play.shown["asks"] == ["hand.draw", "hand.stand", "round.void"]
        events = play.draw("banker")
        assert [(event.card, event.was) for event in of_kind(events, CardDealt)] == [
            ("2c", "player")
        ]
        assert [event.card for event in of_kind(events, CardRemoved)] == out
        assert result_of(play.turn())["banker"][0] == ("Kc", "5s", "2c")
    for bank, word, wrong in (("6s", "stand", False), ("6s", "draw", True), ("5s", "stand", True)):
        play = at_table(decree)
        play.dealt(f"2h Kc 4d {bank}")
        play.draw()
        play.cards("2c 3c")
        play.stand("player")
        events = play.send(f"hand.{word}", who="banker")
        assert [event.card for event in of_kind(events, CardRemoved)] == (
            ["2c", "3c"] if word == "stand" else ["3c"]
        )
        assert ("bank_word" in whats(play.turn())) == wrong


@rules("GAL07-127")
def test_another_fault_in_the_deal_makes_the_round_null_unless_it_can_be_corrected(
    decree: str,
) -> None:
    play = at_table(decree)
    play.dealt("2h Kc 4d 6s")
    event = only(play.decide("basket", who="player", index=1, fault="croupier"), Irregularity)
    assert (event.law, event.asks) == ("GAL07-127", ("card.decide", "round.void"))
    assert only(play.send("round.void", reason="misdeal"), RoundVoid).law == "GAL07-127"
    play.dealt("2h Kc 4d 6s")
    play.decide("basket", who="player", index=1, fault="croupier")
    play.decide("accept")
    play.stand()
    play.stand()
    assert points(play.turn()) == {"player": (6, "tie"), "banker": (6, "tie")}


# Situations that no decree foresees


@every
def test_a_silence_asks_whether_cards_are_missing(decree: str) -> None:
    play = at_table(decree)
    play.dealt("5h 3c")
    assert only(play.take(LinkLost(at=1.0, reason="unplugged")), Irregularity).what == "silence"
    assert not of_kind(play.cards("4d"), CardDealt)
    assert len(of_kind(play.decide("accept"), CardDealt)) == 1
    play.take(LinkLost(at=1.0, reason="unplugged"))
    with pytest.raises(RejectedError, match="give the winner as player"):
        play.send("round.confirm")
    result = only(play.send("round.confirm", winner="player"), RoundResult)
    assert (outcome_of(result).hands, outcome_of(result).winner, result.confirmed_by) == (
        (),
        "player",
        "M. Lasa (inspector)",
    )


@every
def test_a_shoe_that_is_silent_while_the_bets_close_hides_no_card(decree: str) -> None:
    play = at_table(decree)
    play.send("bets.open")
    assert whats(play.take(LinkLost(at=1.0, reason="unplugged"))) == []
    assert "silence" in whats(play.send("bets.close"))
    play.decide("accept")  # so far
    assert whats(play.take(LinkUp(at=1.0)))[0] == "silence"
    assert not of_kind(play.cards("5h"), CardDealt)
    assert len(of_kind(play.decide("accept"), CardDealt)) == 1
    assert whats(play.take(LinkGap(at=1.0, lost=1)))[0] == "silence"
    assert play.shown["shoe"]["left"] is None
