"""A subscriber's view of a card table's messages."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from common.contract.notation import write
from common.contract.refusals import RejectedError
from controller.games.games import make_game
from subscribers.terminal.card_events import Cards
from subscribers.terminal.table_view import TableView
from subscribers.terminal.words import note
from tests.support.games import scripts
from tests.support.subscribers.table import Narrator, card_state, coup, dealt, hands


def test_the_course_of_a_shoe() -> None:
    view, _ = dealt()
    cards = view.cards
    assert [(bead.round, bead.kind, bead.winner) for bead in cards.beads] == [
        (1, "result", "player"),
        (2, "result", "banker"),
        (3, "result", "tie"),
        (4, "void", ""),
    ]
    assert cards.beads[1].marks == ("natural", "pair_player", "pair_banker")
    assert (cards.burned, cards.shown) == (5, "5c")
    assert (cards.hands, cards.expected, cards.outcome) == (
        {"player": [None], "banker": [None]},
        "player",
        None,
    )
    assert (view.phase, view.calls, view.round, view.results) == ("dealing", ("no va más",), 5, 3)
    assert not [spin for spin in view.spins if spin.kind == "result"]


def test_a_card_is_known_once_it_is_turned() -> None:
    view, narrator = dealt()
    assert view.event(narrator.event("card.turned", round=5, to="player", index=1, card="7h"))
    assert view.cards.hands == {"player": ["7h"], "banker": [None]}


def test_the_result_stays_until_the_next_round() -> None:
    view, narrator = dealt()
    for fields in coup(narrator, 6, "2c 4c", "9d Kc", "banker", "natural"):
        view.event(fields)
    assert view.phase == "result"
    assert view.cards.hands == {"player": ["2c", "4c"], "banker": ["9d", "Kc"]}
    assert view.cards.outcome is not None
    assert view.cards.outcome.winner == "banker"
    view.event(narrator.event("round.opened", round=7))
    assert view.cards.hands == {}
    assert view.cards.outcome is None


def test_a_card_that_lay_elsewhere_and_one_that_leaves() -> None:
    view, narrator = dealt()
    view.event(narrator.event("card.dealt", round=5, to="banker", index=2, card=None, was="player"))
    assert view.cards.hands == {"player": [], "banker": [None, None]}
    view.event(narrator.event("card.removed", round=5, why="decided", card=None, to="banker"))
    assert view.cards.hands == {"player": [], "banker": [None]}


def test_a_new_shoe_begins_a_new_plate() -> None:
    view, narrator = dealt()
    view.event(narrator.event("shoe.ended", why="cut", drawn=305, unread=0))
    assert view.phase == "shoe_over"
    view.event(narrator.event("shoe.started", shoe="2", decks=6, cards=312, cut=7))
    assert (view.phase, list(view.cards.beads)) == ("burning", [])
    view.retained(
        "history",
        {
            "results": [
                {"round": 3, "kind": "result", "outcome": {"winner": "tie"}},
                {"round": 6, "outcome": {"winner": "player"}},
            ]
        },
    )
    assert [bead.round for bead in view.cards.beads] == [6]


def test_a_corrected_winner_takes_the_place_of_the_first() -> None:
    view, narrator = dealt()
    view.event(
        narrator.event(
            "result.corrected", round=2, was="banker", by="M. Lasa", outcome={"winner": "player"}
        )
    )
    assert [(bead.round, bead.winner, bead.corrected) for bead in view.cards.beads][1] == (
        2,
        "player",
        True,
    )
    assert note(view.notes[-1], "en") == "banker corrected to player by M. Lasa"


def test_corrected_hands_lie_as_they_are_right_while_their_round_is_the_last() -> None:
    view, narrator = dealt()
    number = view.cards.round
    right = [{"who": "box:1", "cards": ["Ah", "Ad"], "kind": "pair", "outcome": "win"}]
    outcome = {"family": "house-poker", "hands": right, "marks": ["dealer_qualifies"]}
    fields = {"outcome": outcome, "by": "M. Lasa"}
    view.event(narrator.event("result.corrected", round=number, **fields))
    assert (view.cards.hands["box:1"], view.cards.made["box:1"].outcome) == (["Ah", "Ad"], "win")
    assert view.cards.beads[-1].corrected
    assert note(view.notes[-1], "en") == f"round {number} corrected by M. Lasa"
    view.event(narrator.event("round.opened", round=number + 1))
    view.event(narrator.event("result.corrected", round=number, **fields))
    assert view.cards.hands == {}


def test_an_unresolved_round_that_is_confirmed() -> None:
    view, narrator = dealt()
    view.event(narrator.event("round.unresolved", round=5, why="silence", candidate=None))
    assert view.cards.beads[-1].kind == "unresolved"
    view.event(
        narrator.event(
            "round.result",
            round=5,
            outcome={"hands": hands("2c 4c", "9d Kc"), "winner": "banker", "marks": []},
        )
    )
    assert [(bead.round, bead.kind) for bead in view.cards.beads][-1] == (5, "result")


def test_a_late_subscriber_has_it_from_the_retained_topics() -> None:
    view = TableView("punto-1")
    lying = {"player": ["7h", None], "banker": [None]}
    view.retained("state", card_state("dealing", round=9, hands=lying, expected="banker"))
    view.retained(
        "history",
        {
            "results": [
                {
                    "round": 8,
                    "kind": "result",
                    "outcome": {"winner": "banker", "marks": ["natural"]},
                }
            ]
        },
    )
    assert (view.phase, view.cards.hands, view.cards.expected) == ("dealing", lying, "banker")
    assert view.cards.shoe["left"] == 301
    assert [bead.winner for bead in view.cards.beads] == ["banker"]


def test_a_decision_ends_with_the_retained_state() -> None:
    view, _ = dealt()
    view.retained("state", card_state("decision", round=5, asks=["card.decide", "round.void"]))
    assert (view.phase, view.asks) == ("decision", ("card.decide", "round.void"))
    view.retained("state", card_state("dealing", round=5))
    assert (view.phase, view.asks) == ("dealing", ())


EVENTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "session.opened",
                "shoe.started",
                "round.opened",
                "card.dealt",
                "card.turned",
                "card.removed",
                "round.result",
                "round.void",
            ]
        ),
        "round": st.integers(0, 9),
        "to": st.sampled_from(["player", "banker", "burn", "box:3.2"]),
        "index": st.integers(-1, 4),
        "card": st.sampled_from([None, "7h", "Ts"]),
        "was": st.sampled_from([None, "player"]),
        "outcome": st.sampled_from(
            [None, *({"winner": who} for who in (None, "player", "banker", "tie"))]
        ),
    }
)


@given(events=st.lists(EVENTS, max_size=40))
def test_each_round_has_one_bead_in_order(events: list[dict[str, Any]]) -> None:
    cards, narrator = Cards(), Narrator()
    for event in events:
        cards.event(narrator.event(event.pop("type"), **event))
        rounds = [bead.round for bead in cards.beads]
        assert rounds == sorted(set(rounds))


def test_a_split_hand_begins_with_the_card_that_it_was_given() -> None:
    """No turn is published: the hands are those of the state at every step."""
    script, cards, split = scripts.read("blackjack/evening"), Cards(), 0
    game = make_game(script.game, script.decree, script.settings)
    state = game.begin()
    for each in script.inputs:
        try:
            state, events = game.step(state, each)
        except RejectedError:
            continue
        for event in events:
            cards.event(msgspec.json.decode(write(event)))
        shown = msgspec.json.decode(msgspec.json.encode(game.show(state)))
        hands = {who: hand["cards"] for who, hand in shown["hands"].items() if hand["cards"]}
        if hands:
            boxes = {who: hand for who, hand in cards.hands.items() if who.startswith("box")}
            assert boxes == hands
        split += any("." in who for who in hands)
    assert split
