"""What holds whatever happens at the table: any readings and commands, in any order."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.commands import COMMANDS
from controller.events import (
    AnyEvent,
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
from controller.games.cards import DECK
from controller.games.game import Rejected
from controller.games.trente.rows import is_coup, next_row, points, winner
from controller.games.trente.state import State
from controller.notation import Input, read_event, read_input, write
from devices.readings import CardCut, CardDrawn, LinkGap, LinkLate, LinkLost, LinkUp, Reading, ShoeFault, ShoeReset
from tests.controller.anything import FOREIGN
from tests.controller.games.trente_play import DECREES, Play

TAGS = {command.__struct_config__.tag for command in COMMANDS}
CARD = "card"
"""In the place of the next card of the shoe, each of which is there once, so that it can be found again in what is said."""


def fixed(kind: str, **fields: Any) -> Input:
    assert kind in TAGS
    return read_input(msgspec.json.encode({"at": 1.0, "type": kind, "by": "M. Lasa", "role": "table_head", **fields}))


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
SAID: list[Input] = [
    fixed("session.open"),
    fixed("session.close"),
    fixed("shoe.start", shoe="S1"),
    fixed("shoe.start", shoe=""),
    fixed("shoe.end"),
    fixed("shoe.end", left=3),
    *[fixed("bets.open"), fixed("bets.close")] * 2,
    *[fixed("card.decide", action=action) for action in ("accept", "remove", "next_round")] * 2,
    *[fixed("card.decide", action="read", card=CARD)] * 3,
    *[fixed("card.decide", action="read", card=card) for card in FOREIGN],
    fixed("card.decide", action="for", who="red"),
    fixed("round.void", reason="misdeal"),
    fixed("round.void", reason="cut_card"),
    fixed("round.void", reason="ball_out"),
    fixed("round.void", reason="misdeal", round=1),
    fixed("round.confirm"),
    fixed("round.confirm", winner="black"),
    fixed("round.confirm", winner="tie", round=1),
    fixed("bets.close", role="technician"),
    fixed("result.correct", round=1, winner="red"),
    fixed("hand.draw"),
]
COUP: list[Input] = [fixed("bets.open"), fixed("bets.close"), *[drawn()] * 11, fixed("card.decide", action="remove")]
"""A coup, with cards enough for most; those that some do not need are one by one asked about."""


@st.composite
def disturbed(draw: st.DrawFn) -> list[Input]:
    """A coup in which something is left out or comes between."""
    coup = list(COUP)
    if draw(st.booleans()):
        del coup[draw(st.integers(0, len(coup) - 1))]
    for _ in range(draw(st.integers(1, 4))):
        coup.insert(draw(st.integers(0, len(coup))), draw(st.sampled_from([*ODD, *SAID])))
    return coup


PARTS = st.one_of(st.just(COUP), disturbed(), disturbed(), st.sampled_from([*ODD, *SAID]).map(lambda one: [one]))
SCRIPT = st.lists(PARTS, min_size=1, max_size=7).map(lambda parts: [each for part in parts for each in part])
TABLE = st.fixed_dictionaries({"decree": st.sampled_from(DECREES), "rounds": st.sampled_from(["keys", "keys", "shoe"])})


def with_cards(script: list[Input], seed: int) -> list[Input]:
    """The script with a card of its own wherever one is drawn or read."""
    cards = list(DECK)
    random.Random(seed).shuffle(cards)
    left = iter(cards)
    found: list[Input] = []
    for each in [fixed("session.open"), fixed("shoe.start", shoe="S1"), *script]:
        if getattr(each, "card", None) == CARD:
            card = next(left, None)
            if card is None:
                break
            frame = {"frame": f"<{card}>"} if isinstance(each, CardDrawn) else {}
            each = msgspec.structs.replace(each, card=card, **frame)
        found.append(each)
    return found


def step(play: Play, given_: Input) -> list[AnyEvent]:
    """One input. A command may be rejected, and then nothing has changed; a reading never is."""
    before = play.state
    try:
        return play.take(given_)
    except Rejected:
        if isinstance(given_, Reading) or play.state != before:
            raise
        return []


def named(text: bytes) -> set[str]:
    """The cards that stand in a text, as a word of JSON or in a frame."""
    return {card for card in DECK if f'"{card}"'.encode() in text or f"<{card}>".encode() in text}


@settings(max_examples=300, deadline=None)
@given(TABLE, SCRIPT, st.integers(0, 1000))
def test_whatever_happens(table: dict[str, Any], script: list[Input], seed: int) -> None:
    play = Play(**table)
    public: set[str] = set()
    for each in with_cards(script, seed):
        asks = play.state.asks if play.state.hand else ()
        held = play.state.round
        confidential = play.game.confidential(play.state, each)
        events = step(play, each)
        again = msgspec.json.decode(msgspec.json.encode(play.state), type=State)
        assert again == play.state
        for event in events:
            assert read_event(write(event)) == event
            assert event.session == play.state.session
            if isinstance(event, CardDealt | CardRemoved) and event.card:
                public.add(event.card)
            if isinstance(event, RoundResult) and event.confirmed_by is not None:
                public |= {card for hand in event.hands or () for card in hand.cards}
                public |= named(b"".join((frame.frame or "").encode() for frame in event.frames))
        shown = msgspec.json.encode([play.game.show(again), play.game.history(again)])
        assert named(b"".join(map(write, events)) + shown) <= public
        if isinstance(each, CardDrawn) and each.card in DECK:
            assert confidential is not (each.card in public)
        if asks and isinstance(each, Reading):
            assert not [event for event in events if isinstance(event, RoundResult) and event.round == held]
        check_expected(play)
    check(play)


def check_expected(play: Play) -> None:
    """What was last said of the next card is so: the row that it belongs to, or that none may come."""
    said = [event.to for event in play.events if isinstance(event, CardExpected)]
    hand = play.state.hand
    stopped = hand is None or not hand.closed or bool(play.state.asks)
    expected = None if stopped or hand is None else next_row(hand.known)
    assert (said[-1] if said else None) == play.state.expected == expected


def check(play: Play) -> None:
    """Rounds come in their order and have one outcome, which only an unresolved one exchanges for another."""
    sessions: dict[int, dict[int, list[AnyEvent]]] = {}
    for event in play.events:
        if isinstance(event, RoundOpened | BetsClosed | RoundResult | RoundVoid | RoundUnresolved):
            sessions.setdefault(event.session, {}).setdefault(event.round, []).append(event)
        if isinstance(event, ShoeEnded):
            assert (event.missing, event.extra) == ((), ())
    for rounds in sessions.values():
        assert sorted(rounds) == list(range(1, len(rounds) + 1))
        for said in rounds.values():
            outcomes = [event for event in said if isinstance(event, RoundResult | RoundVoid | RoundUnresolved)]
            for kind in (RoundOpened, BetsClosed, RoundResult, RoundVoid, RoundUnresolved):
                assert sum(isinstance(event, kind) for event in said) <= 1
            for before, _after in pairwise(outcomes):
                assert isinstance(before, RoundUnresolved)
            for event in outcomes:
                if isinstance(event, RoundResult) and event.hands:
                    check_result(event)


def check_result(event: RoundResult) -> None:
    """The cards of a result are one coup, and it says what they make."""
    black, red = (hand.cards for hand in event.hands or ())
    assert is_coup([*black, *red])
    assert event.winner == winner([*black, *red])
    assert all(31 <= points(row) <= 40 for row in (black, red))


@settings(max_examples=80, deadline=None)
@given(TABLE, SCRIPT, st.integers(0, 1000), st.data())
def test_a_table_goes_on_from_what_was_written_down(
    table: dict[str, Any], script: list[Input], seed: int, data: st.DataObject
) -> None:
    play, other = Play(**table), Play(**table)
    inputs = with_cards(script, seed)
    at = data.draw(st.integers(0, len(inputs)))
    for number, each in enumerate(inputs):
        if number == at:
            other.state = msgspec.json.decode(msgspec.json.encode(play.state), type=State)
        events = step(play, each)
        if number >= at:
            assert step(other, each) == events
            assert other.state == play.state


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(DECREES), st.integers(0, 10**6), st.integers(200, 311))
def test_any_shoe_comes_to_its_end(decree: str, seed: int, at: int) -> None:
    """Wherever the cut card lies, all cards before it are dealt, and every round before it has its result."""
    play = Play(decree, rounds="shoe")
    cards = list(DECK) * 6
    random.Random(seed).shuffle(cards)
    play.open()
    play.cards(" ".join(cards[:at]))
    play.cut()
    play.cards(" ".join(cards[at:]))
    play.say("shoe.end")
    assert [event.card for event in play.events if isinstance(event, CardDealt)] == cards[:at]
    results = [event for event in play.events if isinstance(event, RoundResult)]
    voids = [event for event in play.events if isinstance(event, RoundVoid)]
    assert [event.round for event in (*results, *voids)] == list(range(1, play.state.round + 1))
    assert len(voids) <= 1
