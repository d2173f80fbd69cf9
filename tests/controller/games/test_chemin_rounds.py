"""Chemin de fer in regular play: the deal, the words, the table of plays, the cut card."""

from __future__ import annotations

from itertools import product

import pytest

from common.contract.events import (
    BetsClosed,
    CardDealt,
    CardExpected,
    CardTurned,
    HandDecided,
    Irregularity,
    RoundOpened,
    RoundResult,
    RoundVoid,
    ShoeCut,
    ShoeEnded,
    ShoeStarted,
)
from common.contract.refusals import RejectedError
from controller.games.cards import DECK
from controller.games.chemin.hands import bank_duty
from controller.games.chemin.state import CheminCoup
from controller.games.dealt.cards import TableCard
from tests.support.games.chemin_play import at_table, points, result_of, rules
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
every = pytest.mark.parametrize("decree", DECREES)
SMALL = {0: "Kh", 1: "Ah", 2: "2h", 3: "3h", 4: "4h", 5: "5h", 6: "6h", 7: "7h", 8: "8h", 9: "9h"}
"""A card by its worth."""


@rules("ARA02-093", "BAL05-111 BAL05-112", "EUS96-135 EUS96-137", "GAL07-100 GAL07-102")
def test_the_deal_alternates_from_the_opponent_and_only_third_cards_lie_open(decree: str) -> None:
    play = at_table(decree)
    events = play.dealt("2h 3c Kd Ks")
    events += play.draw()
    events += play.cards("4h") + play.cards("5c")
    dealt = [(event.to, event.index, event.card) for event in of_kind(events, CardDealt)]
    assert dealt[:4] == [
        ("player", 1, None),
        ("banker", 1, None),
        ("player", 2, None),
        ("banker", 2, None),
    ]
    assert dealt[4:] == [("player", 3, "4h"), ("banker", 3, "5c")]
    expected = [event.to for event in of_kind(events, CardExpected)]
    assert expected == ["player", "banker", "player", "banker", None, "player", "banker", None]


@every
def test_the_calls_are_the_decrees(decree: str) -> None:
    play = at_table(decree)
    play.bets()
    said = play.events
    assert only(said, ShoeStarted).announcement == play.book.announcements["cards_pass"]
    assert only(said, RoundOpened).announcement == play.book.announcements["bank"]
    assert only(said, BetsClosed).announcement == play.book.announcements["bets_closed"]
    play.cards("2h 3c 4d Ks")
    assert only(play.draw(), HandDecided).announcement == play.book.announcements["card"]


@every
def test_a_round_ends_when_the_cards_lie_open(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    play.stand()
    assert not of_kind(play.stand("banker"), RoundResult)
    assert not of_kind(play.turn("player"), RoundResult)
    events = play.turn("banker")
    assert [event.card for event in of_kind(events, CardTurned)] == ["3c", "4s"]
    assert result_of(events) == {
        "player": (("2h", "4d"), 6, None, "lose"),
        "banker": (("3c", "4s"), 7, None, "win"),
    }
    assert outcome_of(only(events, RoundResult)).winner == "banker"


@rules("ARA02-098")
def test_equal_points_are_null(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 3s")
    play.stand()
    play.stand()
    result = only(play.turn(), RoundResult)
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("tie", ("tie",))


@rules("ARA02-094", "EUS96-141", "BAL05-113")
def test_eight_or_nine_on_two_cards_ends_the_round(decree: str) -> None:
    play = at_table(decree)
    play.dealt("4h 3c 4d 4s")
    events = play.turn("player")
    assert only(events, HandDecided).decision == "natural"
    with pytest.raises(RejectedError, match="no hand is to act now"):
        play.stand("banker")
    events = play.turn("banker")
    assert result_of(events) == {
        "player": (("4h", "4d"), 8, "natural", "win"),
        "banker": (("3c", "4s"), 7, None, "lose"),
    }


@every
def test_the_banker_lays_down_his_natural_when_the_hand_has_spoken(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d 4s")
    play.draw()
    events = play.turn("banker")
    assert not of_kind(events, Irregularity)
    assert play.state.expected is None
    assert points(play.turn("player")) == {"player": (4, "lose"), "banker": (8, "win")}


WORDS = [(made, word) for made in range(8) for word in ("draw", "stand")]


@rules("ARA02-095", "BAL05-113", "EUS96-138", "GAL07-103")
def test_the_words_that_a_hand_may_say(decree: str) -> None:
    """A wrong word is not reported before the hand is turned: it would reveal its cards."""
    for made, word in WORDS:
        play = at_table(decree)
        play.dealt(f"Kd 3c {SMALL[made]} 4s")
        events = play.send(f"hand.{word}")
        if word == "draw":
            events += play.cards("Jc")
        events += play.stand("banker")
        assert not of_kind(events, Irregularity)
        wrong = (made < 5 and word == "stand") or (made > 5 and word == "draw")
        assert [event.what for event in of_kind(play.turn(), Irregularity)] == [
            "player_word"
        ] * wrong


@rules("BAL05-113", "GAL07-103")
def test_who_plays_alone_for_the_bank_is_free_where_the_director_has_authorised_it(
    decree: str,
) -> None:
    for authorised, banco in product((False, True), repeat=2):
        play = at_table(decree, banco="free" if authorised else "ruled")
        play.dealt("Kd 3c 7h 4s", banco=banco)
        play.draw()
        play.cards("Jc")
        play.stand("banker")
        said = [event.what for event in of_kind(play.turn(), Irregularity)]
        assert said == ([] if authorised and banco else ["player_word"])


@rules("ARA02-096", "BAL05-114", "EUS96-139", "GAL07-104")
def test_the_banker_must_draw_to_zero(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h Kc 4d Js")
    play.stand()
    play.stand("banker")
    events = play.turn()
    assert not of_kind(events, RoundResult)
    assert only(events, Irregularity).asks == (
        "hand.draw",
        "card.decide",
        "round.confirm",
        "round.void",
    )
    play.draw("banker")
    assert points(play.cards("7c")) == {"player": (6, "lose"), "banker": (7, "win")}


def duty(decree: str, bank: int, third: int | None, *, optional: bool = False) -> str:
    """What the table demands of a bank with this total against this third card."""
    play = at_table(decree)
    cards = [TableCard(card=SMALL[bank], to="banker"), TableCard(card="Kd", to="banker")]
    cards += [TableCard(card=SMALL[third], to="player")] if third is not None else []
    coup = CheminCoup(
        round=1,
        closed=True,
        cards=tuple(cards),
        third=(2,) if third is not None else (),
        words={"player": "draw"},
        table=True,
        optional=optional,
    )
    return bank_duty(play.book, coup, table=False)


@rules("ARA02-097", "BAL05-115", "EUS96-140")
def test_every_cell_of_the_table_of_plays(decree: str) -> None:
    columns = [*range(10), None]
    table = ["".join(duty(decree, bank, third) for third in columns) for bank in range(8)]
    assert table == [
        "TTTTTTTTTTT",
        "TTTTTTTTTTT",
        "TTTTTTTTTTT",
        "TTTTTTTTPOT",
        "PPTTTTTTPPT",
        "PPPPOTTTPPT",
        "PPPPPPTTPPP",
        "PPPPPPPPPPP",
    ]
    drawn = [
        "".join(duty(decree, bank, third, optional=True) for third in columns) for bank in range(8)
    ]
    assert drawn == [row.replace("O", "T") for row in table]


@rules("ARA02-097", "BAL05-115", "EUS96-140", "GAL07-109")
def test_a_banker_who_asked_for_the_table_must_follow_it(decree: str) -> None:
    for asked, kind in product((False, True), ("table", "free")):
        play = at_table(decree, banker=kind)
        play.bets()
        if asked:
            play.send("table.follow", role="croupier")
        play.cards("2h 4c 2d Ks")
        play.draw()
        play.cards("6s")
        play.stand("banker")
        what = [event.what for event in of_kind(play.turn(), Irregularity)]
        assert what == (["bank_word"] if asked or kind == "table" else [])


@every
def test_a_hand_that_was_advised_binds_the_banker_to_the_table(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d Ks")
    assert whats(play.send("table.follow", advice=True)) == ["table_followed"]
    play.draw()
    play.cards("6s")
    play.stand("banker")
    assert "bank_word" in whats(play.turn())
    assert points(play.send("round.confirm"))["banker"] == (4, "win")


@rules("GAL07-115")
def test_the_bank_speaks_after_the_hand(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 4c 2d Ks")
    with pytest.raises(RejectedError, match="the bank acts after player: GAL07-115"):
        play.stand("banker")


@rules("ARA02-087", "BAL05-110", "EUS96-132")
def test_the_cut_card_lets_the_round_in_hand_end_and_no_other_begin(decree: str) -> None:
    play = at_table(decree)
    deck = [card for card in DECK for _ in range(6)]
    for four in range(0, 300, 4):
        play.dealt(" ".join(deck[four : four + 4]))
        play.send("round.void", reason="inspector")
    play.dealt(" ".join(deck[300:304]))
    events = play.cards(deck[304]) + play.cut()
    cut = only(events, ShoeCut)
    assert (cut.drawn, cut.left, cut.rounds_left) == (305, 7, 1)
    assert not [event for event in of_kind(events, Irregularity) if event.what == "cut_card"]
    assert only(play.send("round.void", reason="inspector"), ShoeEnded).why == "cut"
    with pytest.raises(RejectedError, match="the shoe is over"):
        play.send("bets.open")


@rules("ARA02-087", "BAL05-110", "EUS96-132", "GAL07-061")
def test_the_cut_card_at_another_place_is_reported(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d")
    assert "cut_card" in whats(play.cut())
    assert whats(play.cards("5s"))[0] == "card.dealt"


@every
def test_the_cut_card_before_the_first_card(decree: str) -> None:
    play = at_table(decree)
    play.bets()
    assert only(play.cut(), ShoeCut).rounds_left == 1
    play.cards("2h 3c 4d 4s")
    play.stand()
    play.stand()
    assert [type(event) for event in play.turn()[-2:]] == [RoundResult, ShoeEnded]
    play = at_table(decree, cut_first="end")
    play.bets()
    events = play.cut()
    assert only(events, RoundVoid).law.startswith(decree)
    assert only(events, ShoeEnded).why == "cut"


@rules("BAL05-128", "EUS96-152", "GAL07-114")
def test_cards_are_counted_at_the_end_on_request(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    play.stand()
    play.stand()
    play.turn()
    events = play.send("shoe.end", left=307)
    assert whats(events) == ["shoe_count", "shoe.ended"]
    assert only(events, ShoeEnded).left == 307


@rules("BAL05-127")
def test_no_claim_after_the_round_is_settled(decree: str) -> None:
    play = at_table(decree)
    play.dealt("2h 3c 4d 4s")
    play.stand()
    play.stand()
    play.turn()
    with pytest.raises(
        RejectedError, match="no claim is admitted once the bets are settled: BAL05-127"
    ):
        play.send("result.correct", round=1, number=1)
    with pytest.raises(
        RejectedError, match="no claim is admitted once the bets are settled: BAL05-127"
    ):
        play.send("round.void", round=1, reason="misdeal")


@rules(
    "ARA02-108 ARA02-109 ARA02-110 ARA02-107 ARA02-E02",
    "BAL05-124 BAL05-125 BAL05-126",
    "EUS96-150 EUS96-151 EUS96-154",
    "GAL07-099 GAL07-111 GAL07-113",
)
def test_limits_and_deductions_are_shown(decree: str) -> None:
    play = at_table(decree)
    shown = play.shown
    assert (shown["players"], shown["deduction"], shown["minimum"]) == (4, [1, 20], 1000)
    assert shown["bank_maximum"] == 100_000
    garage = (None, 2) if decree == "ARA02" else (50_000, None)
    assert (shown["garage"], shown["garage_half_from"]) == garage
    free = at_table(decree, modality="free")
    assert free.shown["bank_maximum"] is None
    two = at_table(decree, "baccarat-two-cloths")
    assert two.shown["players"] == 2
    assert two.shown["deduction"] == [1, 50]
    open_bank = at_table(decree, "baccarat-two-cloths", modality="free")
    assert open_bank.shown["deduction"] == [1, 80]
