"""The wheel of fortune: rounds in the decrees' order, the symbol under the tongue, and each bet's
outcome and pay.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from common.contract.events import (
    BetsClosed,
    BetsLastCall,
    Irregularity,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from common.contract.events import RoundVoid as Null
from common.contract.refusals import RejectedError
from common.readings import WheelFaultName
from controller.games.fortune.game import FortuneGame
from controller.games.fortune.settings import BREACHES
from tests.controller.games.test_boule_rounds import cases
from tests.support.for_each import for_each
from tests.support.games.cells_play import DECREES, Play, table
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only, whats

WHEEL = "fortune-wheel"
every = pytest.mark.parametrize("decree", DECREES)

CALLS = {
    "BAL05": ("facin joc", "prou apostes"),
    "ARA02": ("hagan sus apuestas", "no va más"),
    "EUS96": ("egin itzazue apustuak", "egin dituzue apustuak?", "besterik ez"),
    "GAL07": ("Fagan as súas apostas", "Non vai máis"),
}
COUNTS: dict[str, dict[Any, int]] = {
    "BAL05": {24: 24, 15: 15, 7: 7, 4: 4, 2: 2, "joker_red": 1, "joker_black": 1},
    "ARA02": {1: 32, 2: 16, 5: 8, 10: 4, 20: 2, 40: 2},
    "EUS96": {24: 24, 15: 15, 7: 7, 4: 4, 2: 2, "joker": 2},
    "GAL07": {24: 24, 15: 15, 7: 7, 4: 4, 2: 2, "joker_red": 1, "joker_black": 1},
}
PAYS: dict[str, dict[str, int]] = {
    "BAL05": {"24": 1, "15": 2, "7": 5, "4": 10, "2": 20, "joker_red": 45, "joker_black": 45},
    "ARA02": {"1": 1, "2": 2, "5": 5, "10": 10, "20": 20, "40": 40},
    "EUS96": {"24": 1, "15": 1, "7": 5, "4": 10, "2": 20, "joker": 45},
    "GAL07": {"24": 1, "15": 2, "7": 5, "4": 10, "2": 20, "joker_red": 45, "joker_black": 45},
}


# The course


@for_each("decree", cases("BAL05-050", "ARA02-150", "EUS96-045", "GAL07-038"))
@for_each("phases", ["person", "device"])
def test_the_calls_come_in_their_order(decree: str, phases: str) -> None:
    play = table(WHEEL, decree, phases=phases)
    events = play.spin(3, 1) if phases == "person" else play.alone(3, 1)
    calls = [
        event for event in events if isinstance(event, RoundOpened | BetsLastCall | BetsClosed)
    ][: len(CALLS[decree])]
    assert [list((event.announcement or {}).values()) for event in calls] == [
        [call] for call in CALLS[decree]
    ]
    assert isinstance(events[len(calls)], RoundResult)


@pytest.mark.parametrize("decree", cases("BAL05-050", "ARA02-150", "EUS96-045", "GAL07-038"))
def test_a_wheel_that_stops_before_no_more_bets_has_no_result(decree: str) -> None:
    play = table(WHEEL, decree)
    play.send("bets.open")
    play.phase("launched", 1)
    play.phase("settled", 1)
    events = play.cell(2, 1)
    assert whats(events) == ["before_no_more_bets", "round.unresolved"]
    unresolved = only(events, RoundUnresolved)
    result = only(play.send("round.confirm"), RoundResult)
    assert (outcome_of(result).number, outcome_of(result).cell) == (unresolved.candidate, 2)


@pytest.mark.parametrize("decree", cases("BAL05-051", "ARA02-150", "GAL07-039"))
def test_a_cell_reported_while_the_wheel_turns_waits_until_it_stops(decree: str) -> None:
    play = table(WHEEL, decree)
    play.until_closed(1)
    assert play.cell(2, 1) == []
    assert play.cell(3, 1) == []
    assert outcome_of(only(play.phase("settled", 1), RoundResult)).cell == 3


@pytest.mark.parametrize("decree", cases("BAL05-050", "EUS96-046", "GAL07-038"))
def test_a_bet_after_no_more_bets_is_refused(decree: str) -> None:
    play = table(WHEEL, decree)
    play.send("bets.open")
    assert play.send("bet.place", "croupier", who="seat:1", bet="2")
    play.send("bets.close")
    with pytest.raises(RejectedError, match=f"return the chips: {decree}-"):
        play.send("bet.place", who="seat:1", bet="2")


# The symbols


@pytest.mark.parametrize(
    "decree", cases("BAL05-048", "ARA02-149", "EUS96-041 EUS96-042", "GAL07-036")
)
def test_every_cell_has_its_symbol(decree: str) -> None:
    play = table(WHEEL, decree)
    cells = play.shown["cells"]
    for cell, symbol in enumerate(cells, 1):
        result = only(play.spin(cell, cell), RoundResult)
        assert (outcome_of(result).cell, outcome_of(result).number) == (cell, symbol)
    assert Counter(cells) == COUNTS[decree]
    assert len(cells) == (64 if decree == "ARA02" else 54)
    assert play.shown["counts"] == {str(symbol): count for symbol, count in COUNTS[decree].items()}


@pytest.mark.parametrize("decree", cases("BAL05-048", "EUS96-043"))
def test_an_invalid_cell_or_symbol_is_no_result(decree: str) -> None:
    play = table(WHEEL, decree)
    play.until_closed(1)
    play.phase("settled", 1)
    assert whats(play.cell(55, 1)) == ["number_invalid", "number_unknown", "round.unresolved"]
    with pytest.raises(RejectedError, match=r"the wheel has no number 3; numbers: .*24"):
        play.send("round.confirm", number=3)
    result = only(play.send("round.confirm", number=24), RoundResult)
    assert (outcome_of(result).number, outcome_of(result).cell) == (24, None)


@every
def test_the_symbol_may_be_claimed_without_its_cell(decree: str) -> None:
    play = table(WHEEL, decree)
    play.until_closed(1)
    play.phase("settled", 1)
    result = only(play.number(2, 1), RoundResult)
    assert (outcome_of(result).number, outcome_of(result).cell) == (2, None)


# Outcomes and pay of bets


@pytest.mark.parametrize("decree", cases("BAL05-049", "EUS96-047", "GAL07-037"))
def test_one_bet_wins_and_pays_and_the_others_lose(decree: str) -> None:
    play = table(WHEEL, decree)
    for cell, symbol in enumerate(play.shown["cells"], 1):
        result = only(play.spin(cell, cell), RoundResult)
        assert isinstance(result.bets, tuple)
        assert [bet.bet for bet in result.bets] == list(PAYS[decree])
        [won] = [bet for bet in result.bets if bet.outcome == "win"]
        assert (won.bet, won.pays) == (str(symbol), (PAYS[decree][str(symbol)], 1))
        assert {(bet.outcome, bet.pays) for bet in result.bets if bet is not won} == {
            ("lose", None)
        }


def test_in_aragon_a_bet_pays_its_number() -> None:
    play = table(WHEEL, "ARA02")
    for cell in range(1, 65):
        result = only(play.spin(cell, cell), RoundResult)
        assert isinstance(result.bets, tuple)
        assert [bet.pays for bet in result.bets if bet.outcome == "win"] == [
            (outcome_of(result).number, 1)
        ]


@pytest.mark.rule("EUS96-047")
@for_each(
    ("settings", "symbol", "pays"),
    [
        ({}, 24, (1, 1)),
        ({}, 15, (1, 1)),
        ({"pays_24": "0 to 1"}, 24, (0, 1)),
        ({"pays_24": "1 to 1"}, 24, (1, 1)),
        ({"pays_15": "2 to 1"}, 15, (2, 1)),
        ({"pays_15": "2 to 1", "pays_24": "0 to 1"}, 7, (5, 1)),
    ],
)
def test_where_the_print_is_in_doubt_the_settings_fix_the_pay(
    settings: Any, symbol: int, pays: tuple[int, int]
) -> None:
    play = table(WHEEL, "EUS96", **settings)
    result = only(play.spin(play.shown["cells"].index(symbol) + 1, 1), RoundResult)
    assert isinstance(result.bets, tuple)
    assert [bet.pays for bet in result.bets if bet.outcome == "win"] == [pays]


@pytest.mark.parametrize("decree", ["BAL05", "ARA02", "GAL07"])
def test_where_the_print_is_clear_there_is_no_setting(decree: str) -> None:
    for setting, choice in (("pays_24", "1 to 1"), ("pays_15", "2 to 1"), ("jokers", "two")):
        with pytest.raises(ValueError, match=f"{setting}: .* leaves no choice here"):
            Play(WHEEL, decree, **{setting: choice})


def test_the_two_basque_jokers_may_be_two_bets() -> None:
    play = table(WHEEL, "EUS96", jokers="two")
    assert Counter(play.shown["cells"]) == COUNTS["BAL05"]
    result = only(play.spin(1, 1), RoundResult)
    assert isinstance(result.bets, tuple)
    assert [(bet.bet, bet.pays) for bet in result.bets if bet.outcome == "win"] == [
        ("joker_red", (45, 1))
    ]
    assert outcome_of(result).number == "joker_red"


def test_a_correction_settles_the_bets_again() -> None:
    play = table(WHEEL, "ARA02")
    play.spin(8, 1)
    corrected = only(play.send("result.correct", round=1, number=40), ResultCorrected)
    assert isinstance(corrected.bets, tuple)
    assert (corrected.was, [bet.bet for bet in corrected.bets if bet.outcome == "win"]) == (
        10,
        ["40"],
    )
    assert history(play)[0]["outcome"]["cell"] is None


EDGES: dict[str, dict[str, Fraction]] = {
    "BAL05": {
        "24": Fraction(1, 9),
        "15": Fraction(1, 6),
        "7": Fraction(2, 9),
        "4": Fraction(5, 27),
        "2": Fraction(2, 9),
    },
    "ARA02": {
        "1": Fraction(0),
        "2": Fraction(1, 4),
        "5": Fraction(1, 4),
        "10": Fraction(5, 16),
        "20": Fraction(11, 32),
        "40": Fraction(-9, 32),
    },
    "EUS96": {
        "24": Fraction(1, 9),
        "15": Fraction(4, 9),
        "7": Fraction(2, 9),
        "4": Fraction(5, 27),
        "2": Fraction(2, 9),
    },
}
EDGES["BAL05"] |= {"joker_red": Fraction(4, 27), "joker_black": Fraction(4, 27)}
EDGES["EUS96"] |= {"joker": Fraction(-19, 27)}
EDGES["GAL07"] = EDGES["BAL05"]


@every
def test_the_house_edge_of_each_bet_follows_from_cells_and_pays(decree: str) -> None:
    """As printed, Aragón's bet on 1 is even and its bet on 40 is better than that, and so are the
    two Basque jokers.
    """
    play = table(WHEEL, decree)
    won: dict[str, Fraction] = dict.fromkeys(EDGES[decree], Fraction(0))
    cells = len(play.shown["cells"])
    for cell in range(1, cells + 1):
        result = only(play.spin(cell, cell), RoundResult)
        assert isinstance(result.bets, tuple)
        for bet in result.bets:
            won[bet.bet] += Fraction(*bet.pays) if bet.pays else -1
    assert {bet: -each / cells for bet, each in won.items()} == EDGES[decree]


# Faults

FAULTS: tuple[WheelFaultName, ...] = ("between", "too_few_turns", "reversed")


@for_each("fault", FAULTS)
@every
def test_a_fault_of_the_wheel_asks(decree: str, fault: WheelFaultName) -> None:
    play = table(WHEEL, decree)
    play.until_closed(1)
    events = play.fault(fault)
    assert only(events, Irregularity).asks == ("round.confirm", "round.void")
    play.phase("settled", 1)
    assert play.cell(2, 1) == []
    play.again()
    assert only(play.send("round.void", reason="inspector"), Null).law.startswith(decree)
    assert only(play.spin(2, 2), RoundResult).round == 2


@pytest.mark.rule("EUS96-044")
@pytest.mark.parametrize(("turns", "asks"), [(2, True), (3, False), (None, False)])
def test_too_few_turns_ask(turns: int | None, asks: bool) -> None:
    play = table(WHEEL, "EUS96")
    said = play.spin(2, 1, turns=turns)
    assert ("too_few_turns" in whats(said)) == asks
    if asks:
        assert outcome_of(only(play.send("round.confirm"), RoundResult)).cell == 2
    assert outcome_of(only(play.events, RoundResult)).number == play.shown["cells"][1]


@pytest.mark.rule("EUS96-044")
def test_the_settings_fix_the_minimum_number_of_turns() -> None:
    play = table(WHEEL, "EUS96", turns=6)
    assert "too_few_turns" in whats(play.spin(2, 1, turns=5))


def test_the_fault_is_reported_once_whoever_counted() -> None:
    play = table(WHEEL)
    play.until_closed(1)
    play.fault("too_few_turns")
    play.phase("settled", 1)
    assert play.cell(2, 1, turns=1) == []
    assert [event.what for event in of_kind(play.events, Irregularity)] == ["too_few_turns"]


def test_breaches_are_settings() -> None:
    play = Play(WHEEL)
    assert isinstance(play.game, FortuneGame)
    assert {getattr(play.game.settings, name) for name in BREACHES} == {"ask"}
