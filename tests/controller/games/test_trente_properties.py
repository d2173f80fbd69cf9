"""Invariants of the table for any readings and commands, in any order."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.events import (
    BetsClosed,
    CardDealt,
    CardExpected,
    CardRemoved,
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
)
from controller.games.cards import DECK
from controller.games.trente.rows import is_coup, next_row, points, winner
from tests.conftest import cases
from tests.support.games.anything import FOREIGN
from tests.support.games.holds import continues, sessions_of, step_and_check
from tests.support.games.outcomes import outcome_of
from tests.support.games.own_cards import CARD, named, with_cards
from tests.support.games.play import confidential, make_command, of_kind
from tests.support.games.trente_play import DECREES, Play


def drawn(card: str | None = CARD, **fields: Any) -> Input:
    return CardDrawn(at=1.0, device="shoe", card=card, **fields)


ODD: list[Input] = [
    *[drawn()] * 12,
    drawn(None),
    drawn(None),
    *map(drawn, FOREIGN),
    drawn(unsure=True),
    drawn(late=True),
    drawn(None, late=True),
    drawn("Xx", late=True),
    CardCut(at=1.0, device="shoe"),
    ShoeReset(at=1.0, device="shoe"),
    ShoeFault(at=1.0, device="shoe", fault="overdraw", active=True),
    ShoeFault(at=1.0, device="shoe", fault="overdraw", active=False),
    LinkLost(at=1.0, reason="unplugged"),
    LinkUp(at=1.0),
    LinkGap(at=1.0, lost=1),
    LinkLate(at=1.0, frames=1, silence=2.0),
]
COMMANDS_BY_PEOPLE: list[Input] = [
    make_command("session.open"),
    make_command("session.close"),
    make_command("shoe.start", shoe="S1"),
    make_command("shoe.start", shoe=""),
    make_command("shoe.end"),
    make_command("shoe.end", left=3),
    *[make_command("bets.open"), make_command("bets.close")] * 2,
    *[make_command("card.decide", action=action) for action in ("accept", "remove", "next_round")]
    * 2,
    *[make_command("card.decide", action="read", card=CARD)] * 3,
    *[make_command("card.decide", action="read", card=card) for card in FOREIGN],
    make_command("card.decide", action="for", who="red"),
    make_command("round.void", reason="misdeal"),
    make_command("round.void", reason="cut_card"),
    make_command("round.void", reason="ball_out"),
    make_command("round.void", reason="misdeal", round=1),
    make_command("round.confirm"),
    make_command("round.confirm", winner="black"),
    make_command("round.confirm", winner="tie", round=1),
    make_command("bets.close", role="technician"),
    make_command("result.correct", round=1, winner="red"),
    make_command("hand.draw"),
]
COUP: list[Input] = [
    make_command("bets.open"),
    make_command("bets.close"),
    *[drawn()] * 11,
    make_command("card.decide", action="remove"),
]
"""A coup, with cards enough for most; a person is asked about each that some do not need."""


@st.composite
def disturbed(draw: st.DrawFn) -> list[Input]:
    """A coup in which something is left out or inserted."""
    coup = list(COUP)
    if draw(st.booleans()):
        del coup[draw(st.integers(0, len(coup) - 1))]
    for _ in range(draw(st.integers(1, 4))):
        coup.insert(
            draw(st.integers(0, len(coup))), draw(st.sampled_from([*ODD, *COMMANDS_BY_PEOPLE]))
        )
    return coup


PARTS = st.one_of(
    st.just(COUP),
    disturbed(),
    disturbed(),
    st.sampled_from([*ODD, *COMMANDS_BY_PEOPLE]).map(lambda one: [one]),
)
SCRIPT = st.lists(PARTS, min_size=1, max_size=7).map(
    lambda parts: [each for part in parts for each in part]
)
TABLE = st.fixed_dictionaries(
    {"decree": st.sampled_from(DECREES), "rounds": st.sampled_from(["keys", "keys", "shoe"])}
)


def dealt(script: list[Input], seed: int) -> list[Input]:
    """The script with unique cards."""
    cards = list(DECK)
    random.Random(seed).shuffle(cards)
    return with_cards(
        [make_command("session.open"), make_command("shoe.start", shoe="S1"), *script], cards
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
        sealed = confidential(play.game, play.state, each)
        events = step_and_check(play, each, waits=waits)
        for event in events:
            if isinstance(event, CardDealt | CardRemoved) and event.card:
                public.add(event.card)
            if isinstance(event, RoundResult) and event.confirmed_by is not None:
                public |= {card for hand in outcome_of(event).hands for card in hand.cards}
        view = play.game.view(play.state)
        shown = msgspec.json.encode([view.shown, view.history()])
        assert named(b"".join(map(write, events)) + shown) <= public
        if isinstance(each, CardDrawn) and each.card in DECK:
            assert sealed is not (each.card in public)
        check_expected(play)
    check(play)


def check_expected(play: Play) -> None:
    """The last report about the next card is right: the row that it belongs to, or that none may
    come.
    """
    make_command = [event.to for event in play.events if isinstance(event, CardExpected)]
    hand = play.state.current
    stopped = hand is None or not hand.closed or bool(play.state.asks)
    expected = None if stopped or hand is None else next_row(hand.known)
    assert (make_command[-1] if make_command else None) == play.state.expected == expected


def check(play: Play) -> None:
    """Rounds come in their order and have one outcome, which only an unresolved one exchanges for
    another.
    """
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
            for kind in (RoundOpened, BetsClosed, RoundResult, RoundVoid, RoundUnresolved):
                assert sum(isinstance(event, kind) for event in of_round) <= 1
            for before, _after in pairwise(outcomes):
                assert isinstance(before, RoundUnresolved)
            for event in outcomes:
                if isinstance(event, RoundResult) and outcome_of(event).hands:
                    check_result(event)


def check_result(event: RoundResult) -> None:
    """The cards of a result are one coup, and it states their totals."""
    black, red = (hand.cards for hand in outcome_of(event).hands)
    assert is_coup([*black, *red])
    assert outcome_of(event).winner == (winner([*black, *red]) or "tie")
    assert all(31 <= points(row) <= 40 for row in (black, red))


@settings(max_examples=cases(20, 80), deadline=None)
@given(TABLE, SCRIPT, st.integers(0, 1000), st.data())
def test_a_table_continues_from_its_saved_state(
    table: dict[str, Any], script: list[Input], seed: int, data: st.DataObject
) -> None:
    inputs = dealt(script, seed)
    continues(Play(**table), inputs, data.draw(st.integers(0, len(inputs))))


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(DECREES), st.integers(0, 10**6), st.integers(200, 311))
def test_any_shoe_reaches_its_end(decree: str, seed: int, at: int) -> None:
    """Wherever the cut card lies, all cards before it are dealt, and every round before it has its
    result.
    """
    play = Play(decree, rounds="shoe")
    cards = list(DECK) * 6
    random.Random(seed).shuffle(cards)
    play.open()
    play.cards(" ".join(cards[:at]))
    play.cut()
    play.cards(" ".join(cards[at:]))
    play.send("shoe.end")
    assert [event.card for event in play.events if isinstance(event, CardDealt)] == cards[:at]
    results = [event for event in play.events if isinstance(event, RoundResult)]
    voids = [event for event in play.events if isinstance(event, RoundVoid)]
    assert [event.round for event in (*results, *voids)] == list(range(1, play.state.round + 1))
    assert len(voids) <= 1
