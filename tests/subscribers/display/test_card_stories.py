"""The picture of a card table after a change of a result: it is the last, it is corrected, void,
not known, of another shoe.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from common.contract.events import ResultCorrected, RoundResult
from common.contract.notation import read_event
from common.contract.outcomes import hands
from common.contract.shown import BlackjackHand
from common.readings import LinkLost
from subscribers.display.boxes import blackjack_points
from tests.controller.confidential.test_confidential import published_by
from tests.subscribers.display.test_bodies import CARD_GAMES, face_up
from tests.support.for_each import for_each
from tests.support.games import scripts
from tests.support.subscribers.played import BY, Play, Screen, coups, script, steps


@pytest.fixture
def punto() -> Play:
    """Punto y banca after six coups."""
    play = Play("punto-banca", "ARA02")
    coups(play, 6, random.Random(11))
    return play


def body(play: Play) -> Any:
    return play.screen.picture("es")["body"]


def beads(told: Any) -> list[str]:
    return [cell["coup"]["winner"] for cell in told["roads"][0]["cells"]]


def test_the_last_result_stays_until_the_next_round_begins(punto: Play) -> None:
    told = body(punto)
    assert (told["finish"]["ended"]["round"], told["finish"]["before"]) == (6, None)
    assert all(hand["outcome"] for hand in told["hands"])
    winner = told["finish"]["ended"]["text"]
    punto.say("bets.open", **BY)
    told = body(punto)
    assert told["finish"]["ended"] is None
    assert told["finish"]["before_label"] == "último resultado"
    assert (told["finish"]["before"]["round"], told["finish"]["before"]["text"]) == (6, winner)
    assert not any(hand["cards"] or hand["outcome"] for hand in told["hands"])


def test_a_correction_is_marked_and_the_roads_are_rebuilt(punto: Play) -> None:
    before = body(punto)
    old = beads(before)
    wrong = next(number for number, winner in enumerate(old) if winner != "tie")
    right = "tie"
    punto.say("result.correct", round=wrong + 1, winner=right, **BY)
    told = body(punto)
    assert beads(told) == [*old[:wrong], right, *old[wrong + 1 :]]
    assert [cell["coup"]["corrected"] for cell in told["roads"][0]["cells"]] == [
        number == wrong for number in range(len(old))
    ]
    assert told["roads"][1:] != before["roads"][1:]
    ties = next(each for each in told["counts"] if each["id"] == "tie")
    assert ties["number"] == old.count("tie") + 1
    punto.say("result.correct", round=6, winner="tie" if old[5] != "tie" else "player", **BY)
    assert body(punto)["finish"]["ended"]["corrected"] == "corregido"


def test_a_correction_received_without_its_event_is_shown(punto: Play) -> None:
    """The event is lost; the retained history has it."""
    old = beads(body(punto))
    listener, punto._hear = punto._hear, ()
    punto.say("result.correct", round=6, winner="tie" if old[5] != "tie" else "player", **BY)
    punto._hear = listener
    punto.screen.retained(punto.table.retained())
    told = body(punto)
    assert beads(told) != old
    assert told["finish"]["ended"]["corrected"] == "corregido"


def test_a_void_round_is_no_result_and_no_bead(punto: Play) -> None:
    old = beads(body(punto))
    punto.say("bets.open", **BY)
    punto.say("bets.close", **BY)
    punto.say("card.drawn", device="shoe", card="9h", frame="C")
    punto.say("round.void", reason="inspector", **BY)
    told = body(punto)
    ended = told["finish"]["ended"]
    assert (ended["kind"], ended["round"], ended["winner"]) == ("void", 7, None)
    assert ended["text"] == "nula · decisión de la persona responsable"
    assert told["finish"]["before"]["round"] == 6
    assert not any(hand["cards"] for hand in told["hands"])
    assert beads(told) == old


def test_an_unresolved_round_is_no_result_until_a_person_gives_it(punto: Play) -> None:
    old = beads(body(punto))
    punto.say("bets.open", **BY)
    punto.say("bets.close", **BY)
    punto.say("card.drawn", device="shoe", card="9h", frame="C")
    punto.take(LinkLost(at=900.0, device="shoe", reason="cut"))
    punto.say("link.up", device="shoe")
    told = body(punto)
    assert not any(hand["outcome"] for hand in told["hands"])
    assert beads(told) == old
    assert told["finish"]["before"]["round"] == 6
    punto.say("round.confirm", winner="banker", **BY)
    told = body(punto)
    assert beads(told) == [*old, "banker"]
    assert told["finish"]["ended"]["text"] == "gana banca"
    assert not any(hand["cards"] for hand in told["hands"]), "no event has its cards"


def test_a_round_that_the_closing_left_undecided_has_no_result(punto: Play) -> None:
    punto.say("bets.open", **BY)
    punto.say("bets.close", **BY)
    for card in ("9h", "Kd", "8s", "5c"):
        punto.say("card.drawn", device="shoe", card=card, frame="C")
    punto.say("session.close", **BY)
    told = body(punto)
    ended = told["finish"]["ended"]
    assert (ended["kind"], ended["winner"]) == ("unresolved", None)
    assert ended["text"] == "sin resolver · nadie decidió a tiempo"
    assert not any(hand["cards"] or hand["outcome"] for hand in told["hands"])
    assert len(beads(told)) == 6


def test_a_new_shoe_begins_new_roads_also_for_a_late_display(punto: Play) -> None:
    punto.say("shoe.end", **BY)
    assert len(beads(body(punto))) == 6, "the roads stay until the next shoe"
    punto.say("shoe.start", shoe="8", **BY)
    assert beads(body(punto)) == []
    assert body(punto)["sample"] == "jugadas de esta talla: 0"
    coups(punto, 3, random.Random(12))
    assert len(beads(body(punto))) == 3
    late = Screen()
    late.daemon("boot")
    late.retained(punto.table.retained())
    assert late.picture("es")["body"]["roads"] == body(punto)["roads"]


def test_a_new_session_has_no_last_result(punto: Play) -> None:
    punto.say("session.close", **BY)
    assert body(punto)["finish"]["ended"]["round"] == 6
    punto.say("session.open", minimum=1000, currency="EUR", **BY)
    told = body(punto)
    assert (told["finish"]["ended"], told["finish"]["before"]) == (None, None)


def test_two_cloths_have_no_roads_and_a_result_for_each() -> None:
    *_, play = script("baccarat-two-cloths/rounds")
    told = body(play)
    assert told["roads"] == []
    assert [hand["id"] for hand in told["hands"]] == ["cloth:1", "cloth:2", "bank"]
    assert {hand["outcome"]["text"] for hand in told["hands"] if hand["outcome"]} == {
        "gana",
        "pierde",
    }
    assert told["finish"]["ended"]["text"] == "paño 1 gana · paño 2 pierde"


def test_what_a_hand_of_black_jack_did_is_shown_while_it_plays() -> None:
    said: set[str] = set()
    acting: set[str] = set()
    for play in script("blackjack/evening"):
        told = body(play)
        said |= {hand["said"] for hand in told["boxes"] if hand["said"]}
        acting |= {
            hand["id"]
            for hand in told["boxes"]
            if hand["badge"] and hand["badge"]["id"] == "to_act"
        }
    assert {"dobla", "separa", "se planta", "se pasa", "carta"} <= said
    assert {"box:3", "box:3.2", "box:3.3", "box:5"} <= acting


def test_insurance_is_shown_while_it_is_offered() -> None:
    offered = ["se ofrece el seguro" in body(play)["notes"] for play in script("blackjack/evening")]
    assert True in offered
    assert offered[-1] is False


@for_each(
    ("cards", "points", "shown"),
    [
        ((), 0, None),
        (("As",), 11, "1/11"),
        (("As", "6h"), 17, "7/17"),
        (("As", "Kh"), 21, "21"),
        (("As", "6h", "Th"), 17, "17"),
        (("Td", "8h"), 18, "18"),
    ],
)
def test_soft_hands_count_both(cards: tuple[str, ...], points: int, shown: str | None) -> None:
    assert blackjack_points(BlackjackHand(cards, points)) == shown


def test_the_winner_of_each_pot() -> None:
    *_, play = script("circle/high-and-low")
    told = body(play)
    assert {pot["name"]: pot["winners"] for pot in told["pots"]} == {
        "mano alta": ["plaza 2"],
        "mano baja": ["plaza 4", "plaza 3"],
    }
    assert [seat["button"] for seat in told["seats"]].count(True) == 1


class Ear:
    """Records every card in the events."""

    def __init__(self) -> None:
        self.cards: set[str] = set()

    def daemon(self, boot: str) -> None:
        pass

    def event(self, body: bytes) -> None:
        event = read_event(body)
        self.cards |= published_by([event])
        if isinstance(event, RoundResult | ResultCorrected):
            self.cards |= {card for hand in hands(event.outcome) for card in hand.cards}

    def retained(self, bodies: dict[str, bytes | None]) -> None:
        pass


@for_each("name", CARD_GAMES)
def test_no_card_is_drawn_that_no_event_published(name: str) -> None:
    script, ear = scripts.read(name), Ear()
    for play in steps(
        Play(script.game, script.decree, script.settings, others=(ear,)), script.inputs
    ):
        assert face_up(play) <= ear.cards
