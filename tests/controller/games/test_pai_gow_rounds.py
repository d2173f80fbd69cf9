"""A table of pai gow: the deal, the remaining cards, hands set and shown, the result."""

from __future__ import annotations

from collections import Counter

import pytest

from common.contract.events import (
    CardDealt,
    CardRemoved,
    CardTurned,
    DeckChecked,
)
from common.contract.refusals import RejectedError
from controller.games.decks import deck
from tests.support.for_each import for_each
from tests.support.games.banked_play import Play, bets_of, irregularities, voids
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.pai_gow_play import (
    BANK,
    DECREES,
    LOSES,
    LOW,
    NULL,
    WINS,
    dealt,
    played,
    show,
    table,
)
from tests.support.games.play import of_kind

every = pytest.mark.parametrize("decree", DECREES)


# The deal


@pytest.mark.parametrize("decree", by_decree("BAL09-033", "EUS96-178"))
def test_seven_cards_each_and_the_rest_is_counted(decree: str) -> None:
    play = table(1, 2, decree=decree)
    play.dice(1, 2, 5)
    with pytest.raises(RejectedError, match="not all cards are dealt"):
        play.act("box:1", "set")
    for _ in range(3):
        play.packet(7)
    events = play.send("deck.check", "croupier", cards=31)
    assert irregularities(events) == [
        ("leftover_wrong", ("deck.check", "round.confirm", "round.void"))
    ]
    assert [(event.right, event.count) for event in of_kind(events, DeckChecked)] == [(False, 31)]
    with pytest.raises(
        RejectedError, match="the table is waiting for: deck-check, round-confirm, round-void"
    ):
        play.act("box:1", "set")
    play.send("deck.check", "croupier", cards=32)
    assert (play.shown["asks"], play.shown["leftover"]) == ([], True)


@pytest.mark.parametrize("decree", by_decree("BAL09-033", "EUS96-178"))
def test_a_result_waits_until_the_rest_was_counted(decree: str) -> None:
    play = table(1, decree=decree)
    play.dice(1, 2, 5)
    play.packet(7)
    play.packet(7)
    play.act("box:1", "set")
    show(play, "dealer", BANK, LOW)
    show(play, "box:1", *WINS)
    assert irregularities(play.events) == [("leftover_unchecked", ("deck.check", "round.void"))]
    play.send("deck.check", cards=39)
    assert bets_of(play.result(), "box:1") == {"bet": ("win", (19, 20))}


def test_a_person_may_accept_a_wrong_number() -> None:
    play = table(1)
    play.dice(1, 2, 5)
    play.packet(7)
    play.packet(7)
    play.send("deck.check", cards=38)
    play.send("round.confirm")
    play.act("box:1", "set")
    show(play, "dealer", BANK, LOW)
    show(play, "box:1", *WINS)
    assert play.result().confirmed_by == "M. Lasa (table_head)"


def test_card_by_card_where_they_are_dealt_so() -> None:
    play = table(1, 2, dealt="singly")
    play.dice(1, 1, 1)
    cards = deck("deck_53")[:21]
    events = play.cards(" ".join(cards))
    assert [event.to for event in of_kind(events, CardDealt)] == ["box:2", "dealer", "box:1"] * 7
    assert {event.card for event in of_kind(events, CardDealt)} == {None}


@every
def test_by_the_other_interpretation_every_place_gets_a_hand(decree: str) -> None:
    play = table(1, 2, decree=decree, hands="positions")
    play.dice(1, 2, 5)
    for _ in range(7):
        play.packet(7)
    removed = of_kind(play.events, CardRemoved)
    assert Counter(event.to for event in removed) == dict.fromkeys(
        ("box:3", "box:4", "box:5", "box:6"), 7
    )
    assert {event.card for event in removed} == {None}
    play.send("deck.check", cards=4)
    assert play.shown["leftover"]


@every
@for_each("error", ["too_many", "too_few", "order", "foreign_card"])
def test_an_error_of_dealing_is_for_the_person_in_charge(decree: str, error: str) -> None:
    play = table(1, decree=decree)
    play.dice(1, 2, 5)
    play.packet(7)
    events = play.send("deal.error", error=error, who="box:1")
    assert irregularities(events) == [("deal_error", ("round.confirm", "round.void"))]
    play.send("round.confirm")
    play.packet(7)
    events = play.send("round.void", reason="misdeal")
    assert voids(events) == [("misdeal", "BAL09-E58" if decree == "BAL09" else "EUS96-E107")]


def test_a_card_that_comes_face_up_is_published_and_asked_about() -> None:
    play = table(1)
    play.dice(1, 2, 5)
    events = play.cards("Ah", exposed=True)
    assert irregularities(events) == [("card_exposed", ("card.decide", "round.void"))]
    assert of_kind(events, CardDealt) == []
    events = play.send("card.decide", action="exposed")
    assert [event.card for event in of_kind(events, CardDealt)] == ["Ah"]
    assert irregularities(events) == [("card_exposed", ("round.confirm", "round.void"))]


def test_a_packet_of_another_size_is_asked_about() -> None:
    play = table(1)
    play.dice(1, 2, 5)
    assert irregularities(play.packet(8)) == [("packet_wrong", ("round.confirm", "round.void"))]
    play.send("round.confirm")
    play.packet(7)
    assert len(of_kind(play.events, CardDealt)) == 7


def test_a_silence_of_the_dice_hides_no_card_one_of_the_shoe_may() -> None:
    play = table(1)
    play.dice(1, 2, 5)
    play.packet(7)
    assert irregularities(play.gap("dice")) == []
    assert irregularities(play.gap("shoe")) == [
        ("silence", ("cards.deal", "card.decide", "round.void"))
    ]
    play.send("cards.deal", "croupier", count=7)
    play.send("card.decide", action="accept")
    assert play.shown["phase"] == "setting"


# Hands


@pytest.mark.parametrize("decree", [*by_decree("BAL09-052", "EUS96-179")])
def test_a_hand_wrongly_set_loses(decree: str) -> None:
    play = played(("Kc Kd 2h 3s 5c Ah 6d", "Kc Kd"), decree=decree)
    assert irregularities(play.events) == [("hand_wrongly_set", ())]
    assert bets_of(play.result(), "box:1") == {"bet": ("lose", None)}
    assert [hand.kind for hand in outcome_of(play.result()).hands] == ["pair", "wrongly_set"]


def test_a_bank_wrongly_set_loses_to_every_hand_set_rightly() -> None:
    play = played(LOSES, ("Jc 6s 2s 3h 5s Ts 4h", "Jc 6s"), bank=("Qc Qd 9h 8s 2c Jd Th", "Qc Qd"))
    assert bets_of(play.result(), "box:1") == {"bet": ("win", (19, 20))}
    assert bets_of(play.result(), "box:2") == {"bet": ("lose", None)}


@pytest.mark.parametrize("decree", by_decree("BAL09-063", "EUS96-180"))
def test_win_null_and_loss(decree: str) -> None:
    result = played(WINS, NULL, LOSES, decree=decree).result()
    assert [bets_of(result, f"box:{box}")["bet"] for box in (1, 2, 3)] == [
        ("win", (19, 20)),
        ("void", None),
        ("lose", None),
    ]
    assert [hand.outcome for hand in outcome_of(result).hands] == [None, "win", "tie", "lose"]
    [mine] = [hand for hand in outcome_of(result).hands if hand.who == "box:1"]
    assert (mine.kind, mine.low, mine.low_kind) == ("pair", ("Ah", "4d"), "high_card")


@pytest.mark.parametrize("decree", by_decree("BAL09-063", "EUS96-180"))
def test_the_bank_wins_equal_hands(decree: str) -> None:
    play = played(("Qh Qs 9c 8d 7d Jh Ts", "Jh Ts"), decree=decree)
    assert bets_of(play.result(), "box:1") == {"bet": ("lose", None)}


@every
def test_the_croupiers_hand_is_not_seen_before_all_have_set(decree: str) -> None:
    play = table(1, 2, decree=decree)
    play.dice(1, 2, 5)
    for _ in range(3):
        play.packet(7)
    play.act("box:1", "set")
    with pytest.raises(RejectedError, match="not every hand is set; still to set: box:2"):
        show(play, "dealer", BANK, LOW)
    with pytest.raises(
        RejectedError, match="box:1 has already acted; to change it, send it first with valid false"
    ):
        play.act("box:1", "set")
    with pytest.raises(RejectedError, match="dealer has no hand"):
        play.act("dealer", "set")
    events = play.send("deal.error", error="exposed", who="dealer")
    assert irregularities(events) == [("dealer_early", ("round.confirm", "round.void"))]


def test_hands_that_a_reader_knows_are_shown_by_their_low_hand() -> None:
    play = table(1)
    play.dice(1, 2, 5)  # 8: the first hand is the croupier's
    play.cards(f"{BANK} {WINS[0]}")
    play.send("deck.check", cards=39)
    play.act("box:1", "set")
    with pytest.raises(RejectedError, match="a set hand is not turned; send cards-show with low"):
        play.turn("dealer")
    events = play.send("cards.show", who="dealer", cards=[], low=LOW.split())
    assert [event.card for event in of_kind(events, CardTurned)] == BANK.split()
    play.send("cards.show", who="box:1", cards=[], low=WINS[1].split())
    assert bets_of(play.result(), "box:1") == {"bet": ("win", (19, 20))}


def test_cards_that_differ_from_those_dealt_wait_for_a_person() -> None:
    play = table(1)
    play.dice(1, 2, 5)
    play.cards(f"{BANK} {WINS[0]}")
    play.send("deck.check", cards=39)
    play.act("box:1", "set")
    wrong = BANK.replace("9h", "6h")
    events = play.send("cards.show", who="dealer", cards=wrong.split(), low=LOW.split())
    assert irregularities(events) == [
        ("shown_differs", ("cards.show", "card.decide", "round.void"))
    ]
    assert of_kind(events, CardTurned) == []
    with pytest.raises(RejectedError, match="the table is waiting for the cards of dealer"):
        show(play, "box:1", *WINS)
    events = play.send("card.decide", action="accept")
    assert {event.card for event in of_kind(events, CardTurned)} == set(wrong.split())
    show(play, "box:1", *WINS)
    assert play.result().confirmed_by == "M. Lasa (table_head)"


def test_a_card_read_elsewhere_may_be_shown_if_a_person_confirms_it() -> None:
    play = table(1)
    play.dice(1, 2, 5)
    play.cards(f"{BANK} {WINS[0]}")
    play.send("deck.check", cards=39)
    play.act("box:1", "set")
    play.send("cards.show", who="dealer", cards=BANK.replace("9h", "Kc").split(), low=LOW.split())
    play.send("card.decide", action="accept")
    with pytest.raises(RejectedError, match="low hand"):
        play.send("cards.show", who="box:1", cards=[], low=WINS[1].split())
    show(play, "box:1", WINS[0].replace("Kc", "9c"), WINS[1])
    assert play.result().round == 1


@pytest.mark.parametrize(
    ("compared", "outcomes"), [("bank", ["lose", None, "lose"]), ("dealer", [None, "win", "tie"])]
)
def test_a_player_has_the_bank(compared: str, outcomes: list[str | None]) -> None:
    """The croupier's hand is compared first with the bank's, and the others with the bank's; or all
    with the croupier's.
    """
    play = Play("pai-gow", "BAL09", compared=compared)
    play.open(1, 2)
    play.send("button.set", seat=2)
    play.bets()
    play.dice(1, 2, 5)
    for _ in range(3):
        play.packet(7)
    play.send("deck.check", cards=32)
    play.act("box:1", "set")
    play.act("box:2", "set")
    show(play, "dealer", BANK, LOW)
    show(play, "box:2", *WINS)
    show(play, "box:1", *NULL)
    hands = outcome_of(play.result()).hands
    assert [hand.who for hand in hands] == ["dealer", "box:2", "box:1"]
    assert [hand.outcome for hand in hands] == outcomes


def test_shown_hands_are_checked() -> None:
    play = dealt(WINS)
    for cards, low, why in (
        (BANK, "", "low hand"),
        (BANK, "2c 2d", "low hand"),
        (BANK + " 2c", LOW, "dealer has 7 cards, not 8; report a wrong number with deal-error"),
        (BANK.replace("9h", "Zz"), LOW, "each card must be of this deck and named once"),
        (BANK.replace("9h", "8s"), LOW, "each card must be of this deck and named once"),
    ):
        with pytest.raises(RejectedError, match=why):
            show(play, "dealer", cards, low)


def test_a_round_continues_from_its_saved_state() -> None:
    play = dealt(WINS)
    play.again()
    show(play, "dealer", BANK, LOW)
    play.again()
    show(play, "box:1", *WINS)
    assert play.result().round == 1
