"""The errors and infractions of chemin de fer, one after the other, each with the law that decides it."""

from __future__ import annotations

import pytest

from controller.events import CardDealt, CardRemoved, CardTurned, HandDecided, Irregularity, RoundResult, RoundVoid
from controller.games.game import Rejected
from devices.readings import LinkGap, LinkLost, LinkUp
from tests.controller.games.chemin_play import at_table, of, only, points, result_of, rules, whats

ALL = ("BAL05", "ARA02", "EUS96", "GAL07")
every = pytest.mark.parametrize("decree", ALL)


# The cards


@rules("ARA02-088", "BAL05-107", "EUS96-133", "GAL07-057")
def test_a_card_before_the_bets_are_closed_is_played_unless_the_inspector_rejects_it(decree: str) -> None:
    for action in ("accept", "remove"):
        play = at_table(decree)
        play.say("bets.open")
        told = only(play.cards("9h"), Irregularity)
        assert (told.what, told.asks, told.law[:5]) == ("card_before_close", ("card.decide", "round.void"), decree)
        with pytest.raises(Rejected, match="waits for a decision"):
            play.say("bets.close")
        said = play.decide(action)
        assert [event.card for event in of(said, CardRemoved)] == [None] * (action == "remove")
        play.say("bets.close")
        play.cards("2h 3c 4d 4s" if action == "remove" else "2h 7c 4d")
        play.stand()
        play.stand()
        cards = result_of(play.turn())["player"][0]
        assert cards == (("2h", "4d") if action == "remove" else ("9h", "7c"))


@every
def test_a_card_while_no_round_is_in_hand_is_the_first_of_the_next(decree: str) -> None:
    play = at_table(decree)
    assert whats(play.cards("9h")) == ["card_before_close"]
    play.decide("accept")
    assert [(event.to, event.card) for event in of(play.bets(), CardDealt)] == [("player", None)]


@rules("ARA02-089", "EUS96-134", "GAL07-053")
def test_a_card_that_left_the_shoe_is_never_counted_back(decree: str) -> None:
    play = at_table(decree)
    play.cards("9h")
    play.decide("remove")
    assert play.game.show(play.state)["shoe"]["left"] == 311
    play.dealt("2h 3c 4d 4s")
    play.say("round.void", reason="cards_stuck")
    assert play.game.show(play.state)["shoe"]["left"] == 307


@rules("ARA02-090", "BAL05-108", "EUS96-057", "GAL07-055 GAL07-060")
def test_a_card_face_up_in_the_shoe_is_removed_and_the_next_takes_its_place(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c")
    said = play.cards("9h", exposed=True)
    assert whats(said) == ["card_exposed", "card.removed"]
    assert only(said, CardRemoved).card == "9h"
    assert [event.to for event in of(play.cards("4d 4s"), CardDealt)] == ["player", "banker"]
    seen = play.decide("remove")  # the shoe did not see it, a person did
    assert only(seen, CardRemoved).card == "4s"
    play.cards("5s")
    play.stand()
    play.stand()
    assert points(play.turn()) == {"player": (6, "lose"), "banker": (8, "win")}


@rules("ARA02-091", "BAL05-109", "EUS96-142", "GAL07-056")
def test_cards_stuck_together_make_the_round_null(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d")
    void = only(play.say("round.void", reason="cards_stuck"), RoundVoid)
    assert (void.reason, void.law) == ("cards_stuck", play.book.void["cards_stuck"].rule)
    assert play.game.history(play.state)[-1]["kind"] == "void"


@rules("ARA02-092", "EUS96-143", "GAL07-117")
def test_a_card_on_the_floor_keeps_its_value(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    with pytest.raises(Rejected, match="the role technician"):
        play.decide("floor", who="player", index=1, role="technician")
    assert whats(play.decide("floor", who="player", index=1)) == ["card_on_floor"]
    play.stand()
    play.stand()
    assert points(play.turn())["player"] == (6, "lose")


@every
def test_a_card_that_was_not_read_stops_the_table(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c")
    assert whats(play.cards(".")) == ["card_unread", "card.expected"]
    assert not of(play.cards("4s"), CardDealt)
    said = play.decide("read", card="4d")
    assert [(event.to, event.card) for event in of(said, CardDealt)] == [("player", None), ("banker", None)]


@every
def test_what_the_shoe_took_a_card_for_is_not_told_when_a_person_reads_another(decree: str) -> None:
    play = at_table(decree)
    play.say("bets.open")
    play.cards("9h")
    play.decide("read", card="8h")
    play.say("bets.close")
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
        assert len(of(play.bets(), CardDealt)) == (where or 0)


# The croupier


@rules("ARA02-103", "BAL05-116", "EUS96-148", "GAL07-109")
def test_both_cards_shown_by_the_croupier_bind_the_banker_to_the_table_and_to_draw(decree: str) -> None:
    play = at_table(decree)
    play.dealt("Ah 3c Ad Ks")
    play.decide("exposed", who="player", index=1, fault="croupier")
    said = play.decide("exposed", who="player", index=2, fault="croupier")
    assert [event.card for event in of(said, CardTurned)] == ["Ad"]
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
    assert not of(play.turn(), Irregularity)


@rules("ARA02-105", "BAL05-119", "EUS96-149", "GAL07-118")
def test_a_card_falsely_called_is_the_banks_where_it_makes_five_or_less(decree: str) -> None:
    for drawn, out in (("2c", []), ("2c 4c", ["4c"])):
        play = at_table(decree)
        play.dealt("2h Kc 4d 5s")
        play.draw()
        play.cards(drawn)
        said = play.stand("player")
        assert only(said[:1], Irregularity).what == "false_card"
        assert play.game.show(play.state)["asks"] == ["hand.draw", "hand.stand", "round.void"]
        said = play.draw("banker")
        assert [(event.card, event.was) for event in of(said, CardDealt)] == [("2c", "player")]
        assert [event.card for event in of(said, CardRemoved)] == out
        assert result_of(play.turn())["banker"][0] == ("Kc", "5s", "2c")
    for bank, word, wrong in (("6s", "stand", False), ("6s", "draw", True), ("5s", "stand", True)):
        play = at_table(decree)
        play.dealt(f"2h Kc 4d {bank}")
        play.draw()
        play.cards("2c 3c")
        play.stand("player")
        said = play.say(f"hand.{word}", who="banker")
        assert [event.card for event in of(said, CardRemoved)] == (["2c", "3c"] if word == "stand" else ["3c"])
        assert ("bank_word" in whats(play.turn())) == wrong


@rules("GAL07-127")
def test_another_fault_in_the_deal_makes_the_round_null_unless_it_can_be_put_right(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h Kc 4d 6s")
    told = only(play.decide("basket", who="player", index=1, fault="croupier"), Irregularity)
    assert (told.law, told.asks) == ("GAL07-127", ("card.decide", "round.void"))
    assert only(play.say("round.void", reason="misdeal"), RoundVoid).law == "GAL07-127"
    play.dealt("2h Kc 4d 6s")
    play.decide("basket", who="player", index=1, fault="croupier")
    play.decide("accept")
    play.stand()
    play.stand()
    assert points(play.turn()) == {"player": (6, "tie"), "banker": (6, "tie")}


# The banker


@rules("ARA02-099", "BAL05-119", "EUS96-144", "GAL07-105")
def test_a_fifth_card_is_the_banks_if_the_hand_asks_for_none(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    assert whats(play.cards("2c")) == ["fifth_card"]
    said = play.stand()
    assert [(event.who, event.decision) for event in of(said, HandDecided)] == [("player", "stand"), ("banker", "draw")]
    assert [(event.to, event.index, event.card) for event in of(said, CardDealt)] == [("banker", 3, "2c")]
    play = at_table(decree)
    play.dealt("2h 3c 2d 4s")
    play.cards("2c")
    assert [(event.to, event.card) for event in of(play.draw(), CardDealt)] == [("player", "2c")]
    play = at_table(decree)
    play.dealt("4h 3c 4d 4s")
    play.cards("2c")
    removed = only(play.turn("player"), CardRemoved)
    assert (removed.why, removed.card) == ("fifth_card", None)


@rules("ARA02-100", "BAL05-117", "EUS96-145", "GAL07-106")
def test_a_banker_with_more_than_two_first_cards_has_zero(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    play.cards("2c")
    said = play.decide("for", who="banker")
    assert whats(said) == ["card.dealt", "bank_overdealt"]
    assert only(said, CardDealt).card is None
    play.stand()
    play.draw("banker")
    play.cards("5h")
    assert result_of(play.turn()) == {
        "player": (("2h", "4d"), 6, None, "win"),
        "banker": (("3c", "4s", "2c", "5h"), 5, None, "lose"),
    }


@every
def test_a_second_card_of_the_banks_in_the_middle_of_the_deal(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d")
    said = play.decide("for", who="banker")
    assert [(event.to, event.was, event.card) for event in of(said, CardDealt)] == [("banker", "player", None)]
    assert play.state.expected == "player"
    play.cards("5h")
    play.stand()
    play.stand()
    assert result_of(play.turn())["player"][0] == ("2h", "5h")


@rules("ARA02-101", "BAL05-118", "EUS96-146", "GAL07-107")
def test_of_two_third_cards_the_hand_has_the_better_and_the_bank_the_worse(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 2d 3s")
    play.draw()
    play.cards("Ac 5c")
    said = play.decide("for", who="player")
    assert only(said, Irregularity).asks == ("card.decide", "cards.turn", "round.confirm", "round.void")
    assert only(play.decide("accept", card="5c"), CardRemoved).card == "Ac"  # which counts a person says
    play.cards("2c 3h")  # and he does it again, to himself
    play.decide("for", who="banker")
    assert only(play.turn("banker"), CardRemoved).card == "3h"  # or the cards do, when they are turned
    assert result_of(play.turn("player")) == {
        "player": (("2h", "2d", "5c"), 9, None, "win"),
        "banker": (("3c", "3s", "2c"), 8, None, "lose"),
    }


@every
def test_the_wrong_one_of_two_third_cards_is_found_when_the_hand_is_turned(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 2d 3s")
    play.draw()
    play.cards("Ac 5c")
    play.decide("for", who="player")
    with pytest.raises(Rejected, match="say which of the two cards counts"):
        play.say("round.confirm")
    play.decide("accept", card="Ac")
    play.stand("banker")
    assert only(play.turn(), Irregularity).what == "two_third_cards"
    assert points(play.say("round.confirm")) == {"player": (5, "lose"), "banker": (6, "win")}


@every
def test_a_person_says_which_of_the_banks_two_cards_counts_after_the_hands(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 2d 3s")
    play.draw()
    play.cards("Ac 5c")
    play.decide("for", who="player")
    play.decide("accept", card="5c")
    play.cards("2c 3h")
    play.decide("for", who="banker")
    with pytest.raises(Rejected, match="say accept and the card that counts"):
        play.decide("accept", card="5c")
    play.decide("accept", card="2c")
    assert points(play.turn()) == {"player": (9, "win"), "banker": (8, "lose")}


@rules("ARA02-102", "BAL05-120", "EUS96-147", "GAL07-108")
def test_a_card_of_the_hands_in_the_basket_makes_nine(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c")
    said = play.decide("basket", who="player", index=1, fault="banker")
    assert only(said, CardRemoved).card is None
    play.cards("4s")
    assert result_of(play.turn()) == {"player": ((), 9, "natural_nine", "win"), "banker": (("3c", "4s"), 7, None, "lose")}
    play = at_table(decree)
    play.dealt("2h 3c 2d 4s")
    play.draw()
    play.cards("Kd")
    play.decide("basket", who="player", index=3, fault="banker")
    play.cards("2c")
    said = play.turn()
    assert only(said, Irregularity).what == "bank_word"  # he has seven
    play.decide("remove")
    result = only(play.events, RoundResult)
    assert isinstance(result.hands, tuple)
    assert [(hand.who, hand.points, hand.kind) for hand in result.hands] == [("player", 9, "nine"), ("banker", 7, None)]


@rules("ARA02-104", "GAL07-109")
def test_a_banker_who_shows_a_card_shows_his_own(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d Ks")
    play.decide("exposed", who="player", index=1, fault="banker")
    with pytest.raises(Rejected, match="card 1 of the bank must be shown first"):
        play.draw()
    assert [event.card for event in of(play.turn("banker", index=1), CardTurned)] == ["4c"]
    play.decide("exposed", who="player", index=2, fault="banker")
    play.turn("banker", index=2)
    play.draw()
    play.cards("6s")
    said = play.stand("banker")  # the table is his now: four against six
    assert only(said, Irregularity).what == "bank_word"


@rules("ARA02-106", "BAL05-121", "GAL07-119")
def test_a_card_of_the_banks_in_the_basket_unseen_loses_him_the_round(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    play.decide("basket", who="banker", index=2, fault="banker")
    assert result_of(play.turn("player"))["player"] == (("2h", "2d"), 4, None, "win")


@every
def test_a_bank_that_has_lost_gives_no_card(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    play.draw()
    play.decide("basket", who="banker", index=1, fault="banker")
    assert points(play.turn("player")) == {"player": (4, "win"), "banker": (0, "lose")}


@every
def test_who_lays_down_before_the_hand_has_spoken(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    said = play.turn("banker")
    assert [event.what for event in of(said, Irregularity)] == ["bank_before_hands"]
    assert points(play.turn("player")) == {"player": (4, "lose"), "banker": (8, "win")}


@every
def test_a_banker_who_gives_a_card_may_not_lay_down_any_more(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    play.draw()
    play.cards("5c")
    play.stand("banker")
    said = play.turn()
    assert only(said, RoundResult).winner == "player"
    assert [hand.kind for hand in only(said, RoundResult).hands or ()] == [None, None]


# The player


@every
def test_a_wrong_word_lets_the_banker_give_or_deny_the_card(decree: str) -> None:
    play = at_table(decree)
    play.dealt("Kh 3c 3d 4s")
    play.stand()
    play.stand()
    told = only(play.turn(), Irregularity)
    assert (told.what, told.asks) == ("player_word", ("hand.draw", "card.decide", "round.confirm", "round.void"))
    play.draw("player")
    assert result_of(play.cards("6c"))["player"] == (("Kh", "3d", "6c"), 9, None, "win")
    play = at_table(decree)
    play.dealt("Kh 3c 7d 4s")
    play.draw()
    play.cards("2c")
    play.stand()
    play.turn()
    said = play.decide("remove")
    assert points(said) == {"player": (7, "tie"), "banker": (7, "tie")}
    assert only(said, CardRemoved).card == "2c"


@every
def test_to_a_hand_with_zero_the_card_may_not_be_denied(decree: str) -> None:
    play = at_table(decree)
    play.dealt("Kh 3c Jd 4s", banco=True)
    play.stand()
    play.stand()
    play.turn()
    with pytest.raises(Rejected, match="may not be denied"):
        play.say("round.confirm")
    play.draw("player")
    assert points(play.cards("6c"))["player"] == (6, "lose")


@every
def test_who_plays_alone_for_the_bank_bears_his_error(decree: str) -> None:
    play = at_table(decree)
    play.dealt("Kh 3c 3d 4s", banco=True)
    play.stand()
    play.stand()
    said = play.turn()
    assert [event.what for event in of(said, Irregularity)] == ["player_word"]
    assert points(said)["player"] == (3, "lose")


@every
def test_nine_forgotten_loses_to_eight_laid_down(decree: str) -> None:
    play = at_table(decree)
    play.dealt("5h 4c 4d 4s")
    play.stand()
    play.turn("banker")
    said = play.turn("player")
    assert "natural_forgotten" in whats(said)
    assert points(said) == {"player": (9, "lose"), "banker": (8, "win")}


@every
def test_a_card_asked_for_with_a_natural_is_the_bankers_to_decide(decree: str) -> None:
    play = at_table(decree)
    play.dealt("5h 3c 4d 4s")
    play.draw()
    play.cards("2c")
    play.stand()
    assert only(play.turn(), Irregularity).asks == ("card.decide", "round.confirm", "round.void")
    result = only(play.say("round.confirm"), RoundResult)
    assert (result.winner, result.confirmed_by) == ("banker", "M. Lasa (inspector)")


@rules("GAL07-120")
def test_a_player_who_throws_his_cards_away_unseen_has_lost(decree: str) -> None:
    play = at_table(decree)
    play.dealt("5h 3c 4d Ks")
    play.decide("basket", who="player", fault="player")
    hands = result_of(play.turn("banker"))
    assert hands["player"] == ((), 0, "loses", "lose")


# What no decree foresees


@every
def test_a_silence_asks_whether_cards_are_missing(decree: str) -> None:
    play = at_table(decree)
    play.dealt("5h 3c")
    assert only(play.take(LinkLost(at=1.0, reason="unplugged")), Irregularity).what == "silence"
    assert not of(play.cards("4d"), CardDealt)
    assert len(of(play.decide("accept"), CardDealt)) == 1
    play.take(LinkLost(at=1.0, reason="unplugged"))
    with pytest.raises(Rejected, match="say the winner: player"):
        play.say("round.confirm")
    result = only(play.say("round.confirm", winner="player"), RoundResult)
    assert (result.hands, result.winner, result.confirmed_by) == ((), "player", "M. Lasa (inspector)")


@every
def test_a_shoe_that_is_not_heard_while_the_bets_close_hides_no_card(decree: str) -> None:
    play = at_table(decree)
    play.say("bets.open")
    assert whats(play.take(LinkLost(at=1.0, reason="unplugged"))) == []
    assert "silence" in whats(play.say("bets.close"))
    play.decide("accept")  # so far
    assert whats(play.take(LinkUp(at=1.0)))[0] == "silence"
    assert not of(play.cards("5h"), CardDealt)
    assert len(of(play.decide("accept"), CardDealt)) == 1
    assert whats(play.take(LinkGap(at=1.0, lost=1)))[0] == "silence"
    assert play.game.show(play.state)["shoe"]["left"] is None
