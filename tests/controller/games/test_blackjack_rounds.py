"""The course of a round of black jack: the deal, whose turn it is, the decisions of a hand."""

from __future__ import annotations

import pytest

from common.contract.events import (
    BetsClosed,
    CardDealt,
    CardExpected,
    HandDecided,
    Irregularity,
    RoundOpened,
    RoundResult,
)
from common.contract.refusals import RejectedError
from tests.support.games.blackjack_play import DECREES, PAIRS, Play, outcomes
from tests.support.games.outcomes import history
from tests.support.games.play import of_kind, only, whats

rule = pytest.mark.rule


@pytest.fixture(params=PAIRS, ids="-".join)
def play(request: pytest.FixtureRequest) -> Play:
    game, decree = request.param
    table = Play(decree, game)
    table.open()
    return table


def dealt(play: Play) -> list[tuple[str, str | None]]:
    return [(event.to, event.card) for event in of_kind(play.events, CardDealt)]


@rule(
    "BAL05-072",
    "ARA02-054",
    "EUS96-062",
    "GAL07-063",
    "BAL05-073",
    "ARA02-056",
    "EUS96-064",
    "GAL07-064",
)
def test_cards_go_to_hands_from_the_left_the_dealer_and_hands_again_all_face_up(play: Play) -> None:
    play.deal((5, 2), "4h 9s Kd 8d 9c")
    assert dealt(play) == [
        ("box:2", "4h"),
        ("box:5", "9s"),
        ("dealer", "Kd"),
        ("box:2", "8d"),
        ("box:5", "9c"),
    ]
    expected = [event.to for event in of_kind(play.events, CardExpected)]
    assert expected[-6:] == ["box:2", "box:5", "dealer", "box:2", "box:5", None]


@rule("BAL05-072", "EUS96-063", "ARA02-055", "GAL07-063")
def test_the_dealers_second_card_comes_after_all_hands(play: Play) -> None:
    play.deal((1, 2), "4h 9s Kd 8d 9c")
    assert play.state.expected is None
    play.key("stand")
    assert play.state.expected is None
    play.key("stand")
    assert play.state.expected == "dealer"
    result = only(play.cards("7c"), RoundResult)
    assert outcomes(result) == {
        "box:2": (18, None, "win"),
        "box:1": (12, None, "lose"),
        "dealer": (17, None, None),
    }
    assert play.evidence(result) == [
        "9 4h",
        "10 9s",
        "11 Kd",
        "12 8d",
        "13 9c",
        "16 7c",
    ]


@rule("BAL05-071")
def test_the_first_card_closes_the_bets_if_nobody_has(play: Play) -> None:
    play.boxes(1, 2)
    assert whats(play.card("4h"))[0] == "bets.closed"
    with pytest.raises(RejectedError, match="round 1 is in progress"):
        play.boxes(1, 2, 3)
    with pytest.raises(RejectedError, match="round 1 is in progress"):
        play.send("bets.open")


@rule("BAL05-071")
def test_before_the_first_card_bets_may_be_reopened_and_boxes_set_again(play: Play) -> None:
    assert whats(play.send("bets.open")) == ["round.opened"]
    play.boxes(1, 2)
    play.boxes(3, 4)
    only(play.send("bets.close"), BetsClosed)
    with pytest.raises(RejectedError, match="already closed"):
        play.send("bets.close")
    play.cards("4h 9s Kd 8d 9c")
    assert [to for to, _ in dealt(play)] == ["box:3", "box:4", "dealer", "box:3", "box:4"]
    assert len(of_kind(play.events, RoundOpened)) == 1


@rule("BAL05-084", "ARA02-069", "EUS96-065", "GAL07-065")
@pytest.mark.parametrize("decree", DECREES)
def test_boxes_are_limited_to_those_marked(decree: str) -> None:
    play = Play(decree)
    play.open()
    most = {"EUS96": 9}.get(decree, 7)
    play.boxes(1, most)
    for wrong in ((1, most + 1), (0, 1), (1, 1), ()):
        with pytest.raises(RejectedError, match="box"):
            play.boxes(*wrong)


@rule("BAL05-084")
def test_the_balearics_have_a_modality_with_nine_boxes() -> None:
    play = Play("BAL05", boxes=9)
    play.open()
    play.boxes(1, 9)


@rule("ARA02-069", "GAL07-065")
@pytest.mark.parametrize("decree", ["ARA02", "GAL07"])
def test_one_hand_alone_may_not_begin(decree: str) -> None:
    play = Play(decree)
    play.open()
    said = only(play.boxes(3), Irregularity)
    assert (said.what, said.asks) == ("hands_too_few", ("boxes.set", "round.confirm"))
    play.cards("4h")
    assert not of_kind(play.events, CardDealt)
    assert [event.to for event in of_kind(play.boxes(2, 3), CardDealt)] == ["box:2"]


@rule("ARA02-069", "GAL07-065")
@pytest.mark.parametrize("decree", ["ARA02", "GAL07"])
def test_one_hand_alone_begins_when_the_person_in_charge_allows_it(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.boxes(3)
    with pytest.raises(RejectedError, match="croupier is not allowed"):
        play.send("round.confirm", role="croupier")
    play.send("round.confirm")
    play.cards("Th 9d Ts")
    play.key("stand")
    assert only(play.cards("9c"), RoundResult).confirmed_by == "M. Lasa (table_head)"


@rule("BAL05-076", "ARA02-057", "EUS96-066", "GAL07-066")
def test_no_card_at_21(play: Play) -> None:
    play.deal((1, 2), "4h 9s Kd 8d 9c")
    play.key("draw")
    events = play.cards("9d")
    assert only(events, HandDecided).decision == "stand"
    assert play.shown["turn"] == "box:2"
    with pytest.raises(RejectedError, match="box:2 acts now"):
        play.key("draw", "box:1")


@rule("BAL05-077", "ARA02-058", "EUS96-067", "GAL07-067")
def test_over_21_is_lost_before_the_next_hand(play: Play) -> None:
    play.deal((1, 2), "4h 9s Kd 8d 9c")
    play.key("draw")
    events = play.cards("Td")
    assert (only(events, HandDecided).who, only(events, HandDecided).decision) == ("box:1", "bust")
    play.key("stand", "box:2")
    assert outcomes(only(play.cards("7d"), RoundResult))["box:1"] == (22, "bust", "lose")


@rule("ARA02-061", "EUS96-070")
def test_the_dealer_does_not_draw_without_a_hand(play: Play) -> None:
    play.deal((1, 2), "4h 9s Kd 8d 7c")
    play.key("draw")
    play.cards("Td")
    play.key("draw")
    result = only(play.cards("Tc"), RoundResult)
    assert outcomes(result) == {
        "box:2": (26, "bust", "lose"),
        "box:1": (22, "bust", "lose"),
        "dealer": (10, None, None),
    }


@rule("EUS96-070")
@pytest.mark.parametrize("decree", ["BAL05", "EUS96", "GAL07"])
def test_the_dealer_draws_without_a_hand_where_the_site_says_so(decree: str) -> None:
    play = Play(decree, dealer_alone="draws")
    play.open()
    play.deal((1, 2), "4h 9s Kd 8d 7c")
    play.key("draw")
    play.cards("Td")
    play.key("draw")
    play.cards("Tc")
    assert play.state.expected == "dealer"
    only(play.cards("9h"), RoundResult)


def test_in_aragon_the_dealer_never_draws_without_a_hand() -> None:
    with pytest.raises(ValueError, match="dealer_alone"):
        Play("ARA02", dealer_alone="draws")


@rule("BAL05-078", "ARA02-060", "EUS96-068", "EUS96-069", "GAL07-068")
@pytest.mark.parametrize(
    ("cards", "drawn", "points"),
    [
        ("6d", "Th Ac", 17),
        ("Ad", "6c", 17),
        ("Ad", "5c 5h", 21),
        ("Ad", "5c Th 2c", 18),
        ("2d", "2c Ac Ah Ts Kc", 26),
        ("Ad", "Ac 5h", 17),
    ],
)
def test_the_dealer_draws_below_17_and_stands_on_soft_17(
    play: Play, cards: str, drawn: str, points: int
) -> None:
    play.deal((1, 2), f"Th 9s {cards} 8d 9c")
    play.key("stand")
    play.key("stand")
    *before, last = drawn.split()
    for card in before:
        assert not of_kind(play.card(card), RoundResult)
    assert play.state.expected == "dealer"
    assert outcomes(only(play.card(last), RoundResult))["dealer"][0] == points


# Keys


def test_keys_that_come_at_the_wrong_time_are_refused(play: Play) -> None:
    for name in ("stand", "draw", "double", "split", "surrender"):
        with pytest.raises(RejectedError, match="no hand is in play"):
            play.key(name)
    play.boxes(1, 3)
    play.cards("8h 9s")
    with pytest.raises(RejectedError, match="no hand is to act now"):
        play.key("stand")
    with pytest.raises(RejectedError, match="the next card goes to dealer"):
        play.key("stand", "box:1")
    play.cards("Kd 8d 9c")
    with pytest.raises(RejectedError, match="box:2 has no hand in play"):
        play.key("stand", "box:2")
    play.key("draw")
    with pytest.raises(RejectedError, match="the next card goes to box:1"):
        play.key("stand", "box:1")


def test_a_card_before_the_key_waits_for_it(play: Play) -> None:
    play.deal((1, 3), "8h 9s Kd 4d 9c")
    said = only(play.card("5c"), Irregularity)
    assert said.what == "card_before_decision"
    assert "hand.draw" in said.asks
    assert play.shown["asks"] == list(said.asks)
    assert [(event.to, event.card) for event in of_kind(play.key("draw"), CardDealt)] == [
        ("box:1", "5c")
    ]
    assert play.shown["asks"] == []


def test_a_card_before_the_key_goes_where_the_keys_lead(play: Play) -> None:
    play.deal((1, 3), "8h 9s Kd 4d 9c")
    play.card("8c")
    play.key("stand")
    events = play.key("stand")
    assert [(event.to, event.card) for event in of_kind(events, CardDealt)] == [("dealer", "8c")]
    only(events, RoundResult)


def test_a_card_without_boxes_waits_for_them(play: Play) -> None:
    said = only(play.card("4h"), Irregularity)
    assert (said.what, said.asks) == ("card_out_of_round", ("boxes.set", "card.decide"))
    assert not of_kind(play.card("5h"), Irregularity)
    assert [(event.to, event.card) for event in of_kind(play.boxes(1, 3), CardDealt)] == [
        ("box:1", "4h"),
        ("box:3", "5h"),
    ]


def test_what_the_table_shows(play: Play) -> None:
    shown = [play.shown["phase"]]
    for given in ("boxes", "8h", "9s Kd 4d 9c", "stand", "stand", "7c"):
        if given == "boxes":
            play.boxes(1, 3)
        elif given == "stand":
            play.key("stand")
        else:
            play.cards(given)
        shown.append(play.shown["phase"])
    after = "dealer" if play.game.book.plays > 1 else "waiting"
    assert shown == ["waiting", "bets_open", "dealing", "players", "players", "dealer", after]
    assert history(play)[0]["kind"] == "result"
