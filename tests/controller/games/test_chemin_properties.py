"""Invariants of the table for any cards, readings and commands, in any order."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.commands import CardDecide, CardsTurn
from common.contract.events import AnyEvent, CardDealt, RoundResult
from common.contract.notation import Input, write
from common.contract.refusals import RejectedError
from common.readings import CardCut, CardDrawn, LinkStale, LinkUp, ShoeFault, ShoeReset
from controller.games.cards import DECK
from controller.games.dealt.cards import hand as cards_of
from tests.conftest import cases
from tests.support.games.anything import FOREIGN
from tests.support.games.chemin_play import PAIRS, Play
from tests.support.games.holds import spoken, step, step_and_check
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import confidential, of_kind

CARD = re.compile(r"(?:\"|: )([A2-9TJQK][cdhs])\b")
PEOPLE = st.sampled_from(["inspector", "inspector", "inspector", "table_head", "croupier"])
command = partial(spoken, people=PEOPLE)
HANDS = ["player", "banker", "cloth:1", "cloth:2", "bank", None, None]
WHO = st.sampled_from(HANDS)
INDEX = st.sampled_from([None, 1, 2, 3])


COMMAND = {
    "bets.open": command("bets.open"),
    "bets.close": command("bets.close", banco=st.booleans()),
    "hand.draw": command("hand.draw", who=WHO),
    "hand.stand": command("hand.stand", who=WHO),
    "cards.turn": command("cards.turn", who=WHO, index=st.sampled_from([None, None, 1, 2])),
    "card.decide": command(
        "card.decide",
        action=st.sampled_from(
            ["read", "accept", "remove", "next_round", "for", "basket", "floor", "exposed"]
        ),
        card=st.sampled_from([None, "9h", "9h", "9h", *FOREIGN]),
        who=WHO,
        index=INDEX,
        fault=st.sampled_from([None, "croupier", "banker", "player"]),
    ),
    "table.follow": command("table.follow", advice=st.booleans()),
    "round.confirm": command(
        "round.confirm", winner=st.sampled_from([None, "banker", "tie", "cloth:1,bank"])
    ),
    "round.void": command(
        "round.void", reason=st.sampled_from(["cards_stuck", "misdeal", "inspector", "ball_out"])
    ),
    "shoe.start": command("shoe.start", shoe=st.sampled_from(["7", "8", ""])),
    "shoe.end": command("shoe.end", left=st.sampled_from([None, 100])),
    "session.close": command("session.close"),
    "session.open": command("session.open"),
}
NEXT = "next card"
ROUND = st.sampled_from(
    [
        NEXT,
        NEXT,
        NEXT,
        NEXT,
        "hand.draw",
        "hand.stand",
        "hand.stand",
        "cards.turn",
        "card.decide",
        "card.decide",
    ]
)
ANYTHING = st.sampled_from([NEXT, *COMMAND])
TROUBLE: st.SearchStrategy[Input] = st.sampled_from(
    [
        CardDrawn(at=1.0, card=None, frame="?"),
        *(CardDrawn(at=1.0, card=card, frame=f"<{card}>") for card in FOREIGN),
        CardCut(at=1.0),
        ShoeReset(at=1.0),
        ShoeFault(at=1.0, fault="overdraw", active=True),
        LinkStale(at=1.0, age=5.0),
        LinkUp(at=1.0),
    ]
)


@st.composite
def evening(draw: st.DrawFn) -> tuple[Play, list[Input]]:
    """A table, and its inputs: rounds that are mostly played to their end. No card occurs twice,
    not even one stated by people.
    """
    game, decree = draw(st.sampled_from(PAIRS))
    play = Play(
        decree,
        game,
        **draw(st.fixed_dictionaries({"early_card": st.sampled_from(["ask", "keep"])})),
    )
    play.open()
    cards = iter(draw(st.permutations([card for card in DECK if card != "9h"])))
    script: list[Input] = []

    def one(kind: str) -> None:
        card = next(cards, None)
        if kind != NEXT:
            script.append(draw(COMMAND[kind]))
        elif card is not None:
            script.append(
                CardDrawn(
                    at=1.0, card=card, exposed=draw(st.integers(0, 19)) == 0, frame=f"card: {card}"
                )
            )

    first = 2 * (len(play.book.hands) + 1)
    for _ in range(draw(st.integers(1, 3))):
        for kind in ["bets.open", "bets.close", *[NEXT] * first]:
            if draw(st.integers(0, 15)):
                one(kind)
        for kind in draw(st.lists(ROUND, max_size=10)):
            one(kind)
        if draw(st.integers(0, 3)) == 0:
            script.append(draw(TROUBLE))
        for kind in draw(st.lists(ANYTHING, max_size=3)):
            one(kind)
        one("cards.turn")
    return play, script


def public(play: Play, events: list[AnyEvent]) -> set[str]:
    """Every published card: in an event, its frames, or a retained topic."""
    view = play.game.view(play.state)
    shown = msgspec.json.encode([view.shown, view.history()])
    return set(CARD.findall((b"\n".join(map(write, events)) + shown).decode()))


@settings(max_examples=cases(50, 200), deadline=None)
@given(evening())
def test_nothing_breaks_and_the_state_can_be_saved_at_any_moment(
    table: tuple[Play, list[Input]],
) -> None:
    play, script = table
    for each in script:
        step_and_check(play, each)


@settings(max_examples=cases(50, 200), deadline=None)
@given(evening())
def test_no_card_is_published_that_was_not_laid_open(table: tuple[Play, list[Input]]) -> None:
    """The cards of a deal stay hidden until a person turns, shows or removes one of them."""
    play, script = table
    down: set[str] = set()
    for each in script:
        if isinstance(each, CardsTurn) or (
            isinstance(each, CardDecide) and each.action in ("exposed", "remove", "for", "read")
        ):
            down = set()
        secret = confidential(play.game, play.state, each)
        events = step(play, each)
        down -= {
            event.card
            for event in of_kind(events, CardDealt)
            if event.card is not None and event.index > 2
        }
        assert not public(play, events) & down
        if isinstance(each, CardDrawn) and each.card in DECK:
            assert secret == (each.card not in {getattr(event, "card", None) for event in events})
            if secret:
                down.add(each.card)
        if play.state.current is None:
            down = set()


@settings(max_examples=cases(50, 200), deadline=None)
@given(evening())
def test_a_result_has_all_its_cards_open_or_a_person_behind_it(
    table: tuple[Play, list[Input]],
) -> None:
    play, script = table
    for each in script:
        before = play.state.current
        for result in of_kind(step(play, each), RoundResult):
            if not any(isinstance(hand.points, int) for hand in outcome_of(result).hands):
                assert result.confirmed_by is not None  # at two cloths it states who has won
                continue
            assert before is not None
            for hand in outcome_of(result).hands:
                if hand.kind in (None, "natural"):
                    assert len(hand.cards) in (2, 3) or before.overdealt
            assert {
                hand.outcome for hand in outcome_of(result).hands if hand.who in play.book.hands
            } <= {
                "win",
                "lose",
                "tie",
                None,
            }
            losers = [hand for hand in outcome_of(result).hands if hand.outcome == "lose"]
            assert len(play.book.hands) > 1 or len(losers) <= 1


@settings(max_examples=cases(37, 150), deadline=None)
@given(evening())
def test_a_card_is_in_one_place_and_never_returns(table: tuple[Play, list[Input]]) -> None:
    play, script = table
    for each in script:
        now = play.state.shoe
        step(play, each)
        if isinstance(each, CardDrawn) and not each.late and play.state.open and now is not None:
            assert play.state.shoe is not None
            assert play.state.shoe.drawn == now.drawn + 1
        hand = play.state.current
        if hand is not None:
            placed = [card for who in play.book.everyone for card in cards_of(hand.cards, who)]
            assert len(placed) == len([card for card in hand.cards if card.to and not card.gone])


CLOTHS = ("cloth:1", "cloth:2", "bank")


@pytest.mark.parametrize("seed", range(10))
def test_a_card_goes_to_the_expected_hand_whatever_was_corrected_before(seed: int) -> None:
    """Or a person is asked. Played by chance alone: the cases that matter are deep in a round."""
    chance = random.Random(seed)
    play = Play("GAL07", "baccarat-two-cloths")
    for _ in range(40):
        play.open()
        play.dealt("2h 2c 5h 2d 5s Kd")
        for _ in range(20):
            due = play.state.expected
            if due is not None and chance.random() < 0.3:
                events = step(play, CardDrawn(at=1.0, card=chance.choice(DECK)))
                assert (
                    due in {event.to for event in of_kind(events, CardDealt)} or play.shown["asks"]
                )
                continue
            what, fields = chance.choice(
                (("hand.draw", {}), ("hand.stand", {}), ("card.decide", {"action": "for"}))
            )
            asked: dict[str, Any] = {"who": chance.choice(CLOTHS), **fields}
            if chance.random() < 0.15:
                what, asked = "card.decide", {"action": "remove"}
            with suppress(RejectedError):
                play.send(what, **asked)
        play.send("session.close")
