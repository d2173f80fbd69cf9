"""Mistakes at trijoker, texas against the house and pai gow that are corrected before the result;
what waits and what hides.
"""

from __future__ import annotations

import msgspec
import pytest

from common.contract.events import (
    CardDealt,
    CardTurned,
    DeckChecked,
    Hand,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, ShufflerState, ShufflerVerdict
from tests.support.for_each import for_each
from tests.support.games.banked_play import PAIRS, Play, bets_of, irregularities, voids
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import confidential, of_kind

ONE, TWO = "Ts Td Tc", "As Ac 5d"


def trijoker(**settings: str) -> Play:
    play = Play("trijoker", "BAL05", **settings)
    play.open(1, 2)
    play.bets()
    return play


def texas() -> Play:
    play = Play("texas-house")
    play.open(1, 2)
    play.bets()
    return play


def show(play: Play, who: str, cards: str) -> None:
    play.send("cards.show", "croupier", who=who, cards=cards.split())


def test_the_cards_of_one_box_reported_for_another() -> None:
    play = trijoker()
    play.send("cards.deal", count=2, who="box:1")
    play.cards("- 2c - 3d - -")
    play.turn("common:1", "common:2")
    show(play, "box:1", TWO)
    show(play, "box:2", TWO)
    assert irregularities(play.events)[-1][0] == "shown_differs"
    show(play, "box:1", ONE)
    assert play.shown["asks"] == ["cards.show", "card.decide", "round.void"]
    said = play.send("card.decide", action="accept")
    assert {event.card for event in of_kind(said, CardTurned)} == set(ONE.split())
    show(play, "box:2", TWO)
    assert [hand.cards for hand in outcome_of(play.result()).hands][:2] == [
        tuple(ONE.split()),
        tuple(TWO.split()),
    ]


def test_unseen_cards_are_reported_before_those_that_wait() -> None:
    play = trijoker()
    play.cards("Ts As")
    play.gap()
    play.cards("2c")
    events = play.send("cards.deal", count=1)
    assert [event.to for event in of_kind(events, CardDealt)] == ["common:1"]
    events = play.send("card.decide", action="accept")
    assert [event.to for event in of_kind(events, CardDealt)] == ["box:1"]


def test_a_card_in_doubt_is_decided_before_more_are_reported() -> None:
    play = trijoker()
    play.cards("Ts Ts")
    with pytest.raises(RejectedError, match="the table is waiting for: card-decide"):
        play.send("cards.deal", count=1)


@pytest.mark.parametrize("to", ["box:2", "common:1", "burn"])
def test_a_card_that_its_device_places_elsewhere_waits_for_a_person(to: str) -> None:
    play = trijoker()
    events = play.cards("Ts", to=to)
    assert irregularities(events) == [("card_unsure", ("card.decide", "round.void"))]
    assert of_kind(events, CardDealt) == []
    events = play.send("card.decide", action="accept")
    assert [(event.to, event.card) for event in of_kind(events, CardDealt)] == [("box:1", None)]


@pytest.mark.parametrize("to", ["box:1", "player", None])
def test_a_device_may_use_its_own_name_of_a_hand(to: str | None) -> None:
    assert [event.to for event in of_kind(trijoker().cards("Ts", to=to), CardDealt)] == ["box:1"]


@pytest.mark.parametrize(
    ("error", "who", "law"),
    [
        ("exposed", "dealer", "card_exposed"),
        ("order", None, "wrong_order"),
        ("defective", None, "deck_defective"),
    ],
)
def test_only_a_wrong_number_can_be_corrected(error: str, who: str | None, law: str) -> None:
    play = texas()
    play.cards("As Kd 9c")
    assert [
        reason
        for reason, _ in voids(play.send("deal.error", error=error, who=who, recoverable=True))
    ] == [law]


def test_a_corrected_wrong_number() -> None:
    play = texas()
    play.cards("As Kd 9c")
    events = play.send("deal.error", error="too_many", who="box:1", recoverable=True)
    assert (irregularities(events), of_kind(events, RoundVoid)) == ([("deal_error", ())], [])


def test_a_second_error_does_not_hide_what_the_table_waits_for() -> None:
    play = trijoker()
    play.cards("Ts As -")
    play.send("deal.error", error="exposed", who="common:1")
    with pytest.raises(RejectedError, match="the table is waiting for: cards-show, round-void"):
        play.send("deal.error", error="premature")
    assert voids(play.send("cards.show", who="common:1", cards=["Jd"]))[0][0] == "card_exposed"


def test_an_error_that_makes_the_round_null_may_be_reported_at_any_time() -> None:
    play = trijoker()
    play.cards("Ts As -")
    play.send("deal.error", error="exposed", who="common:1")
    assert voids(play.send("deal.error", error="too_many"))[0][0] == "wrong_count"


def test_a_session_that_closes_over_closed_bets_leaves_the_round_unresolved() -> None:
    play = trijoker()
    assert [event.round for event in of_kind(play.send("session.close"), RoundUnresolved)] == [1]


def test_an_unresolved_round_that_was_settled_at_the_table() -> None:
    play = trijoker()
    play.cards("Ts As 2c")
    play.send("session.close")
    assert play.shown["unresolved"] == [1]
    [result] = of_kind(play.send("round.confirm", round=1), RoundResult)
    assert (outcome_of(result).hands, result.confirmed_by) == ((), "M. Lasa (table_head)")
    assert play.shown["unresolved"] == []
    with pytest.raises(RejectedError):
        play.send("round.confirm", round=1)
    with pytest.raises(RejectedError):
        play.send("result.correct", round=1, hands={"box:1": ONE.split()})


@pytest.mark.rule("BAL05-146")
def test_a_player_who_shows_his_cards_loses_what_he_has_bet() -> None:
    play = trijoker()
    play.cards("Ts As 2c Td Ac 3d Tc 5d")
    play.act("box:1", "withdraw")
    assert irregularities(
        play.send("deal.error", error="exposed", who="box:1", fault="player")
    ) == [("hand_told", ())]
    with pytest.raises(RejectedError, match="box:1 has no hand in play"):
        play.send("deal.error", error="exposed", who="box:1", fault="player")
    play.turn("common:1")
    with pytest.raises(RejectedError, match="box:1 has lost"):
        play.act("box:1", "withdraw")
    play.turn("common:2", "box:2")
    result = play.result()
    assert bets_of(result, "box:1") == {
        "bet_1": ("void", None),
        "bet_2": ("lose", None),
        "bet_3": ("lose", None),
    }
    assert outcome_of(result).hands[0] == Hand(
        who="box:1", cards=(), outcome="lose", settled=outcome_of(result).hands[0].settled
    ), "its cards are not published"
    assert bets_of(result, "box:2")["bet_3"] == ("win", (1, 1))
    play.send("result.correct", round=1, hands={"common": ["2c", "Ad"]})


def test_where_the_decree_has_no_such_penalty_the_round_goes_on() -> None:
    play = Play("trijoker", "EUS96")
    play.open(1)
    play.bets()
    play.cards("Ts 2c Td 3d Tc")
    assert irregularities(
        play.send("deal.error", error="exposed", who="box:1", fault="player")
    ) == [("card_exposed", ())]


@pytest.mark.parametrize("role", ["inspector", "director"])
def test_only_who_may_declare_a_round_null_reports_a_dealing_error(role: str) -> None:
    play = trijoker()
    play.cards("Ts As")
    with pytest.raises(
        RejectedError, match=f"role {role} is not allowed to do this; allowed: table_head"
    ):
        play.send("deal.error", role=role, error="too_many")


def test_a_wrong_deck_needs_a_person_before_a_round() -> None:
    play = Play("trijoker", "BAL05")
    play.open(1)
    play.send("deck.check", cards=51)
    assert play.shown["asks"] == ["deck.check"]
    play.send("deck.check", cards=52)
    assert play.shown["asks"] == []


def test_a_shuffler_that_is_not_ready_needs_a_person_before_bets_close() -> None:
    play = Play("trijoker", "BAL05")
    play.open(1)
    play.take(ShufflerState(at=1.0, device="shuffler", state="jam"))
    assert play.shown["asks"] == [], "it may be mended until then"
    play.send("bets.open")
    assert play.shown["asks"] == ["deck.check"]
    play.take(ShufflerState(at=1.0, device="shuffler", state="ready"))
    assert play.shown["asks"] == []


def test_a_verdict_does_not_name_a_card_that_waits() -> None:
    play = Play("trijoker", "BAL05")
    play.open(1)
    play.cards("As")
    verdict = ShufflerVerdict(at=1.0, device="shuffler", count=51, missing=("As",))
    assert confidential(play.game, play.state, verdict)
    [checked] = of_kind(play.take(verdict), DeckChecked)
    assert not checked.right
    assert "As" not in str(checked)


@pytest.mark.parametrize(("decree", "settings"), [("BAL05", {}), ("EUS96", {"face_up": "yes"})])
def test_a_common_card_that_lies_open_by_the_rules_was_not_seen_too_early(
    decree: str, settings: dict[str, str]
) -> None:
    play = Play("trijoker", decree, **settings)
    play.open(1)
    play.bets()
    play.cards("Ts Jc Td 3d Tc")
    play.turn("common:1")
    with pytest.raises(RejectedError, match="common:1 is face up by the rules"):
        play.send("deal.error", error="exposed", who="common:1")


# A card that a reader reports face up: the reader may err, and a published card cannot be withdrawn


BEFORE = {"trijoker": "2c 3c", "texas-house": "2c 3c", "pai-gow": ""}
"""Up to the left common card, the bank's first card, the first card of all."""


def seen(game: str, decree: str, card: str = "Js", **settings: str) -> Play:
    """A reader reports the next card face up, where all lie face down."""
    play = Play(game, decree, **settings)
    play.open(1, 2)
    play.bets()
    if game == "pai-gow":
        play.dice(1, 1, 6)
    play.cards(BEFORE[game])
    drawn = CardDrawn(at=9.0, device="shoe", frame=f"frame of {card}", card=card, exposed=True)
    assert confidential(play.game, play.state, drawn)
    play.take(drawn)
    return play


def public(play: Play) -> str:
    """Everything that a subscriber has received."""
    return msgspec.json.encode(
        [play.events, play.shown, play.game.view(play.state).history()]
    ).decode()


@for_each(("game", "decree"), PAIRS)
@for_each("answer", [{"action": "accept"}, {"action": "remove"}, None])
def test_a_readers_report_publishes_no_card(
    game: str, decree: str, answer: dict[str, str] | None
) -> None:
    play = seen(game, decree)
    assert irregularities(play.events)[-1] == ("card_exposed", ("card.decide", "round.void"))
    play.again()
    if answer is None:
        play.send("round.void", reason="card_exposed")
    else:
        play.send("card.decide", **answer)
    assert "Js" not in public(play)
    if answer == {"action": "accept"}:
        assert of_kind(play.events, CardDealt)[-1].card is None
        assert play.state.current.cards[-1].card == "Js", "it lies where it belongs, face down"


@for_each(("game", "decree"), PAIRS[:3])
@for_each("card", ["Js", "Td"])
def test_a_readers_report_that_makes_the_round_null_publishes_no_card(
    game: str, decree: str, card: str
) -> None:
    """At trijoker a ten among the common cards does not make the round null and a jack does: a
    person is asked about both, else one could tell which.
    """
    play = seen(game, decree, card, **({"misdeal": "void"} if game == "texas-house" else {}))
    null = game == "texas-house"
    assert [reason for reason, _ in voids(play.events)] == (["card_exposed"] if null else [])
    assert (play.shown["phase"] == "waiting") is null
    assert card not in public(play)


@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_a_readers_report_does_not_publish_a_card_that_waits_for_another_reason(
    game: str, decree: str
) -> None:
    play = Play(game, decree)
    play.open(1, 2)
    play.cards("Js", exposed=True)
    play.send("card.decide", action="remove")
    play.bets()
    if game == "pai-gow":
        play.dice(1, 1, 6)
    play.cards("Js", exposed=True, unsure=True)
    play.send("card.decide", action="read", card="Js")
    assert of_kind(play.events, CardDealt)[-1].card is None
    assert "Js" not in public(play)


def test_what_the_person_finds_there_may_be_another_card() -> None:
    play = seen("trijoker", "BAL05")
    events = play.send("card.decide", action="exposed", card="Tc")
    assert [event.card for event in of_kind(events, CardDealt)] == ["Tc"]
    assert voids(events) == []
    assert "Js" not in public(play)


def test_one_card_shown_by_its_place_is_one() -> None:
    play = trijoker()
    play.cards("Ts As 2c Td Ac 3d Tc 5d")
    with pytest.raises(RejectedError, match="with index name exactly one card, not 2"):
        play.send("cards.show", who="common:1", cards=["2c", "3c"], index=1)


def test_missing_cards_may_belong_to_a_player_who_did_not_show_in_an_earlier_round() -> None:
    lacks = ShufflerVerdict(at=1.0, device="shuffler", count=51, missing=("Kh",))
    play = Play("trijoker", "BAL05")
    for _ in range(2):
        assert confidential(play.game, play.state, lacks)
        events = play.take(lacks)
        assert [checked.right for checked in of_kind(events, DeckChecked)] == [False]
        assert "Kh" not in str(events)
        play.take(
            ShufflerVerdict(at=2.0, device="shuffler", count=52, count_right=True, set_right=True)
        )
    play.open(1)
    play.send("bets.open")
    play.send("round.void", reason="inspector")
    assert confidential(play.game, play.state, lacks)
    assert "Kh" not in str(play.take(lacks))
