"""Stud: the deal, who speaks, and the errors that only seven cards know."""

from __future__ import annotations

import pytest

from common.contract.events import (
    AnyEvent,
    BetPlaced,
    BettingOpened,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardsBurned,
    HandDecided,
    Irregularity,
    RoundResult,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from tests.support.games.circle_play import Play, table
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

rule = pytest.mark.rule
FIRST = "2c 3c 4c 5c 2d 3d 4d 5d 9s Jh Kc Qd 6c"
"""Three cards to seats 4, 1, 2, 3, and a dead one; the open cards are 9, J, K, Q."""
STREETS = ("9h Jc Ks Td 6d", "7h 8c Qs 9d 6h", "8h Ts Jd Ah 6s")
LAST = "Ac Ad As Th"


def seven(decree: str = "BAL09", streets: int = 0, seats: tuple[int, ...] = (1, 2, 3, 4)) -> Play:
    """Seven cards, after the first deal and ``streets`` more."""
    play = table(decree, "seven-card-stud", seats)
    play.bets()
    if len(seats) == 4:
        play.cards(FIRST)
    for cards in STREETS[:streets]:
        play.street(cards)
    return play


def last(play: Play, live: int = 4) -> None:
    """Bets are equal before the last card; this many players are left."""
    for number in (3, 2, 1)[: 4 - live]:
        play.act(number, "fold")
    play.close()


def irregularities(events: list[AnyEvent]) -> list[str]:
    return [event.what for event in of_kind(events, Irregularity)]


def dealt(events: list[AnyEvent]) -> list[tuple[str, str | None]]:
    return [(event.to, event.card) for event in of_kind(events, CardDealt)]


def counts(play: Play) -> dict[str, int]:
    found: dict[str, int] = play.shown["counts"]
    return found


# The deal


@rule("BAL09-023", "BAL09-024")
def test_two_covered_cards_and_an_open_one_three_open_ones_and_a_covered_one() -> None:
    play = seven(streets=3)
    last(play)
    play.cards(LAST)
    own = [card.up for card in play.current.cards_of("seat:2")]
    assert own == [False, False, True, True, True, True, False]
    dead = [event for event in of_kind(play.events, CardDealt) if event.to == "dead"]
    assert [(event.index, event.card) for event in dead] == [
        (1, None),
        (2, None),
        (3, None),
        (4, None),
    ]
    assert [card.card for card in play.current.cards_of("dead")] == ["6c", "6d", "6h", "6s"]
    assert play.current.interval == 5


@rule("BAL09-025")
def test_the_calls() -> None:
    play = seven(streets=3)
    first, *others = of_kind(play.events, BettingOpened)
    assert first.announcement == {"ca": "facin les seves apostes"}
    assert all(event.announcement is None for event in others)
    assert not any(event.announcement for event in of_kind(play.events, CardExpected))
    last(play)
    assert [
        event.announcement for event in of_kind(play.events, CardExpected) if event.announcement
    ] == [{"ca": "Última carta"}]


def test_the_lowest_card_speaks_first_then_the_best_open_cards() -> None:
    play = seven(streets=3)
    assert [event.first for event in of_kind(play.events, BettingOpened)] == [
        "seat:4",
        "seat:2",
        "seat:2",
        "seat:2",
    ]


def test_of_equal_cards_the_nearest_to_the_hand_speaks() -> None:
    play = table("BAL09", "seven-card-stud")
    play.bets()
    events = play.cards("2c 3c 4c 5c 2d 3d 4d 5d 9s 7h 7c Qd 6c")
    assert of_kind(events, BettingOpened)[0].first == "seat:1"


@rule("BAL09-030")
@pytest.mark.parametrize(("decree", "second"), [("BAL09", "seat:1"), ("EUS96", "seat:3")])
def test_five_cards_the_first_covered_and_an_interval_after_each_deal(
    decree: str, second: str
) -> None:
    play = table(decree, "five-card-stud")
    play.bets()
    play.cards("7c 8c 9c Tc Ac Kc Qc Jc")
    for cards in ("7d Kd 9d Td", "8h Kh 9h Th", "7s Ks 9s Ts"):
        play.street(cards)
    assert [card.up for card in play.current.cards_of("seat:2")] == [False, True, True, True, True]
    assert [event.first for event in of_kind(play.events, BettingOpened)] == [
        "seat:4",
        second,
        second,
        second,
    ]
    play.close()
    said = play.turn()
    assert outcome_of(of_kind(said, RoundResult)[0]).winner == second


@rule("BAL09-056")
def test_flush_over_full_house_with_thirty_two_cards() -> None:
    play = table("BAL09", "five-card-stud")
    play.bets()
    play.cards("7c 8d 9c Ts 9d Ad Jh Qs")
    for cards in ("7d 9h Jc Qd", "9s Kd Tc Qh", "8c As Kc Qc"):
        play.street(cards)
    play.close()
    play.show(4, "7c 9d 7d 9s 8c")
    play.show(1, "8d Ad 9h Kd As")
    play.show(2, "9c Jh Jc Tc Kc")
    events = play.turn(3)
    assert outcome_of(of_kind(events, RoundResult)[0]).winner == "seat:3"


@rule("BAL09-072", "EUS96-214")
@pytest.mark.parametrize("decree", ["BAL09", "EUS96"])
def test_three_raises_of_a_player_in_an_interval(decree: str) -> None:
    play = seven(decree) if decree == "BAL09" else table(decree, "seven-card-stud")
    if decree == "EUS96":
        play.bets()
        play.cards(FIRST.removesuffix(" 6c"))
    play.act(1, "bet")
    for _ in range(3):
        assert "raise_limit" not in irregularities(play.act(2, "raise"))
    assert irregularities(play.act(2, "raise")) == ["raise_limit"]
    play.act(3, "fold")
    play.act(4, "fold")
    assert irregularities(play.act(1, "raise")) == []
    assert irregularities(play.act(2, "raise")) == []


def test_open_cards_that_were_not_read_hold_up_the_bets() -> None:
    play = table("BAL09", "seven-card-stud")
    play.bets()
    events = play.cards("2c 3c 4c 5c 2d 3d 4d 5d 9s - Kc Qd 6c")
    assert irregularities(events) == ["card_unread"]
    assert not of_kind(events, BettingOpened)
    assert play.asks == ("cards.show",)
    with pytest.raises(RejectedError, match="no betting interval is open"):
        play.close()
    events = play.show(1, "Jh")
    assert of_kind(events, BettingOpened)[0].first == "seat:4"


def test_cards_of_a_packet_are_shown_where_they_lie_open() -> None:
    play = table("BAL09", "seven-card-stud")
    play.bets()
    for _ in range(4):
        play.packet(3)
    play.send("cards.burn")
    for number, card in ((4, "9s"), (1, "Jh"), (2, "Kc"), (3, "Qd")):
        events = play.show(number, card)
    assert of_kind(events, BettingOpened)[0].first == "seat:4"
    assert counts(play) == dict.fromkeys(("seat:1", "seat:2", "seat:3", "seat:4"), 3)


# Covered cards that were seen


@rule("BAL09-044")
@pytest.mark.parametrize("by", ["reader", "person"])
def test_one_of_the_first_cards_was_seen_it_is_the_open_one(by: str) -> None:
    play = table("BAL09", "seven-card-stud")
    play.bets()
    play.cards("2c 3c")
    if by == "reader":
        said = play.seen("4c")
    else:
        play.cards("4c")
        said = play.error("exposed", 2, index=1)
    assert irregularities(said) == ["deal_exposed"]
    play.cards("5c 2d 3d 4d 5d 9s Jh Kc Qd 6c")
    assert [card.face for card in play.current.cards_of("seat:2")] == ["4c", None, None]
    assert of_kind(play.events, BettingOpened)[0].first == "seat:2"


def test_an_exposed_card_that_nobody_read_is_asked_for() -> None:
    play = table("BAL09", "seven-card-stud")
    play.bets()
    play.packet(1)
    events = play.error("exposed", 4)
    assert irregularities(events) == ["deal_exposed", "card_unread"]
    assert of_kind(play.show(4, "2c", index=1), CardDealt) == []
    assert play.current.cards_of("seat:4")[0].face == "2c"


@rule("BAL09-045")
def test_both_of_the_first_cards_were_seen_the_ante_is_returned() -> None:
    play = table("BAL09", "seven-card-stud")
    play.bets()
    play.cards("2c 3c")
    play.seen("4c")
    play.cards("5c 2d 3d")
    events = play.seen("4d")
    assert irregularities(events) == ["deal_both_exposed"]
    assert [(event.who, event.bet, event.withdrawn) for event in of_kind(events, BetPlaced)] == [
        ("seat:2", "ante", True)
    ]
    assert of_kind(events, CardRemoved)[0].to == "seat:2"
    events = play.cards("5d 9s Jh Qd 6c")
    assert [who for who, _ in dealt(events)] == ["seat:3", "seat:4", "seat:1", "seat:3", "dead"]
    assert of_kind(events, BettingOpened)[0].first == "seat:4"


@rule("BAL09-046")
def test_the_last_card_was_seen_and_the_player_continues() -> None:
    play = seven(streets=3)
    last(play)
    play.cards("Ac Ad")
    events = play.seen("As")
    [asked] = of_kind(events, Irregularity)
    assert (asked.what, asked.asks) == ("deal_last_card", ("hand.act", "round.void"))
    assert of_kind(play.cards("Th"), BettingOpened) == []
    events = play.act(2, "go")
    assert [event.decision for event in of_kind(events, HandDecided)] == ["go"]
    assert len(of_kind(events, BettingOpened)) == 1
    assert play.current.cards_of("seat:2")[-1].face is None
    play.act(2, "bet")


@rule("BAL09-046")
def test_the_last_card_was_seen_and_the_player_bets_no_more() -> None:
    play = seven(streets=3)
    last(play)
    play.cards("Ac")
    play.seen("Ad")
    play.cards("As Th")
    events = play.act(1, "pass")
    assert of_kind(events, BettingOpened)[0].first != "seat:1"
    with pytest.raises(RejectedError, match="nothing left to bet"):
        play.act(1, "bet")
    play.act(2, "bet")
    play.close()
    events = play.turn()
    [result] = of_kind(events, RoundResult)
    assert "side_pot" in outcome_of(result).marks
    bets = {hand.who: [each.bet for each in hand.settled] for hand in outcome_of(result).hands}
    assert bets == {f"seat:{n}": ["pot"] if n == 1 else ["pot", "side_pot"] for n in (1, 2, 3, 4)}


def test_a_player_who_was_not_asked_does_not_answer() -> None:
    play = seven(streets=3)
    for action in ("go", "pass"):
        with pytest.raises(RejectedError, match="not asked"):
            play.act(1, action)


@rule("BAL09-047")
@pytest.mark.parametrize("by", ["reader", "person"])
def test_the_last_card_of_two_players_was_seen_they_show_without_a_bet(by: str) -> None:
    play = seven(streets=3)
    last(play, live=2)
    if by == "reader":
        events = play.seen("Ac") + play.cards("Ad")
    else:
        play.cards("Ac Ad")
        events = play.error("exposed", 4)
    assert irregularities(events) == ["deal_last_of_two"]
    assert (len(of_kind(events, BettingOpened)), play.current.showdown) == (0, True)
    assert of_kind(play.turn(), RoundResult)


@rule("BAL09-048")
def test_a_player_who_bares_covered_cards_gets_the_next_one_face_up() -> None:
    play = seven(streets=3)
    events = play.error("exposed", 2, fault="player")
    assert irregularities(events) == ["deal_shown_by_player"]
    last(play)
    assert dealt(play.cards(LAST)) == [
        ("seat:4", None),
        ("seat:1", None),
        ("seat:2", "As"),
        ("seat:3", None),
    ]
    assert play.current.open


def test_a_covered_card_seen_at_another_time_is_for_a_person() -> None:
    play = seven(streets=1)
    assert irregularities(play.error("exposed", 2, index=1)) == ["deal_exposed"]
    assert play.asks == ("card.decide", "round.void")
    play.accept()
    with pytest.raises(RejectedError, match="who must be one of: seat:4, seat:1, seat:2, seat:3"):
        play.error("exposed", "seat:9")


# Who was skipped, what came too early, a pack that is short


@rule("BAL09-026")
def test_who_was_skipped_at_the_last_card_gets_the_first_dead_one_after_the_others() -> None:
    play = seven(streets=3)
    last(play)
    play.cards("Ac Ad")  # the second went to seat 2, and lies with seat 1 for the table
    events = play.error("skipped", 1, seen=True)
    assert irregularities(events) == ["deal_skipped"]
    assert [(event.to, event.was) for event in of_kind(events, CardDealt)] == [("seat:2", "seat:1")]
    events = play.cards("As")
    assert [(event.to, event.was) for event in of_kind(events, CardDealt)] == [
        ("seat:3", None),
        ("seat:1", "dead"),
    ]
    assert [play.current.cards_of(f"seat:{number}")[-1].card for number in (4, 1, 2, 3)] == [
        "Ac",
        "6c",
        "Ad",
        "As",
    ]
    assert len(play.current.cards_of("dead")) == 3
    assert play.current.open


def test_who_was_skipped_and_nobody_has_looked_a_person_decides() -> None:
    play = seven(streets=3)
    last(play)
    play.cards("Ac Ad")
    assert irregularities(play.error("skipped", 1)) == ["deal_skipped"]
    play.accept()
    assert play.current.cards_of("seat:1")[-1].card == "Ad"


def test_who_was_skipped_in_the_first_deal_has_not_been_dealt_to_in_order() -> None:
    play = table("BAL09", "seven-card-stud")
    play.bets()
    play.cards("2c 3c")
    events = play.error("skipped", 1)
    assert [event.reason for event in of_kind(events, RoundVoid)] == ["wrong_order"]


@rule("BAL09-032")
@pytest.mark.parametrize("by", ["reader", "person"])
def test_a_card_before_the_bets_are_closed_leaves_with_as_many_as_play(by: str) -> None:
    play = seven(streets=1)
    events = play.cards("7h") if by == "reader" else play.error("premature")
    assert irregularities(events) == ["deal_premature"]
    assert play.asks == ()
    play.act(3, "fold")
    events = play.close()
    assert [(event.why, event.card) for event in of_kind(events, CardRemoved)] == [
        ("premature", None)
    ]
    assert of_kind(events, CardExpected)[-1].to == "burn"
    events = play.cards("8c Qs 9d 8h Ts Jd Ah")
    assert len(of_kind(events, CardsBurned)) == 3
    assert dealt(events) == [("seat:4", "8h"), ("seat:1", "Ts"), ("seat:2", "Jd"), ("dead", None)]


@rule("BAL09-027")
def test_the_dead_cards_are_mixed_in_where_the_last_card_does_not_suffice() -> None:
    play = many(7)
    events = play.close()
    assert irregularities(events) == ["cards_lacking"]
    assert [(event.why, event.to, event.card) for event in of_kind(events, CardRemoved)] == [
        ("mixed_in", "dead", None)
    ]
    mixed = {card.card for card in play.current.cards if card.to == "dead"}
    assert mixed == set()
    events = play.cards(" ".join([*left(play)][:7]))
    assert [who for who, _ in dealt(events)] == [
        "seat:7",
        "seat:1",
        "seat:2",
        "seat:3",
        "seat:4",
        "seat:5",
        "seat:6",
    ]
    assert play.current.open


@rule("BAL09-027")
def test_if_the_pack_still_does_not_suffice_one_card_is_for_all() -> None:
    play = many(8)
    events = play.close()
    assert irregularities(events) == ["cards_lacking", "cards_lacking"]
    events = play.cards(left(play)[0])
    assert dealt(events) == [("board", left_first := of_kind(events, CardDealt)[0].card)]
    assert left_first is not None
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    assert all(
        left_first not in hand.cards for hand in outcome_of(result).hands if hand.who != "board"
    )
    assert {len(hand.cards) for hand in outcome_of(result).hands if hand.who != "board"} == {6}


def many(players: int) -> Play:
    """Seven cards with this many players, before the last card."""
    play = seven(seats=tuple(range(1, players + 1)))
    while play.current.street < 3 or play.current.due:
        if play.current.open:
            play.close()
        play.cards(left(play)[0])
    return play


def left(play: Play) -> list[str]:
    """The cards in the pack, in some order."""
    return sorted({*play.game.turn(play.state).pack} - {*play.current.known})


@pytest.mark.parametrize(("decree", "most"), [("BAL09", 8), ("EUS96", 7)])
def test_the_number_of_players_that_the_pack_suffices_for(decree: str, most: int) -> None:
    play = table(decree, "seven-card-stud", tuple(range(1, most + 1)))
    play.bets()
    play = table(decree, "seven-card-stud", tuple(range(1, most + 2)))
    with pytest.raises(RejectedError, match="cards, and the deck has 52; seat fewer"):
        play.bets()
