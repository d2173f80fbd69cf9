"""The course of a coup: order, naturals, every cell of the third-card table, results, and what
stays hidden until it is turned.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import (
    BetsClosed,
    CardDealt,
    CardTurned,
    HandDecided,
    Irregularity,
    LastRounds,
    RoundOpened,
    RoundResult,
)
from common.contract.notation import write
from common.contract.refusals import RejectedError
from common.readings import ShoeResult
from tests.support.for_each import for_each
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import history, outcome_of, shown
from tests.support.games.play import confidential, of_kind, only
from tests.support.games.punto_banca_play import DECREES, Play, expected

every = pytest.mark.parametrize("decree", DECREES)
TWO = {
    0: "Kc Qd",
    1: "Kc Ad",
    2: "Kc 2d",
    3: "Kc 3d",
    4: "Kc 4d",
    5: "Kc 5d",
    6: "Kc 6d",
    7: "Kc 7d",
}
"""Two cards for each total."""
THIRD = {0: "Th", 1: "Ah", 2: "2h", 3: "3h", 4: "4h", 5: "5h", 6: "6h", 7: "7h", 8: "8h", 9: "9h"}
DRAWS = {
    0: range(10),
    1: range(10),
    2: range(10),
    3: [0, 1, 2, 3, 4, 5, 6, 7, 9],
    4: [2, 3, 4, 5, 6, 7],
    5: [4, 5, 6, 7],
    6: [6, 7],
    7: [],
}
"""The player's third cards on which the bank draws, written out independently."""


def four(player: int | str, banker: int | str) -> str:
    """The first four cards in their order, for two hands with these totals or of these cards."""
    a, c = (TWO[player] if isinstance(player, int) else player).split()
    b, d = (TWO[banker] if isinstance(banker, int) else banker).split()
    return f"{a} {b} {c} {d}"


def table(decree: str, **settings: Any) -> Play:
    play = Play(decree, **settings)
    play.open()
    return play


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-101", "ARA02-079", "EUS96-122 EUS96-124", "GAL07-089")
)
@for_each("bank", range(8))
def test_the_bank_follows_the_table_where_the_player_drew(decree: str, bank: int) -> None:
    for third, card in THIRD.items():
        play = table(decree)
        play.bets()
        play.cards(four(0, bank))
        events = play.send("cards.turn")
        assert [(event.who, event.decision) for event in of_kind(events, HandDecided)] == [
            ("player", "draw")
        ]
        assert expected(events) == ["player"]
        play.cards(card)
        events = play.send("cards.turn")
        draws = third in DRAWS[bank]
        assert [(event.who, event.decision) for event in of_kind(events, HandDecided)] == [
            ("banker", "draw" if draws else "stand")
        ]
        assert expected(events) == (["banker"] if draws else [])
        if draws:
            play.cards("Ts")
            events = play.send("cards.turn")
        result = only(events, RoundResult)
        assert [len(hand.cards) for hand in outcome_of(result).hands] == [3, 3 if draws else 2]
        assert [hand.points for hand in outcome_of(result).hands] == [third, bank]


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-101", "ARA02-079", "EUS96-122 EUS96-124", "GAL07-089")
)
@for_each("bank", range(8))
@for_each("player", [6, 7])
def test_the_bank_follows_the_table_where_the_player_stood(
    decree: str, player: int, bank: int
) -> None:
    play = table(decree)
    play.bets()
    play.cards(four(player, bank))
    events = play.send("cards.turn")
    draws = bank <= 5
    told = [("player", "stand"), ("banker", "draw" if draws else "stand")]
    assert [(event.who, event.decision) for event in of_kind(events, HandDecided)] == told
    assert expected(events) == (["banker"] if draws else [])
    assert bool(of_kind(events, RoundResult)) is not draws


@pytest.mark.parametrize("decree", by_decree("BAL05-100", "ARA02-078", "EUS96-121", "GAL07-089"))
@for_each("player", range(8))
def test_the_player_draws_to_five_and_the_croupier_announces_it(decree: str, player: int) -> None:
    play = table(decree)
    play.bets()
    play.cards(four(player, 7))
    decided = of_kind(play.send("cards.turn"), HandDecided)[0]
    assert (decided.who, decided.decision) == ("player", "draw" if player <= 5 else "stand")
    assert decided.announcement is not None
    [words] = decided.announcement.values()
    assert (
        words
        == {
            "BAL05": "Carta per al jugador" if player <= 5 else f"El jugador es planta {player}",
            "ARA02": "carta para el jugador" if player <= 5 else f"el jugador se planta ({player})",
            "EUS96": "karta jokalariaientzat"
            if player <= 5
            else f"Jokalariai planto egiten du {player}",
            "GAL07": "Carta para a persoa xogadora"
            if player <= 5
            else f"A persoa xogadora plántase {player}",
        }[decree]
    )


@for_each("decree", by_decree("BAL05-099", "ARA02-077", "EUS96-120", "GAL07-088"))
@for_each(
    ("player", "banker", "naturals"),
    [
        ("Kc 8d", 0, ["player"]),
        (0, "4c 5d", ["banker"]),
        ("Kc 9d", "4h 4s", ["player", "banker"]),
        ("3c 5c", 7, ["player"]),
    ],
)
def test_a_natural_ends_the_coup(
    decree: str, player: Any, banker: Any, naturals: list[str]
) -> None:
    play = table(decree)
    play.bets()
    play.cards(four(player, banker))
    events = play.send("cards.turn")
    assert [event.who for event in of_kind(events, HandDecided)] == naturals
    assert expected(events) == []
    result = only(events, RoundResult)
    assert "natural" in outcome_of(result).marks
    assert [hand.who for hand in outcome_of(result).hands if hand.kind == "natural"] == naturals


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-097", "ARA02-075", "EUS96-119", "GAL07-087 GAL07-095")
)
def test_player_bank_player_bank(decree: str) -> None:
    play = table(decree)
    events = [
        *play.bets(),
        *play.cards(four(0, 0)),
        *play.send("cards.turn"),
        *play.cards("2c"),
        *play.send("cards.turn"),
    ]
    assert expected(events) == [
        "player",
        "banker",
        "player",
        "banker",
        None,
        "player",
        None,
        "banker",
    ]
    dealt = [(event.to, event.index) for event in of_kind(events, CardDealt)]
    assert dealt == [("player", 1), ("banker", 1), ("player", 2), ("banker", 2), ("player", 3)]


@pytest.mark.rule("ARA02-081", "BAL05-102", "ARA02-083", "GAL07-091", "GAL07-093", "EUS96-127")
@every
@for_each(
    ("player", "banker", "winner", "outcomes", "marks"),
    [
        (7, 6, "player", ["win", "lose"], ()),
        (6, 7, "banker", ["lose", "win"], ()),
        (7, 7, "tie", ["tie", "tie"], ("tie",)),
        ("7c Kh", "7d Ks", "tie", ["tie", "tie"], ("tie",)),
        ("3c 3h", "Kd Ks", None, ["win", "lose"], ()),
    ],
)
def test_the_higher_total_wins(
    decree: str, player: Any, banker: Any, winner: str | None, outcomes: list[str], marks: Any
) -> None:
    play = table(decree)
    play.bets()
    events = [*play.cards(four(player, banker)), *play.send("cards.turn")]
    if not of_kind(events, RoundResult):
        events = [*play.cards("5c"), *play.send("cards.turn")]
        winner, marks = "player", ("pair_player", "pair_banker")
    result = only(events, RoundResult)
    assert (
        outcome_of(result).winner,
        [hand.outcome for hand in outcome_of(result).hands],
        outcome_of(result).marks,
    ) == (
        winner,
        outcomes,
        marks,
    )


def test_the_fields_of_a_result() -> None:
    play = table("ARA02")
    play.coup("3c Kd 3h 7s")
    [line] = history(play)
    hands = line["outcome"].pop("hands")
    assert {hand["who"]: hand["points"] for hand in hands} == {"player": 6, "banker": 7}
    assert line == {
        "round": 1,
        "kind": "result",
        "outcome": {"family": "baccarat", "winner": "banker", "marks": ["pair_player"]},
        "corrected": False,
    }
    shown = play.shown
    assert (shown["phase"], shown["last_winner"], shown["round"], shown["hands"]) == (
        "waiting",
        "banker",
        1,
        {},
    )


# Unturned cards are not published


@pytest.mark.rule("GAL07-058")
@every
def test_a_card_is_published_when_it_is_turned(decree: str) -> None:
    play = table(decree)
    play.sealed.clear()
    events = [*play.bets(), *play.cards("Kc Qd 4h 6s")]
    told = b"\n".join(map(write, events)).decode()
    assert not any(
        card in told or f"frame {n}" in told for n, card in enumerate(["Kc", "Qd", "4h", "6s"], 5)
    )
    assert play.sealed == ["Kc", "Qd", "4h", "6s"]
    assert play.shown["hands"] == {"player": [None, None], "banker": [None, None]}
    events = play.send("cards.turn", who="player")
    assert [event.card for event in of_kind(events, CardTurned)] == ["Kc", "4h"]
    assert of_kind(events, HandDecided) == []
    assert play.shown["hands"] == {"player": ["Kc", "4h"], "banker": [None, None]}
    events = play.send("cards.turn", who="banker")
    assert [event.card for event in of_kind(events, CardTurned)] == ["Qd", "6s"]
    assert [(event.who, event.decision) for event in of_kind(events, HandDecided)] == [
        ("player", "draw")
    ]
    [dealt] = of_kind(play.cards("9d"), CardDealt)
    assert (dealt.to, dealt.index, dealt.card) == ("player", 3, None)
    events = play.send("cards.turn", who="player")
    assert [event.card for event in of_kind(events, CardTurned)] == ["9d"]
    assert play.evidence(only(events, RoundResult)) == [f"frame {n}" for n in (7, 8, 9, 10, 13)]


def test_only_existing_cards_are_turned_and_once() -> None:
    play = table("ARA02")
    with pytest.raises(RejectedError, match="no round in progress"):
        play.send("cards.turn")
    play.bets()
    play.cards("Kc Qd 4h")
    with pytest.raises(RejectedError, match="only 3 of the first four cards have come"):
        play.send("cards.turn")
    play.cards("6s")
    with pytest.raises(RejectedError, match="who must be one of: player, banker"):
        play.send("cards.turn", who="bank")
    play.send("cards.turn", who="player")
    with pytest.raises(RejectedError, match="already face up"):
        play.send("cards.turn", who="player")


@every
def test_a_table_that_turns_at_once(decree: str) -> None:
    play = table(decree, turn="when_complete")
    play.sealed.clear()
    play.bets()
    events = play.cards("Kc Qd 4h")
    assert of_kind(events, CardTurned) == []
    assert [event.card for event in of_kind(events, CardDealt)] == [None] * 3
    events = play.cards("6s")
    assert [event.card for event in of_kind(events, CardTurned)] == ["Kc", "4h", "Qd", "6s"]
    assert expected(events) == ["player"]
    [dealt] = of_kind(play.cards("6h"), CardDealt)
    assert dealt.card == "6h"
    assert play.sealed == ["Kc", "Qd", "4h"]


@pytest.mark.parametrize("decree", ["BAL05", "EUS96", "GAL07"])
def test_a_reduced_table_may_deal_face_up(decree: str) -> None:
    play = table(decree, table="mini", dealt="face_up", third_card="face_up")
    play.sealed.clear()
    play.bets()
    events = play.cards("Kc Qd 4h 6s 6h Ts")
    assert [event.card for event in of_kind(events, CardDealt)][:5] == [
        "Kc",
        "Qd",
        "4h",
        "6s",
        "6h",
    ]
    assert play.sealed == []
    assert play.shown["seats"] == 7


@pytest.mark.parametrize(
    ("decree", "settings", "says"),
    [
        ("ARA02", {"dealt": "face_up"}, "dealt: at the full table .* face down"),
        ("ARA02", {"dealt": "face_up", "table": "mini"}, "dealt: at the mini table"),
        ("GAL07", {"dealt": "face_up"}, "dealt: at the full table"),
        ("GAL07", {"modality": "half_on_six"}, "modality: the decree has the commission only"),
    ],
)
def test_a_setting_against_the_decree_is_refused(
    decree: str, settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        Play(decree, **settings)


# Bets


@pytest.mark.parametrize("decree", by_decree("BAL05-105", "ARA02-074", "EUS96-119", "GAL07-094"))
def test_cards_come_after_the_call(decree: str) -> None:
    play = table(decree)
    opened = only(play.send("bets.open", role="croupier"), RoundOpened)
    events = play.send("bets.close", role="croupier")
    words = {
        "BAL05": "prou apostes",
        "ARA02": "no va más",
        "EUS96": "besterik ez",
        "GAL07": "Non vai máis",
    }
    assert opened.round == 1
    closed = only(events, BetsClosed)
    assert closed.announcement is not None
    assert [*closed.announcement.values()] == [words[decree]]
    assert (closed.by, closed.unobserved, expected(events)) == ("M. Lasa", False, ["player"])


@every
def test_without_keys_the_first_card_opens_the_round(decree: str) -> None:
    play = table(decree, rounds="shoe", turn="when_complete")
    events = play.cards("Kc Qd 4h 6s 5h")
    assert only(events, RoundOpened).by is None
    assert only(events, BetsClosed).unobserved
    assert outcome_of(only(events, RoundResult)).winner == "player"
    events = play.cards("Kc")
    assert only(events, RoundOpened).round == 2


@pytest.mark.rule("EUS96-128")
def test_the_other_modality_of_the_basque_decree() -> None:
    play = table("EUS96", modality="half_on_six")
    play.coup(four(0, 6) + " 2c")
    result = of_kind(play.events, RoundResult)[0]
    assert (outcome_of(result).winner, outcome_of(result).marks) == ("banker", ("banker_six",))
    assert play.shown["commission"] == [1, 2]
    assert shown(table("EUS96").game, play.state)["commission"] == [1, 20]


@pytest.mark.rule("EUS96-056")
def test_the_last_three_hands_are_announced_with_a_continuous_shoe_too() -> None:
    play = Play("EUS96", continuous=True)
    play.open(burn="")
    play.coup(four(7, 6))
    events = play.send("last_rounds.announce", role="croupier")
    assert only(events, LastRounds).announcement == {"eu": "azken hiru eskuak"}
    left = [only(play.coup(four(7, 6)), LastRounds).left for _ in range(3)]
    assert left == [2, 1, 0]
    with pytest.raises(RejectedError, match="have been played"):
        play.coup(four(7, 6))
    with pytest.raises(RejectedError, match="already announced"):
        play.send("last_rounds.announce")
    with pytest.raises(RejectedError, match="no announcement of last rounds"):
        table("ARA02").send("last_rounds.announce")


# The shoe's own verdict


def test_a_shoe_that_agrees_is_silent() -> None:
    play = table("ARA02")
    play.coup(four(7, 6))
    assert play.verdict("player") == []
    assert play.verdict("banker") == []  # reported once, the next is of no round
    play.coup(four("7c Ks", "3h 3d"))
    assert play.verdict("player", pairs=("banker",)) == []


@every
def test_a_shoe_that_disagrees_afterwards_makes_the_round_unresolved(decree: str) -> None:
    play = table(decree)
    play.coup(four(7, 6))
    events = play.verdict("banker")
    irregularity = only(events, Irregularity)
    assert (irregularity.what, irregularity.asks) == (
        "witnesses_disagree",
        ("round.confirm", "round.void"),
    )
    assert play.shown["unresolved"] == [1]
    result = only(play.send("round.confirm"), RoundResult)
    assert (outcome_of(result).winner, result.confirmed_by) == ("player", "M. Lasa (table_head)")
    assert [hand.cards for hand in outcome_of(result).hands] == [("Kc", "7d"), ("Kc", "6d")]


def test_a_result_may_wait_for_the_shoe() -> None:
    play = table("ARA02", witness="awaited")
    play.bets()
    play.cards(four(7, 6))
    assert of_kind(play.send("cards.turn"), RoundResult) == []
    result = only(play.verdict("player"), RoundResult)
    assert play.evidence(result)[-1] == "verdict"


@pytest.mark.parametrize("winner", ["banker", "tie"])
def test_a_shoe_that_disagrees_before_leaves_the_round_unresolved(winner: Any) -> None:
    play = table("ARA02")
    play.bets()
    play.cards(four(7, 6))
    assert confidential(play.game, play.state, ShoeResult(at=1.0, winner=winner))
    assert play.verdict(winner) == []
    events = play.send("cards.turn")
    assert of_kind(events, RoundResult) == []
    assert only(events, Irregularity).what == "witnesses_disagree"
    assert outcome_of(only(play.send("round.confirm", winner="tie"), RoundResult)).winner == "tie"


def test_a_shoe_that_ends_the_round_too_early() -> None:
    play = table("ARA02")
    play.bets()
    play.cards("Kc Qd 4h")
    events = play.verdict("player")
    assert [event.what for event in of_kind(events, Irregularity)] == ["witnesses_disagree"]
    assert play.shown["unresolved"] == [1]
    play.coup(four(7, 6))  # the next round is a new one
    play.bets()
    play.cards(four(0, 0))
    play.verdict("tie")
    events = play.send("cards.turn")
    assert only(events, Irregularity).detail == "the shoe says tie, a card is missing"
