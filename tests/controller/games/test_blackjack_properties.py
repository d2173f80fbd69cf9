"""Invariants for any cards and any inputs: whole shoes with random hands, and any readings and
commands in any order.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from common.contract.events import (
    AnyEvent,
    CardDealt,
    CardExpected,
    CardRemoved,
    CardTurned,
    Hand,
    HandDecided,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
    ShoeCut,
    ShoeEnded,
)
from common.contract.notation import Input, read_input
from common.contract.refusals import RejectedError
from common.readings import CardCut, CardDrawn, LinkGap, LinkStale, LinkUp, Reading, ShoeReset
from controller.games.blackjack.course import HAND_COMMANDS
from controller.games.blackjack.hands import points
from controller.games.cards import DECK, composition
from tests.conftest import cases
from tests.support.games.anything import FOREIGN
from tests.support.games.blackjack_play import PAIRS, Play
from tests.support.games.holds import continues, restored, spoken, step, step_and_check
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

every = pytest.mark.parametrize(("game", "decree"), PAIRS)
OPTIONS: dict[str, dict[str, Any]] = {
    "BAL05": {"boxes": 9, "dealer_alone": "draws"},
    "ARA02": {"split_cards": "at_once"},
    "EUS96": {"surrender": True, "pair_bets": True, "accumulated_bets": True},
    "GAL07": {"resplit_aces": "no", "blackjack_tie": "wins"},
}


# Whole shoes


class Croupier:
    """Deals a shuffled shoe to its end: sets boxes, presses keys at random, draws where a card is
    expected.
    """

    def __init__(self, play: Play, seed: int) -> None:
        self.play = play
        self.dice = random.Random(seed)
        self.shoe = [*composition(6).elements()]
        self.dice.shuffle(self.shoe)
        self.burned: list[str] = []
        self.cut_at = self.dice.randint(200, 260)

    def deal_out(self) -> None:
        play = self.play
        play.send("session.open")
        play.send("shoe.start", shoe="7")
        while (shoe := play.state.shoe) is not None and not (
            shoe.over and play.state.current is None
        ):
            play.state = restored(play).state
            self._step()
            assert not play.shown["asks"]

    def _step(self) -> None:
        play = self.play
        if (
            play.state.shoe is not None
            and play.state.shoe.drawn == self.cut_at
            and play.state.shoe.cut_at is None
        ):
            play.cut()
        elif play.state.current is None:
            if play.state.shoe is not None and not play.state.burn:
                most = play.game.rules.boxes
                play.boxes(*self.dice.sample(range(1, most + 1), self.dice.randint(2, most)))
            else:
                self.burned.append(self.shoe.pop())
                play.card(self.burned[-1])
        elif play.state.expected is not None:
            play.card(self.shoe.pop())
        else:
            self._key()

    def _key(self) -> None:
        for name in self.dice.sample(HAND_COMMANDS, len(HAND_COMMANDS)):
            try:
                self.play.send(name, role="croupier")
                return
            except RejectedError:
                continue
        raise AssertionError("no key is followed")


@every
@pytest.mark.parametrize("seed", range(cases(2, 6)))
@pytest.mark.parametrize("with_options", [False, True])
def test_a_whole_shoe(game: str, decree: str, seed: int, with_options: bool) -> None:
    kept = OPTIONS[decree] if with_options else {}
    play = Play(decree, game, **({} if game == "blackjack-triple" and decree != "EUS96" else kept))
    croupier = Croupier(play, seed)
    croupier.deal_out()
    assert play.state.shoe is not None
    assert play.state.shoe.drawn == 312 - len(croupier.shoe)
    assert [event.why for event in of_kind(play.events, ShoeEnded)] == ["cut"]
    [cut] = of_kind(play.events, ShoeCut)
    last = of_kind(play.events, RoundResult)[-1]
    assert (play.events.index(cut) < play.events.index(last)) == bool(cut.rounds_left)
    assert not of_kind(play.events, RoundUnresolved)
    dealt = Counter(event.card for event in of_kind(play.events, CardDealt) if event.card)
    assert dealt + Counter(croupier.shoe) + Counter(croupier.burned) == composition(6)
    assert len(croupier.burned) == 5
    check(play)


def check(play: Play) -> None:
    """Each round has one outcome; its hands are made of the cards dealt in it, each once; no hand
    drew against the rules.
    """
    rounds: dict[tuple[int, int], list[AnyEvent]] = {}
    for event in play.events:
        rounds.setdefault((event.session, event.round), []).append(event)
    kept: Counter[str] = Counter()
    for (_, number), said in sorted(rounds.items()):
        outcomes = [
            event for event in said if isinstance(event, RoundResult | RoundVoid | RoundUnresolved)
        ]
        assert len(outcomes) <= 1
        assert len(of_kind(said, RoundOpened)) <= 1
        results = of_kind(said, RoundResult)
        if number == 0 or not results:
            continue
        hands = outcome_of(results[0]).hands
        assert isinstance(hands, tuple)
        told = cards_of(of_kind(said, CardDealt)) - cards_of(of_kind(said, CardRemoved))
        if not of_kind(
            said, RoundOpened
        ):  # a later play: the hands are those of before, the dealer's first card too
            told += kept
        if outcome_of(results[0]).marks != ("hands_unknown",):
            assert Counter(card for hand in hands for card in hand.cards) == told
            gone = [hand for hand in hands[:-1] if hand.kind in ("bust", "surrender")]
            lost = [card for hand in gone for card in hand.cards]
            kept = told - Counter(hands[-1].cards[1:]) - Counter(lost)
            for hand in hands[:-1]:
                fair(hand, hands[-1])
    assert not of_kind(play.events, CardTurned)


def cards_of(said: list[CardDealt] | list[CardRemoved]) -> Counter[str]:
    return Counter(event.card for event in said if event.card)


def fair(hand: Hand, dealer: Hand) -> None:
    """Check a hand's outcome by plain counting."""
    assert isinstance(hand.points, int)
    assert isinstance(dealer.points, int)
    if hand.kind in ("surrender", "bust"):
        assert hand.outcome == "lose"
    elif dealer.points > 21:
        assert hand.outcome == "win"
    elif hand.points != dealer.points:
        assert hand.outcome == ("win" if hand.points > dealer.points else "lose")
    assert (hand.kind == "bust") == (hand.points > 21) or hand.kind == "surrender"
    assert points(hand.cards[:-1]) < 21 or len(hand.cards) == 1


# Anything at all


PEOPLE = st.sampled_from(["table_head", "table_head", "table_head", "inspector", "croupier"])
command = partial(spoken, people=PEOPLE)
CARDS = st.sampled_from([*DECK, *("7h", "As", "8c", "Kd") * 10])
WHO = st.sampled_from([None, None, "box:1", "box:2", "box:1.2", "dealer", "box:9"])


CARD = st.builds(
    CardDrawn,
    at=st.just(1.0),
    frame=st.just("f"),
    card=st.one_of(CARDS, CARDS, CARDS, CARDS, st.sampled_from([None, None, *FOREIGN])),
    exposed=st.sampled_from([False] * 9 + [True]),
    unsure=st.sampled_from([False] * 9 + [True]),
    late=st.sampled_from([False] * 14 + [True]),
)
BOXES = command("boxes.set", boxes=st.sampled_from([[1], [1, 2], [2, 1, 3], [], [1, 1], [1, 12]]))
HANDS = st.one_of(*(command(name, who=WHO) for name in HAND_COMMANDS))
DECIDE = command(
    "card.decide",
    action=st.sampled_from(["read", "accept", "remove", "next_round", "for", "basket", "exposed"]),
    card=st.one_of(st.none(), CARDS, CARDS, st.sampled_from(FOREIGN)),
    who=WHO,
)
REST = st.one_of(
    st.sampled_from(
        [
            CardCut(at=1.0),
            ShoeReset(at=1.0),
            LinkStale(at=1.0, age=5.0),
            LinkUp(at=1.0),
            LinkGap(at=1.0, lost=1),
        ]
    ),
    command("session.open"),
    command("session.close"),
    command(
        "shoe.start", shoe=st.sampled_from(["7", "8", ""]), cut=st.sampled_from([None, 40, 60])
    ),
    command("shoe.end", left=st.sampled_from([None, 100])),
    command("bets.open"),
    command("bets.close"),
    command("round.void", reason=st.sampled_from(["misdeal", "inspector", "ball_out"])),
    command("round.confirm"),
    command("limit.announce", minimum=st.sampled_from([400, 1000])),
    command("last_rounds.announce"),
)
ANYTHING = st.one_of(CARD, CARD, CARD, CARD, HANDS, HANDS, BOXES, DECIDE, REST)
OPEN = '{"at": 0, "type": "session.open", "by": "x", "role": "table_head", "minimum": 500}'
START = '{"at": 0, "type": "shoe.start", "by": "x", "role": "croupier", "shoe": "7"}'
BURN = [CardDrawn(at=1.0, card="2c", frame="f")] * 5
SCRIPT = st.lists(ANYTHING, min_size=5, max_size=60).map(
    lambda given: [read_input(OPEN), read_input(START), *BURN, *given]
)
TABLE = st.builds(
    lambda pair, keys, kept: Play(
        pair[1], pair[0], keys=keys, **(OPTIONS[pair[1]] if kept else {})
    ),
    st.sampled_from(PAIRS),
    st.sampled_from([True, True, True, False]),
    st.booleans(),
)


@settings(max_examples=cases(100, 400), deadline=None)
@given(TABLE, SCRIPT)
def test_any_inputs_keep_the_invariants(play: Play, script: list[Input]) -> None:
    for each in script:
        asked = bool(play.state.doubt)
        events = step_and_check(play, each)
        if asked and isinstance(each, Reading):
            assert not of_kind(events, RoundResult)
            assert not of_kind(events, CardDealt)
        if (expected := of_kind(events, CardExpected)) and not play.state.held:
            assert expected[-1].to == play.state.expected
        for decided in of_kind(events, HandDecided):
            assert decided.who.startswith("box:")
    check(play)
    assert accounted(play)


def accounted(play: Play) -> bool:
    """No card is on the table that did not leave the shoe, if there was one shoe and all is
    counted.
    """
    shoe = play.state.shoe
    if shoe is None or not shoe.counted or shoe.continuous:
        return True
    deal = play.state.current
    lying = (
        [*deal.dealer, *deal.unplaced, *(card for seat in deal.seats for card in seat.cards)]
        if deal
        else []
    )
    return Counter(lying) <= Counter(shoe.seen)


@settings(max_examples=cases(25, 100), deadline=None)
@given(TABLE, SCRIPT, st.data())
def test_a_table_continues_from_its_saved_state(
    play: Play, script: list[Input], data: st.DataObject
) -> None:
    continues(play, script, data.draw(st.integers(0, len(script))))


@settings(max_examples=cases(25, 100), deadline=None)
@given(TABLE, SCRIPT)
def test_every_open_decision_can_be_made(play: Play, script: list[Input]) -> None:
    """Whatever has happened, people in charge bring the table back to a new round."""
    for each in script:
        step(play, each)
    play.take(LinkUp(at=1.0))
    for name, fields in (
        ("round.void", {"reason": "inspector"}),
        ("card.decide", {"action": "accept"}),
        ("shoe.end", {}),
        ("session.close", {}),
        ("session.open", {}),
        ("shoe.start", {"shoe": "9"}),
    ):
        try:
            play.send(name, **fields)
        except RejectedError:
            continue
    if play.game.settings.keys:
        play.take(*BURN)
        play.boxes(1, 2)
        assert play.state.expected == "box:1"
    assert replace(play.state, asked=None).doubt is None
