"""Errors of the deal at a table of circle poker, and their consequences under each decree."""

from __future__ import annotations

import pytest

from common.contract.events import (
    AlertRaised,
    CardDealt,
    CardRemoved,
    Irregularity,
    RoundOpened,
    RoundResult,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.circle_play import (
    HOLES,
    half_dealt,
    holdem,
    laid,
    shuffled,
    table,
    void,
    whats,
)
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

rule = pytest.mark.rule
synthetic = pytest.mark.parametrize(
    "decree", by_decree("BAL09-049", "EUS96-203", "ARA02-145", "BAL05-141")
)


# All cards are collected, and the round starts over


@pytest.mark.parametrize("decree", by_decree("BAL09-017", "EUS96-203"))
def test_cards_out_of_order(decree: str) -> None:
    play = half_dealt(decree)
    null = void(play.error("order"))
    assert (null.reason, null.law) == (
        "wrong_order",
        "BAL09-017" if decree == "BAL09" else "EUS96-203",
    )
    assert play.state.current is None
    button = play.state.button
    [opened] = of_kind(play.bets(), RoundOpened)
    assert opened.relaunch
    assert play.state.button == button


def test_the_hand_may_move_on_before_a_round_that_is_dealt_again() -> None:
    play = half_dealt("EUS96", after_misdeal="moves")
    play.error("order")
    play.bets()
    assert play.state.button == 3


@pytest.mark.parametrize("decree", by_decree("BAL09-040", "EUS96-203"))
@pytest.mark.parametrize("error", ["too_many", "too_few"])
def test_a_wrong_count_is_corrected_before_bets_or_the_round_is_null(
    decree: str, error: str
) -> None:
    play = half_dealt(decree)
    events = play.error(error, 3)
    assert whats(events) == [f"deal_{error}"]
    assert play.asks == ("card.decide", "round.void")
    with pytest.raises(
        RejectedError, match="action read is not possible here; possible: accept, remove"
    ):
        play.send("card.decide", action="read", card="2c")
    play.accept()
    play.cards("Ks Qs Js")
    assert play.current.open
    other = half_dealt(decree)
    other.error(error, 3)
    assert void(other.send("round.void", reason="wrong_count")).reason == "wrong_count"


@pytest.mark.parametrize("decree", by_decree("BAL09-041", "EUS96-203"))
def test_a_card_that_is_not_his_and_that_he_has_seen(decree: str) -> None:
    play = half_dealt(decree)
    assert void(play.error("wrong_hand", 3, seen=True)).reason == "misdeal"
    other = half_dealt(decree)
    other.error("wrong_hand", 3)
    assert other.asks == ("card.decide", "round.void")


@for_each("decree", by_decree("BAL09-007", "EUS96-203"))
@for_each("error", ["missing_card", "foreign_card", "defective"])
def test_a_pack_that_is_not_whole_ends_the_round_at_any_time(decree: str, error: str) -> None:
    play = holdem(decree)
    play.act(4, "bet")
    assert void(play.error(error)).reason == "deck_defective"
    with pytest.raises(
        RejectedError, match="the deck is not whole; replace it and send deck-check"
    ):
        play.send("bets.open")
    play.send("deck.check", cards=52)
    assert play.bets()


@rule("BAL09-009")
def test_one_face_up_card_in_the_pack_is_for_a_person_two_are_a_misdeal() -> None:
    play = half_dealt("BAL09")
    play.error("exposed_in_deck", count=1)
    assert play.asks == ("card.decide", "round.void")
    assert void(half_dealt("BAL09").error("exposed_in_deck", count=2)).reason == "card_exposed"


@rule("EUS96-203")
def test_an_exposed_card_is_a_misdeal_in_the_basque_country() -> None:
    assert void(half_dealt("EUS96").error("exposed_in_deck", count=1)).reason == "card_exposed"
    assert void(half_dealt("EUS96").error("exposed", 3)).reason == "card_exposed"
    play = half_dealt("EUS96")
    events = play.seen("Ks")
    assert [event.card for event in of_kind(events, CardDealt)] == ["Ks"]
    assert void(events).reason == "card_exposed"


def test_an_exposed_card_is_for_a_person_in_the_balearic_islands() -> None:
    play = half_dealt("BAL09")
    events = play.seen("Ks")
    assert whats(events) == ["deal_exposed"]
    play.accept()
    play.cards("Qs Js")
    assert play.shown["hands"]["seat:1"] == ["Ks"]


@pytest.mark.parametrize("error", ["order", "exposed"])
def test_once_bets_are_made_a_person_decides(error: str) -> None:
    play = holdem("EUS96")
    play.act(4, "bet")
    events = play.error(error, 3)
    assert not of_kind(events, RoundVoid)
    assert play.asks == ("card.decide", "round.void")
    with pytest.raises(
        RejectedError, match=f"deal_{error} is not decided yet; .*: card-decide, round-void"
    ):
        play.close()
    play.accept()
    play.close()


NINE = (
    "texas-holdem",
    "omaha",
    "omaha-five",
    "omaha-hi-lo",
    "holdem-double",
    "synthetic-poker",
    "five-card-stud",
    "seven-card-stud",
)
SHOWN = [
    *(
        pytest.param("EUS96", game, "EUS96-E06", marks=rule("EUS96-E06"))
        for game in (*NINE, "circle-draw")
    ),
    *(
        pytest.param("BAL09", game, "BAL09-E01", marks=rule("BAL09-E01"))
        for game in ("texas-holdem", "omaha", "synthetic-poker", "five-card-stud", "circle-draw")
    ),
    pytest.param("BAL09", "seven-card-stud", "BAL09-048", marks=rule("BAL09-048")),
    pytest.param("BAL05", "synthetic-poker", "BAL05-E02", marks=rule("BAL05-E02")),
]


@for_each(("decree", "game", "law"), SHOWN)
@for_each("cards", ["Ah Kh Qh Jh As", HOLES])
def test_a_player_who_shows_his_cards_by_mistake_annuls_nothing(
    decree: str, game: str, law: str, cards: str
) -> None:
    """«baliozko izaten jarraituko du jokaldiak» (EUS96 L2658), in the deal or after it, whoever
    reports it.
    """
    play = table(decree, game)
    play.bets()
    play.cards(cards)
    [event] = of_kind(play.error("exposed", 3, fault="player"), Irregularity)
    assert (event.what, event.law, event.asks) == ("deal_shown_by_player", law, ())
    assert play.state.current is not None
    assert play.state.doubts == ()
    with pytest.raises(RejectedError, match="who must be one of: seat:4,"):
        play.error("exposed", 9, fault="player")
    with pytest.raises(RejectedError, match="who must be one of: seat:4,"):
        play.error("exposed", fault="player")


@pytest.mark.parametrize("cards", ["Ah Kh Qh Jh As", HOLES])
def test_in_aragon_a_person_decides_about_cards_that_a_player_shows(cards: str) -> None:
    play = table("ARA02", "synthetic-poker")
    play.bets()
    play.cards(cards)
    assert not of_kind(play.error("exposed", 3, fault="player"), RoundVoid)
    assert play.asks == ("card.decide", "round.void")
    play.accept()
    assert play.state.current is not None


@rule("EUS96-E06")
def test_a_card_that_a_reader_saw_and_the_player_has_shown_annuls_nothing() -> None:
    play = half_dealt("EUS96")
    play.cards("Ks", exposed=True)
    events = play.send("card.decide", action="exposed", fault="player")
    assert whats(events) == ["deal_shown_by_player"]
    assert [event.card for event in of_kind(events, CardDealt)] == ["Ks"]
    play.cards("Qs Js")
    assert play.current.open


@pytest.mark.parametrize("decree", by_decree("BAL09-040", "EUS96-203"))
@for_each("game", ["texas-holdem", "omaha", "five-card-stud"])
@for_each("error", ["too_many", "too_few"])
def test_once_bets_are_made_a_wrong_count_cannot_be_corrected(
    decree: str, game: str, error: str
) -> None:
    """«hutsa zuzendu ezin bada apustuak hasi aurretik» (EUS96 L2634, BAL09 L452-456): the round is
    null, by who is in charge.
    """
    play = table(decree, game)
    play.bets()
    cards = iter(shuffled(play, 1))
    while not play.current.open:
        play.cards(next(cards))
    play.close()
    events = play.error(error, 3)
    assert not of_kind(events, RoundVoid)
    assert play.asks == ("round.void", "deal.error")
    with pytest.raises(
        RejectedError, match=f"deal_{error} is not decided yet; .*: round-void, deal-error"
    ):
        play.accept()
    with pytest.raises(RejectedError, match="role croupier is not allowed to do this"):
        play.error(error, 3, valid=False)
    with pytest.raises(
        RejectedError, match="no error order is waiting for a decision; none can be withdrawn"
    ):
        play.send("deal.error", error="order", who="seat:3", valid=False)
    waits = play.state
    assert void(play.send("round.void", reason="wrong_count")).law == (
        "BAL09-040" if decree == "BAL09" else "EUS96-203"
    )
    play.state = waits
    play.send("deal.error", error=error, who="seat:3", valid=False)
    assert play.state.doubts == ()
    assert play.current.confirmed_by == "M. Lasa (table_head)"


@synthetic
@for_each(
    ("error", "reason"),
    [
        ("order", "wrong_order"),
        ("too_many", "wrong_count"),
        ("too_few", "wrong_count"),
        ("exposed", "card_exposed"),
    ],
)
def test_at_synthetic_poker_any_error_of_the_deal_starts_it_again(
    decree: str, error: str, reason: str
) -> None:
    null = void(half_dealt(decree, "synthetic-poker").error(error, 3))
    assert (null.reason, null.law[:5]) == (reason, decree)


@synthetic
@for_each("error", ["too_many", "too_few"])
def test_at_synthetic_poker_no_wrong_count_is_accepted_once_a_player_has_bet(
    decree: str, error: str
) -> None:
    """A new deal is ordered without condition (EUS96 L2907-2910), and after the bets nothing can be
    put right (L2634).
    """
    play = table(decree, "synthetic-poker")
    play.bets()
    play.cards(" ".join(shuffled(play, 1)[:13]))
    first = play.current.seats[0].who.removeprefix("seat:")
    play.act(int(first), "bet")
    play.error(error, 3)
    assert play.asks == ("round.void", "deal.error")
    with pytest.raises(RejectedError, match=f"deal_{error} is not decided yet"):
        play.accept()
    assert void(play.send("round.void", reason="wrong_count")).reason == "wrong_count"


@synthetic
def test_at_synthetic_poker_a_card_read_face_up_starts_it_again(decree: str) -> None:
    assert void(half_dealt(decree, "synthetic-poker").seen("Ks")).reason == "card_exposed"


def test_a_packet_too_large_is_a_wrong_count() -> None:
    play = table("BAL05", "synthetic-poker")
    play.bets()
    play.packet(2)
    assert void(play.packet(3)).reason == "wrong_count"


# Before the deal


@pytest.mark.parametrize("decree", by_decree("BAL09-010", "EUS96-202"))
def test_a_card_seen_in_the_cut(decree: str) -> None:
    play = table(decree)
    play.error("exposed_in_cut")
    assert play.asks == ("card.decide",)
    with pytest.raises(
        RejectedError, match="deal_exposed_in_cut is not decided yet; the table is waiting for:"
    ):
        play.send("bets.open")
    play.accept()
    play.send("bets.open")
    play.error("exposed_in_cut")
    with pytest.raises(
        RejectedError, match="deal_exposed_in_cut is not decided yet; the table is waiting for:"
    ):
        play.send("bets.close")
    with pytest.raises(
        RejectedError,
        match="a card was seen at the cut; shuffle the deck again and send card-decide",
    ):
        play.send("cards.deal", count=8)
    assert whats(play.cards("Ah")) == ["card_out_of_round"]
    assert not play.current.closed
    play.accept()
    play.send("bets.close")
    with pytest.raises(RejectedError, match="the cut is over"):
        play.error("exposed_in_cut")


def test_a_card_without_a_round() -> None:
    play = table()
    events = play.cards("Ah Kh")
    assert whats(events) == ["card_out_of_round"]
    assert [event.alert for event in of_kind(events, AlertRaised)] == ["card_out_of_round"]
    play.bets()
    assert not play.state.alerts


# Absent players


@pytest.mark.parametrize("decree", by_decree("BAL09-053", "EUS96-E10"))
def test_a_card_to_an_empty_place_is_no_misdeal(decree: str) -> None:
    """The place keeps its turn in the deal, and its cards are collected when all have theirs."""
    play = table(decree, seats=(1, 2, 3, 5))
    play.bets()
    clockwise = decree == "EUS96"
    play.cards("Ah Kh")  # the second card went to 4 (clockwise), or to 6 (against the clock)
    empty = 4 if clockwise else 6
    events = play.error("absent", empty)
    assert whats(events) == ["deal_absent"]
    [moved] = of_kind(events, CardDealt)
    assert (moved.to, moved.card, moved.was) == (
        f"seat:{empty}",
        None,
        "seat:3" if clockwise else "seat:1",
    )
    events = play.cards("Qh Jh Th 9h 8h 7h 6h 5h")
    order = ["seat:3", "seat:2", "seat:1"] if clockwise else ["seat:1", "seat:2", "seat:3"]
    assert [event.to for event in of_kind(events, CardDealt)] == [
        *order,
        "seat:5",
        f"seat:{empty}",
        *order,
    ]
    [collected] = of_kind(events, CardRemoved)
    assert (collected.to, collected.why, collected.card) == (f"seat:{empty}", "absent", None)
    assert [seat.number for seat in play.current.live] == (
        [5, 3, 2, 1] if clockwise else [5, 1, 2, 3]
    )
    own = {
        seat.who: [each.card for each in play.current.cards_of(seat.who)]
        for seat in play.current.live
    }
    assert own["seat:5"] == ["Ah", "9h"]


@rule("BAL09-053")
def test_a_card_to_an_absent_player_is_no_misdeal() -> None:
    play = half_dealt("BAL09")
    assert whats(play.error("absent", 3)) == ["deal_absent"]
    play.cards("Ks Qs Js")
    play.act(3, "fold")  # he is not back in his turn
    assert play.current.open
    with pytest.raises(RejectedError, match="the first cards are dealt"):
        play.error("absent", 9)
    with pytest.raises(RejectedError, match="who must be a seat, such as seat:3"):
        play.error("absent", "board")


# Hands that touch


def test_while_cards_are_dealt_the_next_one_is_of_a_hand_that_is_not_void() -> None:
    play = table("BAL09")
    play.bets()
    play.cards("Ah Kh")
    assert play.shown["expected"] == "seat:2"
    play.error("touched", 2)
    assert play.shown["expected"] == "seat:3"


@pytest.mark.parametrize("decree", by_decree("BAL09-055", "EUS96-E06", "BAL05-E02"))
def test_hands_that_touch_are_null_both(decree: str) -> None:
    play = laid(decree) if decree == "BAL05" else holdem(decree)
    [removed] = of_kind(play.error("touched", 3), CardRemoved)
    assert (removed.why, removed.to, removed.card) == ("touched", "seat:3", None)
    assert play.asks == ("deal.error", "round.void")
    with pytest.raises(
        RejectedError,
        match="deal_touched is not decided yet; the table is waiting for: deal-error,",
    ):
        play.close()
    with pytest.raises(RejectedError, match="who must be one of: seat:4,"):
        play.error("touched", 3)
    play.error("touched", 1)
    assert [seat.number for seat in play.current.live] == [4, 2]
    assert not play.asks
    play.act(4, "bet")
    [result] = of_kind(play.act(2, "fold"), RoundResult)
    assert outcome_of(result).winner == "seat:4"


def test_where_all_hands_touch_the_round_is_null() -> None:
    play = holdem()
    play.act(1, "fold")
    play.act(2, "fold")
    play.error("touched", 3)
    assert void(play.error("touched", 4)).reason == "misdeal"


@pytest.mark.parametrize("decree", ["ARA02"])
def test_an_error_that_the_decree_does_not_name_is_refused(decree: str) -> None:
    play = laid(decree)
    with pytest.raises(
        RejectedError, match="the decree has no rule for touched here; it has rules for: order,"
    ):
        play.error("touched", 3)


@for_each(("decree", "game", "law"), SHOWN)
def test_cards_that_are_turned_in_betting_were_shown_by_mistake(
    decree: str, game: str, law: str
) -> None:
    """As ``deal.error exposed`` of a player (EUS96 L2609, L2621, L2658)."""
    if "stud" in game or game == "circle-draw":
        return  # cards of their own lie face up there, or are exchanged
    play = table(decree, game)
    play.bets()
    for card in shuffled(play, 1):
        if play.current.open:
            break
        play.cards(card)
    [event] = of_kind(play.turn(3), Irregularity)
    assert (event.what, event.law, event.asks) == ("deal_shown_by_player", law, ())
    assert play.current.open
