"""The shoe of a table of black jack: burn, cut card, cards that should not be, silences, people's decisions."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from controller.events import (
    AlertCleared,
    AlertRaised,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardsBurned,
    Irregularity,
    LimitChanged,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
    ShoeCut,
    ShoeEnded,
    ShoeStarted,
)
from controller.games.game import Rejected
from controller.notation import write
from devices.readings import CardDrawn, LinkGap, LinkStale, LinkUp, ShoeFault, ShoeReset
from tests.controller.games.blackjack_play import DECREES, PAIRS, Play, outcomes
from tests.controller.games.roulette_play import of, only, whats

rule = pytest.mark.rule


@pytest.fixture(params=PAIRS, ids="-".join)
def play(request: pytest.FixtureRequest) -> Play:
    game, decree = request.param
    return Play(decree, game)


def dealing(play: Play) -> Play:
    """Boxes 1 and 3 are dealt to: 12, 18, and the dealer's king; box 1 is to speak."""
    play.open()
    play.deal((1, 3), "8h 9s Kd 4d 9c")
    return play


# A talla begins


@rule("BAL05-070", "ARA02-052", "EUS96-060", "GAL07-050")
def test_five_cards_are_burned_and_nobody_is_told_which(play: Play) -> None:
    said = play.open()
    assert only(said, CardsBurned).count == 5
    assert [event.to for event in of(said, CardExpected)] == ["burn", None]
    public = b"".join(map(write, said))
    assert not any(card.encode() in public for card in ("2c", "3c", "4c", "5c", "6c"))
    play.deal((1, 3), "8h 9s Kd 4d 9c")
    assert [event.card for event in of(play.events, CardDealt)] == ["8h", "9s", "Kd", "4d", "9c"]


@rule("BAL05-070", "ARA02-052", "EUS96-060", "GAL07-050")
def test_what_is_burned_is_confidential(play: Play) -> None:
    play.open(burned=False)
    given = play.game.confidential
    for card in ("2c", None, "4c", "4c", "4c"):
        reading = _drawn(card)
        assert given(play.state, reading) == (card is not None)
        play.take(reading)
    play.boxes(1, 3)
    assert not given(play.state, _drawn("8h"))
    assert not of(play.events, Irregularity), "nobody sees that one was not read"


@rule("GAL07-079")
def test_without_a_shoe_cards_are_nothing(play: Play) -> None:
    play.command("session.open")
    with pytest.raises(Rejected, match="no shoe is at the table"):
        play.boxes(1, 2)
    said = play.card("8h")
    assert whats(said) == ["shoe_missing", "shoe_missing"]
    assert b"8h" not in b"".join(map(write, said))
    assert play.card("9h") == []
    assert only(play.command("shoe.start", shoe="7"), AlertCleared)


@rule("ARA02-048", "ARA02-049")
def test_what_is_said_of_a_shoe_is_held_against_the_decree() -> None:
    play = Play("ARA02", models=("A", "B"))
    play.command("session.open")
    with pytest.raises(Rejected, match="without a number"):
        play.command("shoe.start", shoe=" ")
    said = play.command("shoe.start", shoe="7", model="C", cards=311, backs=(2, 4), cut=51)
    assert [event.what for event in of(said, Irregularity)] == ["shoe_model", "shoe_count", "cards_backs", "cut_card"]
    assert [event.law for event in of(said, Irregularity)] == ["ARA02-049", "ARA02-048", "ARA02-048", "ARA02-051"]
    assert (only(said, ShoeStarted).cards, only(said, ShoeStarted).cut) == (312, 51)


@rule("ARA02-050")
def test_the_same_shoe_session_after_session_is_a_warning() -> None:
    play = Play("ARA02")
    for session in range(1, 5):
        play.command("session.open")
        said = play.command("shoe.start", shoe="7")
        assert bool(of(said, Irregularity)) == (session >= 3)
        play.command("session.close")


@rule("EUS96-061")
def test_a_shoe_that_shuffles_without_end_has_no_cut_card_and_burns_only_where_the_site_says_so() -> None:
    for setting, expected in (("no", None), ("yes", "burn")):
        play = Play("EUS96", continuous=True, burn_continuous=setting)
        said = play.open(burned=False)
        assert only(said, ShoeStarted).cut == 0
        assert play.state.expected == expected
        if expected is None:
            assert not play.cut()
            for _ in range(40):
                play.deal((1,), "Th Kd 8d")
                play.key("stand")
                only(play.cards("7h"), RoundResult)


# The cut card


@rule("BAL05-075", "ARA02-065", "ARA02-066", "EUS96-078", "GAL07-048")
def test_the_cut_card_lets_the_round_end_and_no_other_begin(play: Play) -> None:
    dealing(play)
    said = only(play.cut(), ShoeCut)
    assert (said.rounds_left, said.drawn, said.left, said.round) == (1, 10, 302, 1)
    assert said.announcement == play.game.book.announcements["last_round"]
    assert not play.cut()
    assert play.game.show(play.state)["last_round"]
    play.key("stand")
    play.key("stand")
    said_last = play.cards("7c")
    assert outcomes(only(said_last, RoundResult))["dealer"] == (17, None, None)
    assert only(said_last, ShoeEnded).why == "cut"
    with pytest.raises(Rejected, match="the talla is over"):
        play.boxes(1, 3)
    if play.game.book.plays == 1:
        assert only(play.card("2h"), Irregularity).what == "shoe_over"
    play.command("shoe.end")
    play.command("shoe.start", shoe="8")
    play.boxes(1, 3)


@rule("BAL05-069", "ARA02-051", "EUS96-059", "GAL07-047")
def test_a_cut_card_with_less_than_a_deck_behind_it_is_irregular(play: Play) -> None:
    play.open()
    for _ in range(51):
        play.deal((1, 2), "Th 9s Kd 8d 9c")
        play.key("stand")
        play.key("stand")
        play.cards("7h")
        _forget_cards(play)
    assert play.state.shoe is not None
    assert play.state.shoe.drawn == 311
    said = play.cut()
    assert "cut_card" in whats(said)
    assert "shoe.cut" in whats(said)


def test_with_no_round_in_hand_the_last_one_was(play: Play) -> None:
    play.open()
    said = play.cut()
    assert (only(said, ShoeCut).rounds_left, only(said, ShoeEnded).why) == (0, "cut")


def test_before_the_first_card_of_a_round_it_is_played_or_not_as_the_site_says() -> None:
    played = Play("GAL07")
    played.open()
    played.boxes(1, 2)
    assert only(played.cut(), ShoeCut).rounds_left == 1
    played.cards("8h 9s Kd 4d 9c")
    over = Play("GAL07", cut_first="end")
    over.open()
    over.boxes(1, 2)
    said = over.cut()
    assert (only(said, ShoeCut).rounds_left, only(said, Irregularity).asks) == (0, ("card.decide", "round.void"))
    assert not of(over.card("8h"), CardDealt)
    only(over.command("round.void", reason="inspector"), RoundVoid)


# Cards that should not be


@rule("BAL05-074", "ARA02-067", "GAL07-054", "EUS96-057")
def test_a_card_face_up_in_the_shoe_goes_to_no_hand(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    play.card("8h")
    said = play.card("9s", exposed=True)
    removed = only(said, CardRemoved)
    assert (removed.card, removed.why, removed.law) == ("9s", "card_exposed", play.game.book.laws["card_exposed"].rule)
    assert [event.to for event in of(play.card("2s"), CardDealt)] == ["box:3"]


@rule("BAL05-074", "ARA02-067", "GAL07-054", "EUS96-057")
def test_one_that_a_person_saw_is_taken_back(play: Play) -> None:
    dealing(play)
    play.key("draw")
    play.card("Tc")
    assert only(play.decide("remove"), CardRemoved).card == "Tc"
    assert play.state.expected == "box:1"
    play.card("2c")
    assert play.game.show(play.state)["hands"]["box:1"] == {"cards": ["8h", "4d", "2c"], "points": 14}
    play.decide("remove")
    with pytest.raises(Rejected, match="no card is there"):
        play.decide("remove")


def test_among_the_first_five_it_is_not_one_of_the_five(play: Play) -> None:
    play.open(burned=False)
    play.card("2c", exposed=True)
    assert not of(play.cards("3c 4c 5c 6c"), CardsBurned)
    only(play.cards("7c"), CardsBurned)


@rule("ARA02-068")
def test_an_unread_card_stops_the_table_until_a_person_reads_it(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    said = only(play.card(None), Irregularity)
    assert (said.what, said.asks) == ("card_unread", ("card.decide", "round.void"))
    assert not of(play.cards("9s Kd"), CardDealt)
    with pytest.raises(Rejected, match="croupier may not"):
        play.command("card.decide", role="croupier", action="read", card="8h")
    with pytest.raises(Rejected, match="nobody has said what the card is"):
        play.decide("accept")
    with pytest.raises(Rejected, match="no card"):
        play.decide("read", card="1x")
    said_read = play.decide("read", card="8h")
    assert [(event.to, event.card) for event in of(said_read, CardDealt)] == [("box:1", "8h"), ("box:3", "9s"), ("dealer", "Kd")]
    assert play.state.shoe is not None
    assert (play.state.shoe.drawn, play.state.shoe.unread) == (8, 0)


def test_two_unread_cards_are_asked_for_one_by_one(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    play.card(None)
    play.card(None)
    assert [event.what for event in of(play.decide("read", card="8h"), Irregularity)] == ["card_unread"]
    assert not of(play.decide("read", card="9h"), Irregularity)


def test_an_unread_card_that_is_removed_takes_no_place(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    play.card(None)
    assert only(play.decide("remove"), CardRemoved).card is None
    assert [event.to for event in of(play.card("9s"), CardDealt)] == ["box:1"]


@rule("ARA02-048", "ARA02-068")
def test_a_card_that_is_there_too_often_or_is_none_of_the_game(play: Play) -> None:
    play.open()
    play.boxes(1, 3)
    said = only(play.card("Xx"), Irregularity)
    assert said.what == "card_foreign"
    play.decide("read", card="6c")
    play.cards("6c 6c 6c 6c")
    play.key("stand")
    play.key("stand")
    said = only(play.card("6c"), Irregularity)
    assert said.what == "card_too_many"
    assert [event.to for event in of(play.decide("accept"), CardDealt)] == ["dealer"]


@rule("ARA02-053")
def test_a_card_that_the_shoe_itself_is_not_sure_of(play: Play) -> None:
    dealing(play)
    play.key("draw")
    assert only(play.card("2c", unsure=True), Irregularity).what == "card_unsure"
    only(play.decide("accept"), CardDealt)


@rule("ARA02-068")
def test_a_card_is_for_a_hand_by_the_word_of_whoever_is_in_charge(play: Play) -> None:
    dealing(play)
    play.card("2c")
    with pytest.raises(Rejected, match="no hand box:2"):
        play.decide("for", who="box:2")
    with pytest.raises(Rejected, match="say whose the card is"):
        play.decide("accept")
    said = play.decide("for", who="box:3")
    assert [(event.to, event.index) for event in of(said, CardDealt)] == [("box:3", 3)]
    play.key("draw")
    play.card("Th")
    play.card("5h")
    with pytest.raises(Rejected, match="may get no card any more"):
        play.decide("for", who="box:1")
    play.decide("for", who="dealer")
    play.key("stand")
    result = only(play.cards("2h"), RoundResult)
    assert result.confirmed_by == "M. Lasa (table_head)"
    assert outcomes(result)["dealer"][0] == 17


def test_what_is_said_in_other_games_is_refused(play: Play) -> None:
    dealing(play)
    for action in ("next_round", "read", "accept", "for"):
        with pytest.raises(Rejected, match="no card waits"):
            play.decide(action)
    with pytest.raises(Rejected, match="basket is not said in this game"):
        play.decide("basket")
    with pytest.raises(Rejected, match=r"takes no cards\.turn"):
        play.command("cards.turn")


# Null


def test_a_round_is_null_by_the_word_of_whoever_is_in_charge(play: Play) -> None:
    dealing(play)
    play.card("2c")
    with pytest.raises(Rejected, match="croupier may not"):
        play.command("round.void", role="croupier", reason="misdeal")
    said = only(play.command("round.void", reason="misdeal"), RoundVoid)
    assert said.law == play.game.book.void["misdeal"].rule
    assert play.game.history(play.state)[-1]["kind"] == "void"
    play.deal((2,), "Th")
    with pytest.raises(Rejected, match="no such round"):
        play.command("round.void", reason="misdeal", round=1)


# Silences


def test_after_a_silence_a_person_says_what_lies_there(play: Play) -> None:
    dealing(play)
    play.key("draw")
    said = only(play.take(LinkStale(at=play.now(), device="shoe", age=5.0)), Irregularity)
    assert (said.what, said.asks) == ("silence", ("card.decide", "round.void"))
    with pytest.raises(Rejected, match="not heard"):
        play.decide("accept")
    assert [(event.to, event.card) for event in of(play.decide("read", card="2c"), CardDealt)] == [("box:1", "2c")]
    play.take(LinkUp(at=play.now(), device="shoe"))
    play.card("7h")
    play.decide("accept")
    play.key("stand")
    said_last = play.key("stand")
    assert outcomes(only(said_last, RoundResult))["box:1"] == (14, None, "lose")
    assert play.state.shoe is not None
    assert play.state.shoe.left is None, "nothing is counted after a silence"


@pytest.mark.parametrize("given", [LinkGap(at=1.0, lost=1), ShoeReset(at=1.0)], ids=["gap", "reset"])
def test_so_after_a_gap_and_a_reset(play: Play, given: Any) -> None:
    dealing(play)
    play.take(given)
    assert "card.decide" in play.game.show(play.state)["asks"]
    play.decide("accept")
    assert play.game.show(play.state)["asks"] == []


def test_late_cards_are_not_acted_upon(play: Play) -> None:
    dealing(play)
    play.key("draw")
    assert only(play.card("2c", late=True), Irregularity).what == "silence"
    assert [event.to for event in of(play.decide("accept"), CardDealt)] == ["box:1"]


def test_a_silence_between_rounds_costs_the_count_only(play: Play) -> None:
    play.open()
    assert not play.take(LinkStale(at=play.now(), device="shoe", age=5.0))
    play.take(LinkUp(at=play.now(), device="shoe"))
    assert not of(play.deal((1, 2), "8h"), Irregularity)
    assert play.state.shoe is not None
    assert play.state.shoe.left is None


def test_a_silence_in_the_burn(play: Play) -> None:
    play.open(burned=False)
    play.cards("2c 3c")
    play.take(LinkGap(at=play.now(), lost=1))
    play.cards("4c")
    assert not play.game.confidential(play.state, LinkUp(at=0.0))
    assert only(play.decide("next_round"), CardsBurned).count == 2
    assert play.state.burn == 0


def test_the_first_sign_of_a_device_is_no_silence(play: Play) -> None:
    assert not play.take(LinkUp(at=0.0, device="shoe"))
    dealing(play)
    assert not play.take(LinkUp(at=0.0, device="shoe"))


def test_faults_of_the_shoe_are_alerts(play: Play) -> None:
    fault = ShoeFault(at=0.0, device="shoe", fault="timeout", active=True, detail="12")
    assert (only(play.take(fault), AlertRaised).alert, play.take(fault)) == ("shoe_timeout", [])
    only(play.take(ShoeFault(at=0.0, device="shoe", fault="timeout", active=False)), AlertCleared)


# Ends


def test_cards_counted_at_the_end_are_held_against_the_count(play: Play) -> None:
    play.open()
    said = play.command("shoe.end", left=306)
    assert [event.what for event in of(said, Irregularity)] == ["shoe_count"]
    assert (only(said, ShoeEnded).why, only(said, ShoeEnded).left) == ("person", 306)


def test_closing_in_the_middle_leaves_the_round_unresolved(play: Play) -> None:
    dealing(play)
    with pytest.raises(Rejected, match="round 1 is in hand"):
        play.command("shoe.end")
    said = play.command("session.close")
    assert whats(said)[:2] == ["round.unresolved", "shoe.ended"]
    assert only(said, RoundUnresolved).why == "undecided"
    assert play.game.show(play.state)["phase"] == "closed"


@rule("EUS96-088")
def test_in_euskadi_a_new_minimum_holds_after_the_last_shoe() -> None:
    play = Play("EUS96")
    dealing(play)
    play.command("limit.announce", minimum=1000)
    assert (play.state.minimum, play.game.show(play.state)["next_minimum"]) == (500, 1000)
    play.command("round.void", reason="inspector")
    said = play.command("shoe.end")
    assert (only(said, LimitChanged).minimum, play.state.minimum) == (1000, 1000)


@pytest.mark.parametrize("decree", DECREES)
def test_announced_rounds_are_counted(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.command("last_rounds.announce")
    if decree == "GAL07":
        with pytest.raises(Rejected, match="may not change"):
            play.command("limit.announce", minimum=1000)
    else:
        play.command("limit.announce", minimum=1000)
    for _ in range(3):
        play.deal((1, 2), "Th 9s Kd 8d 9c")
        play.key("stand")
        play.key("stand")
        play.cards("7h")
        _forget_cards(play)
    assert play.state.last_rounds == 0
    assert play.state.minimum == (500 if decree in ("GAL07", "EUS96") else 1000)


# Without keys


def unkeyed(decree: str = "EUS96", **settings: Any) -> Play:
    play = Play(decree, keys=False, **settings)
    play.open()
    return play


def test_without_keys_cards_after_the_deal_lie_on_the_table() -> None:
    play = unkeyed()
    said = play.deal((1, 3), "Th 9s Kd Ad 9c 5c 7h")
    assert [(event.to, event.index) for event in of(said, CardDealt)][5:] == [("table", 1), ("table", 2)]
    with pytest.raises(Rejected, match="no keys"):
        play.key("stand")


def test_without_keys_the_dealers_hand_is_told_where_one_is_left() -> None:
    play = unkeyed()
    play.deal((1, 3), "Th 9s Kd Ad 9c 7h")
    result = only(play.boxes(1), RoundResult)
    assert outcomes(result) == {"dealer": (17, None, None)}
    assert result.marks == ("hands_unknown",)


@pytest.mark.parametrize("cards", ["Th 9s Kd Ad 9c 5c 7h", "Th 9s Kd 8d 9c 7h", "Th 9s Kd Ad 9c"])
def test_without_keys_the_round_is_unresolved_where_several_are_left_or_none(cards: str) -> None:
    play = unkeyed()
    play.deal((1, 3), cards)
    said = play.command("round.confirm")
    assert only(said, RoundUnresolved).why == "undecided"


def test_without_keys_and_boxes_the_shoe_is_counted_and_the_cut_card_told() -> None:
    play = unkeyed()
    play.cards("Th 9s")
    assert only(play.cut(), ShoeCut).rounds_left == 1
    assert [(event.to, event.index) for event in of(play.cards("Kd"), CardDealt)] == [("table", 8)]
    assert play.state.shoe is not None
    assert play.state.shoe.drawn == 8
    assert only(play.command("shoe.end", left=304), ShoeEnded).left == 304


def test_without_keys_the_last_round_is_ended_by_a_person() -> None:
    play = unkeyed()
    play.command("bets.close")
    play.cards("Th 9s")
    assert only(play.cut(), ShoeCut).rounds_left == 1
    with pytest.raises(Rejected, match=r"say round\.confirm"):
        play.command("bets.close")
    said = play.command("round.confirm")
    assert [type(event) for event in said[:2]] == [RoundUnresolved, ShoeEnded]
    assert only(play.card("Kd"), Irregularity).what == "shoe_over"


def test_without_keys_bets_close_begins_the_next_round() -> None:
    play = unkeyed()
    play.command("bets.close")
    play.cards("Th 9s")
    said = play.command("bets.close")
    assert whats(said) == ["round.unresolved", "round.opened", "bets.closed"]


def _drawn(card: str | None) -> CardDrawn:
    return CardDrawn(at=0.0, device="shoe", frame=f"f {card}", card=card)


def _forget_cards(play: Play) -> None:
    """The same few cards again: only how many they are counts."""
    assert play.state.shoe is not None
    play.state = replace(play.state, shoe=replace(play.state.shoe, seen={}))
