"""Covered poker with discards: packs, the draw, a pack that runs short, and the errors of these."""

from __future__ import annotations

import pytest

from common.contract.events import (
    BettingOpened,
    CardDealt,
    CardExpected,
    CardsBurned,
    CardTurned,
    HandDecided,
    Irregularity,
    RoundResult,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from tests.support.games.circle_draw_play import (
    DEAL,
    covered,
    discard,
    irregularities,
    opened,
    played,
)
from tests.support.games.circle_play import table
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

rule = pytest.mark.rule


# Packs and players


@rule("BAL09-002")
@pytest.mark.parametrize(("players", "cards"), [(4, 32), (5, 32), (6, 52), (8, 52)])
def test_thirty_two_cards_up_to_five_players(players: int, cards: int) -> None:
    play = table("BAL09", "circle-draw", tuple(range(1, players + 1)))
    assert play.state.deck is True
    assert play.send("deck.check", cards=cards)
    assert play.state.deck is True
    play.bets()
    events = play.cards("2c")
    assert ("card_foreign" in irregularities(events)) == (cards == 32)


def test_another_pack_has_to_be_looked_at() -> None:
    play = table("BAL09", "circle-draw")
    play.send("boxes.set", boxes=[1, 2, 3, 4, 5])
    assert play.state.deck is True
    play.send("boxes.set", boxes=[1, 2, 3, 4, 5, 6])
    assert play.state.deck is None
    assert irregularities(play.send("bets.open")) == ["deck_unchecked"]


@pytest.mark.parametrize(
    ("pack", "players", "cards"),
    [("by_players", 4, 32), ("by_players", 6, 52), ("deck_52", 4, 52), ("deck_32", 6, 32)],
)
def test_the_table_chooses_its_pack_where_the_decree_does_not(
    pack: str, players: int, cards: int
) -> None:
    play = table("EUS96", "circle-draw", tuple(range(1, players + 1)), pack=pack)
    play.send("deck.check", cards=cards)
    assert play.state.deck is True


@rule("BAL09-012")
def test_eight_players_at_most() -> None:
    play = table("BAL09", "circle-draw")
    with pytest.raises(
        RejectedError, match="9 players are too many; at most 8 may play: BAL09-012"
    ):
        play.send("boxes.set", boxes=list(range(1, 10)))


@rule("BAL09-018")
def test_five_covered_cards_each() -> None:
    play = covered()
    assert all(event.card is None for event in of_kind(play.events, CardDealt))
    assert play.shown["counts"] == dict.fromkeys(("seat:1", "seat:2", "seat:3", "seat:4"), 5)
    assert play.current.open


@rule("BAL09-057")
def test_figures_beat_two_pairs() -> None:
    play = covered(deal="Jc Ac 9c 7c Jd Kc 9d 7d Qc Qh 8h 8s Qd Ad 8c 7h Ks Js Ts 9s")
    play.act(4, "open")
    play.close()
    for seat in (4, 1, 2, 3):
        discard(play, seat, 0)
    play.close()
    [result] = of_kind(play.turn(), RoundResult)
    kinds = {hand.who: hand.kind for hand in outcome_of(result).hands}
    assert kinds == {
        "seat:4": "figures",
        "seat:1": "figures",
        "seat:2": "two_pair",
        "seat:3": "trips",
    }


# The draw


@rule("BAL09-020", "BAL09-019")
def test_the_opener_discards_first_and_each_is_served_before_the_next() -> None:
    play = opened()
    with pytest.raises(RejectedError, match="seat:3 discards first"):
        discard(play, 4, 1)
    events = discard(play, 3, 2)
    assert [event.count for event in of_kind(events, HandDecided)] == [2]
    assert of_kind(events, CardExpected)[-1].to == "seat:3"
    with pytest.raises(RejectedError, match="no discards are due now"):
        discard(play, 4, 1)
    play.cards("Ad Ah")
    assert play.asks == ("hand.act",)
    events = discard(play, 4, 0)
    assert of_kind(events, HandDecided)[0].announcement == {"ca": "servit"}
    discard(play, 1, 1, "As")
    events = discard(play, 2, 3, "Kh Ks Qd")
    assert set(play.shown["counts"].values()) == {5}
    assert play.shown["discards"] == {
        "seat:4": 0,
        "seat:1": 1,
        "seat:2": 3,
        "seat:3": 2,
    }
    assert of_kind(events, BettingOpened)[0].first == "seat:3"


def test_where_the_opener_folded_the_next_to_his_right_speaks() -> None:
    play = covered()
    play.act(3, "open")
    play.act(4, "raise")
    play.act(3, "fold")
    play.close()
    for seat in (4, 1, 2):
        events = discard(play, seat, 0)
    assert of_kind(events, BettingOpened)[0].first == "seat:4"


@pytest.mark.parametrize(
    ("decree", "most"), [("BAL09", 5), pytest.param("EUS96", 4, marks=rule("EUS96-212"))]
)
def test_how_many_cards_may_be_discarded(decree: str, most: int) -> None:
    play = covered(decree)
    if decree == "BAL09":
        play.act(4, "open")
    play.close()
    for count in (most + 1, -1, None):
        with pytest.raises(RejectedError, match=f"0 to {most}"):
            play.send("hand.act", who="seat:4", action="discard", count=count)
    discard(play, 4, most)


@rule("EUS96-212")
def test_of_four_cards_the_last_comes_after_the_others() -> None:
    play = covered("EUS96")
    play.close()
    events = discard(play, 4, 4, "Ad Ah As")
    assert of_kind(events, CardExpected)[-1].to is None
    assert of_kind(discard(play, 3, 0), HandDecided)[0].announcement == {"eu": "aski"}
    discard(play, 2, 1, "Kh")
    events = discard(play, 1, 0)
    assert of_kind(events, CardExpected)[-1].to == "seat:4"
    events = play.cards("Ks")
    assert [(event.to, event.index) for event in of_kind(events, CardDealt)] == [("seat:4", 9)]
    assert len(of_kind(events, BettingOpened)) == 1


def test_a_drawn_hand_is_shown_and_its_discards_are_not_published() -> None:
    play = played()
    play.error("touched", 1)
    play.error("touched", 2)
    with pytest.raises(
        RejectedError, match="nobody reported which cards seat:3 kept; send cards-show"
    ):
        play.turn(3)
    with pytest.raises(RejectedError, match="has 5 cards, not 4"):
        play.show(3, "Jc Jd Ad Ah")
    assert irregularities(play.show(3, "Jc Jd Qc Ad Ah")) == ["shown_differs"]
    play.accept()
    events = play.show(3, "Jc Jd Ad Ah As")
    assert {event.card for event in of_kind(events, CardTurned)} == {"Jc", "Jd", "Ad", "Ah", "As"}


# A pack that is short


@rule("BAL09-021")
def test_before_the_last_card_the_discards_are_mixed_in_but_for_the_openers_and_the_next_ones() -> (
    None
):
    play = opened()
    discard(play, 3, 3, "Ad Ah As")
    discard(play, 4, 5, "Kh Ks Qd Qs Jh")
    assert irregularities(discard(play, 1, 5, "Th Ts")) == []
    [short] = of_kind(play.cards("7h"), Irregularity)
    assert (short.what, short.law) == ("deck_short", "BAL09-021")
    assert (
        short.detail
        == "1 cards are left, 2 are needed: the discards of seat:4 are mixed in; seat:4 cuts"
    )
    play.again()
    assert irregularities(play.cards("7c 7d")) == []
    discard(play, 2, 0)
    play.close()
    assert irregularities(play.show(1, "Th Ts 7h 7c 7d")) == []
    assert irregularities(play.show(4, "Kh Ks Qd Qs Jh")) == []


def test_a_card_of_the_openers_discards_is_not_dealt_again() -> None:
    play = opened()
    discard(play, 3, 3, "Ad Ah As")
    discard(play, 4, 5, "Kh Ks Qd Qs Jh")
    discard(play, 1, 5, "Th Ts 7h")
    assert irregularities(play.cards("Qc")) == ["card_duplicate"]


def test_where_nothing_can_be_mixed_in_a_person_decides() -> None:
    play = table("BAL09", "circle-draw", (1, 2, 3, 4, 5))
    play.bets()
    play.cards(f"{DEAL} 7h 7s Th Ts Jh")
    play.act(5, "open")
    play.close()
    discard(play, 5, 5, "Qd Qs Kh Ks Ad")
    discard(play, 1, 0)
    events = discard(play, 2, 5, "Ah")
    assert irregularities(events) == ["deck_short", "cards_lacking"]
    assert play.asks == ("card.decide", "round.void")
    play.accept()
    assert play.current.due[0].to == "seat:2"


@rule("EUS96-212")
def test_in_euskadi_all_discards_are_used_when_the_pack_is_empty() -> None:
    play = covered("EUS96")
    play.close()
    discard(play, 4, 4, "Ad Ah As")
    discard(play, 3, 3, "Kh Ks Qd")
    discard(play, 2, 3, "Qs Jh Th")
    events = discard(play, 1, 4, "Ts 7h 7s")
    [short] = of_kind(events, Irregularity)
    told = (
        "0 cards are left, 2 are needed: the discards of seat:4, seat:3, seat:2, seat:1 are "
        "mixed in"
    )
    assert (short.what, short.detail) == ("deck_short", told)
    assert irregularities(play.cards("7c 8c")) == []
    assert play.current.open


@rule("EUS96-212")
def test_in_euskadi_the_only_player_to_be_served_does_not_get_his_own_discards() -> None:
    play = covered("EUS96")
    play.close()
    for seat, cards in ((4, "Ad Ah As"), (3, "Kh Ks Qd"), (2, "Qs Jh Th")):
        discard(play, seat, 3, cards)
    [short] = of_kind(discard(play, 1, 4, "Ts 7h 7s"), Irregularity)
    assert (
        short.detail
        == "0 cards are left, 1 are needed: the discards of seat:4, seat:3, seat:2 are mixed in"
    )


# Errors


@rule("BAL09-022")
@pytest.mark.parametrize("found", [True, False])
def test_the_pack_was_put_away_too_early(found: bool) -> None:
    play = opened()
    discard(play, 3, 3, "Ad")
    events = play.error("deck_removed", recoverable=found)
    assert irregularities(events) == ["deal_deck_removed"]
    events = play.cards("Kh" if found else "Ks Kh")
    assert len(of_kind(events, CardsBurned)) == (0 if found else 1)
    assert [(event.to, event.card) for event in of_kind(events, CardDealt)] == [("seat:3", None)]
    assert [place.to for place in play.current.due[:1]] == ["seat:3"]


@rule("BAL09-042")
def test_a_card_too_many_that_was_seen_restarts_the_round() -> None:
    for error in ("too_many", "too_few"):
        play = table("BAL09", "circle-draw")
        play.bets()
        play.cards("7c 8c 9c")
        events = play.error(error, 1, seen=True)
        assert [event.reason for event in of_kind(events, RoundVoid)] == ["wrong_count"]


@rule("BAL09-042")
def test_a_card_too_many_that_nobody_has_seen_goes_back_on_top() -> None:
    play = table("BAL09", "circle-draw")
    play.bets()
    play.cards("7c 8c 9c Jc 7d 8d 9d")  # seat 1 got the Jc and the 7d of this
    events = play.error("too_many", 1)
    assert irregularities(events) == ["deal_too_many"]
    assert (len(play.current.cards), play.current.used, play.current.due[0].to) == (6, 6, "seat:2")
    assert irregularities(play.cards("9d Jd 8h 9h Td Qc 9s Tc Js Kc Ac Kd Qh 8s")) == []
    assert play.current.open
    play.close()
    play = covered()
    play.cards("As")  # it came after all had their cards
    assert irregularities(play.error("too_many", 3)) == ["deal_too_many"]
    assert (play.current.early, play.current.used, play.state.doubts) == ((), 20, ())


def test_a_card_too_many_in_the_draw_goes_back_on_top() -> None:
    play = opened()
    events = discard(play, 3, 1, "Ad Ah")
    assert irregularities(events) == ["card_out_of_round"]
    assert irregularities(play.error("too_many", 3)) == ["deal_too_many"]
    assert play.current.used == 21
    assert irregularities(discard(play, 4, 1, "Ah")) == []


@rule("BAL09-042")
def test_a_missing_card_comes_from_the_top_and_the_reading_is_not_believed() -> None:
    play = table("BAL09", "circle-draw")
    play.bets()
    play.cards(DEAL.removesuffix("8s"))
    assert irregularities(play.error("too_few", 1)) == ["deal_too_few"]
    play.cards("8s")
    assert play.current.open
    assert all(card.card is None for card in play.current.cards)


@rule("BAL09-043")
@pytest.mark.parametrize(("cards", "reason"), [("7c 8c", ["card_exposed"]), ("7c 8c 9c Jc 7d", [])])
def test_the_first_card_of_a_player_lay_face_up(cards: str, reason: list[str]) -> None:
    play = table("BAL09", "circle-draw")
    play.bets()
    *first, shown = cards.split()
    play.cards(" ".join(first))
    events = play.seen(shown)
    assert [event.reason for event in of_kind(events, RoundVoid)] == reason
    assert irregularities(events) == ["deal_exposed"]
    if not reason:
        play.accept()
        assert play.current.cards_of("seat:4")[1].face == "7d"


def test_in_euskadi_any_card_that_lies_face_up_is_a_misdeal() -> None:
    play = table("EUS96", "circle-draw")
    play.bets()
    play.cards("7c 8c 9c Jc")
    assert [event.reason for event in of_kind(play.seen("7d"), RoundVoid)] == ["card_exposed"]


def test_hand_and_second_hand_have_bet_so_the_third_speaks() -> None:
    play = covered("EUS96")
    first = of_kind(play.events, BettingOpened)[0].first
    play.close()
    for seat in (4, 3, 2, 1):
        said = discard(play, seat, 0)
    assert (first, of_kind(said, BettingOpened)[0].first) == ("seat:2", "seat:4")


def test_a_card_drawn_after_the_hand_was_shown_is_not_of_the_first_five() -> None:
    play = opened(3)
    discard(play, 3, 3, "Ad Ah As")
    play.show(3, "Jc Jd Ad Ah As")
    [dealt] = of_kind(discard(play, 3, 1, "7h"), CardDealt)
    assert (dealt.to, dealt.index) == ("seat:3", 9)
