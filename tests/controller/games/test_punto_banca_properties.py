"""Invariants of the table for any readings and commands, in any order."""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.commands import CardDecide, CardsTurn
from common.contract.events import (
    BetsClosed,
    CardDealt,
    CardRemoved,
    CardTurned,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
    ShoeEnded,
)
from common.contract.notation import Input, write
from common.readings import (
    CardCut,
    CardDrawn,
    LinkGap,
    LinkLate,
    LinkLost,
    LinkUp,
    ShoeFault,
    ShoeReset,
    ShoeResult,
)
from controller.games.baccarat import next_card, points
from controller.games.cards import DECK
from controller.games.punto_banca.state import PuntoBancaState
from tests.conftest import cases
from tests.support.games.anything import FOREIGN
from tests.support.games.holds import continues, sessions_of, spoken, step_and_check
from tests.support.games.outcomes import outcome_of
from tests.support.games.own_cards import CARD, named, with_cards
from tests.support.games.play import confidential, make_command, of_kind
from tests.support.games.punto_banca_play import DECREES, Play

PEOPLE = st.sampled_from(["table_head", "table_head", "table_head", "croupier"])
command = partial(spoken, people=PEOPLE)


def strategy_of(kind: Any, **fields: Any) -> st.SearchStrategy[Input]:
    return st.builds(kind, at=st.just(1.0), device=st.just("shoe"), **fields)


USUAL = st.sampled_from([CARD] * 9 + [None])
DRAWN = strategy_of(
    CardDrawn,
    card=USUAL,
    to=st.sampled_from([None, None, None, "player", "banker", "burn"]),
    index=st.sampled_from([None, None, None, 1, 2, 3]),
    exposed=st.sampled_from([False] * 6 + [True]),
    unsure=st.sampled_from([False] * 8 + [True]),
    late=st.sampled_from([False] * 6 + [True]),
)
PLAIN = st.just(CardDrawn(at=1.0, device="shoe", card=CARD))
ODD: st.SearchStrategy[Input] = st.one_of(
    DRAWN,
    DRAWN,
    strategy_of(CardDrawn, card=st.sampled_from(FOREIGN), unsure=st.booleans(), late=st.booleans()),
    strategy_of(CardCut),
    strategy_of(ShoeReset),
    strategy_of(
        ShoeResult, winner=st.sampled_from(["player", "banker", "tie", None]), forced=st.booleans()
    ),
    strategy_of(
        ShoeFault, fault=st.sampled_from(["overdraw", "card_code", "alarm"]), active=st.booleans()
    ),
    st.sampled_from(
        [
            LinkLost(at=1.0, reason="unplugged"),
            LinkUp(at=1.0),
            LinkGap(at=1.0, lost=1),
            LinkLate(at=1.0, frames=1, silence=2.0),
        ]
    ),
)
ROUNDS = st.sampled_from([None, None, 1, 2])
WHO = st.sampled_from([None, None, "player", "banker", "box:1"])
COMMANDS_BY_PEOPLE: st.SearchStrategy[Input] = st.one_of(
    command("session.open"),
    command("session.close"),
    command("shoe.start", shoe=st.sampled_from(["S1", "S2", ""])),
    command("shoe.end", left=st.sampled_from([None, 300])),
    command("bets.open"),
    command("bets.close"),
    command("cards.turn", who=WHO),
    command("cards.turn"),
    command("card.decide", action=st.sampled_from(["accept", "remove", "next_round", "exposed"])),
    command(
        "card.decide", action=st.just("read"), card=st.sampled_from([CARD, CARD, *FOREIGN]), who=WHO
    ),
    command("card.decide", action=st.just("for"), who=WHO),
    command("round.void", reason=st.sampled_from(["misdeal", "ball_out"]), round=ROUNDS),
    command("round.confirm", round=ROUNDS, winner=st.sampled_from([None, "player", "tie"])),
    command(
        "result.correct",
        round=st.sampled_from([1, 2]),
        winner=st.sampled_from(["player", "banker", "tie"]),
    ),
    command("hand.draw"),
)


BETS = [make_command("bets.open"), make_command("bets.close")]
COUP: list[Input] = [
    *BETS,
    *[CardDrawn(at=1.0, device="shoe", card=CARD)] * 4,
    make_command("cards.turn"),
    *[CardDrawn(at=1.0, device="shoe", card=CARD), make_command("cards.turn")] * 2,
    make_command("card.decide", action="remove"),
]
"""A coup, with more cards than some need: those are removed."""
START: list[Input] = [make_command("session.open"), make_command("shoe.start", shoe="S1")]


@st.composite
def disturbed(draw: st.DrawFn) -> list[Input]:
    """A coup in which something is left out or inserted."""
    coup = list(COUP)
    if draw(st.booleans()):
        del coup[draw(st.integers(0, len(coup) - 1))]
    for _ in range(draw(st.integers(1, 3))):
        coup.insert(draw(st.integers(0, len(coup))), draw(st.one_of(ODD, COMMANDS_BY_PEOPLE)))
    return coup


PARTS = st.one_of(
    st.just(COUP),
    disturbed(),
    disturbed(),
    st.one_of(ODD, COMMANDS_BY_PEOPLE).map(lambda one: [one]),
)
SCRIPT = st.lists(PARTS, min_size=2, max_size=9).map(
    lambda parts: [each for part in parts for each in part]
)
TABLE = st.fixed_dictionaries(
    {
        "decree": st.sampled_from(DECREES),
        "rounds": st.sampled_from(["keys", "keys", "shoe"]),
        "turn": st.sampled_from(["command", "command", "when_complete"]),
        "third_card": st.sampled_from(["face_down", "face_up"]),
        "witness": st.sampled_from(["compared", "awaited"]),
        "cut_first": st.sampled_from(["play", "end"]),
    }
)


def dealt(script: list[Input], seed: int) -> list[Input]:
    """The script with unique cards; at first a burn of one card."""
    cards = [card for card in DECK if card[0] != "A"]
    random.Random(seed).shuffle(cards)
    burn: list[Input] = [CardDrawn(at=1.0, device="shoe", card=CARD)] * 2
    return with_cards([*START, *burn, *script], ["Ac", *cards, "Ad", "Ah", "As"])


def up(state: PuntoBancaState) -> set[str]:
    """The cards that lie face up in the current round."""
    hand = state.current
    return {card.card for card in hand.cards if card.up and card.card} if hand else set()


def may_be_published(
    event: CardTurned | CardDealt | CardRemoved,
    given_: Input,
    table: dict[str, Any],
    seen: set[str | None],
) -> bool:
    """True if the card lies face up: shown in the burn, so by a person's statement, a third card
    where these are dealt so, or turned.
    """
    at_once = table["turn"] == "when_complete"
    if isinstance(event, CardDealt) and event.card in seen:
        return True
    if isinstance(event, CardRemoved):
        return False
    if isinstance(event, CardDealt):
        return (event.to == "burn" and event.index == 1) or (
            event.index == 3 and (at_once or table["third_card"] == "face_up")
        )
    return (
        isinstance(given_, CardsTurn)
        or at_once
        or (isinstance(given_, CardDecide) and given_.action == "read")
    )


@settings(max_examples=cases(75, 300), deadline=None)
@given(TABLE, SCRIPT, st.integers(0, 1000))
def test_any_inputs_keep_the_invariants(
    table: dict[str, Any], script: list[Input], seed: int
) -> None:
    play = Play(**table)
    public: set[str] = set()
    for each in dealt(script, seed):
        waits = play.state.round if play.state.current and play.state.asks else None
        seen: set[str | None] = set()
        if isinstance(each, CardDecide) and each.action == "exposed":
            seen = {each.card or waiting.given.card for waiting in play.state.held[:1]}
        sealed = confidential(play.game, play.state, each)
        events = step_and_check(play, each, waits=waits)
        for event in events:
            if isinstance(event, CardTurned | CardDealt | CardRemoved) and event.card:
                assert may_be_published(event, each, table, seen)
                public.add(event.card)
            if (
                isinstance(event, RoundResult)
                and event.confirmed_by is not None
                and isinstance(outcome_of(event).hands, tuple)
            ):
                public |= {card for hand in outcome_of(event).hands for card in hand.cards}
        # No output names a card before it lies face up
        view = play.game.view(play.state)
        shown = msgspec.json.encode([view.shown, view.history()])
        assert named(b"".join(map(write, events)) + shown) <= public
        assert up(play.state) <= public
        if isinstance(each, CardDrawn) and each.card in DECK:
            assert sealed is not (each.card in public)
    check(play)


def check(play: Play) -> None:
    """Rounds come in their order and have one outcome, which only an unresolved one exchanges for
    another.
    """
    third = play.game.book.third
    assert all(
        (event.missing, event.extra) == ((), ()) for event in of_kind(play.events, ShoeEnded)
    )
    for rounds in sessions_of(
        play.events, RoundOpened, BetsClosed, RoundResult, RoundVoid, RoundUnresolved
    ):
        for of_round in rounds.values():
            outcomes = [
                event
                for event in of_round
                if isinstance(event, RoundResult | RoundVoid | RoundUnresolved)
            ]
            assert sum(isinstance(event, RoundVoid) for event in of_round) <= 1
            for kind in (RoundOpened, BetsClosed):
                assert sum(isinstance(event, kind) for event in of_round) <= 1
            for before, after in pairwise(outcomes):
                assert isinstance(before, RoundUnresolved) or isinstance(after, RoundUnresolved)
                assert not isinstance(before, RoundVoid)
            for event in outcomes:
                if (
                    isinstance(event, RoundResult)
                    and isinstance(outcome_of(event).hands, tuple)
                    and outcome_of(event).hands
                ):
                    player, banker = (hand.cards for hand in outcome_of(event).hands)
                    assert next_card(third, player, banker) is None
                    more = points(player) - points(banker)
                    assert outcome_of(event).winner == (
                        "tie" if more == 0 else "player" if more > 0 else "banker"
                    )


@settings(max_examples=cases(20, 80), deadline=None)
@given(TABLE, SCRIPT, st.integers(0, 1000), st.data())
def test_a_table_continues_from_its_saved_state(
    table: dict[str, Any], script: list[Input], seed: int, data: st.DataObject
) -> None:
    inputs = dealt(script, seed)
    continues(Play(**table), inputs, data.draw(st.integers(0, len(inputs))))
