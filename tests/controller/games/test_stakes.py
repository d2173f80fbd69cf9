"""Bets that a person or a terminal reports, at every game: accepted while bets are open, refused
afterwards, and held to the limits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from common.contract.events import BetPlaced
from common.contract.refusals import RejectedError
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.play import AnyPlay, only

MINIMUM = 500
ROULETTE = (
    "BAL05-017 BAL05-030",
    "ARA02-009 ARA02-022",
    "EUS96-011 EUS96-033",
    "GAL07-008 GAL07-023",
)
BOULE = ("BAL05-044 BAL05-046", "ARA02-033", "EUS96-040 EUS96-E05", "GAL07-033 GAL07-034")
FORTUNE = ("BAL05-050", "ARA02-150", "EUS96-046", "GAL07-038")
TRENTE = ("BAL05-094", "ARA02-047", "EUS96-E03", "GAL07-086")
PUNTO = ("BAL05-106", "ARA02-084", "EUS96-E04", "GAL07-091")
CRAPS = ("BAL05-066", "ARA02-129", "EUS96-114", "GAL07-141")
UNRULED = ("BAL05", "ARA02", "EUS96", "GAL07")


class Case(NamedTuple):
    """A bet of a table, and its maximum at a minimum of 500; None: no maximum is fixed."""

    game: str
    decree: str
    bet: str
    most: int | None


def _cases(game: str, ids: tuple[str, ...], bets: dict[str, dict[str, int | None]]) -> list[Any]:
    """One case for each decree and bet; ``ids``: the rules of each decree, separated by a space."""
    return [
        pytest.param(
            Case(game, decree, bet, times and times * MINIMUM),
            marks=[pytest.mark.rule(*claimed.split())] if "-" in claimed else [],
            id=f"{game}-{decree}-{bet}",
        )
        for claimed in ids
        for decree in [claimed[:5]]
        for bet, times in bets[decree].items()
    ]


def _alike(**times: int | None) -> dict[str, dict[str, int | None]]:
    named = {name.strip("_").replace("__", ":"): each for name, each in times.items()}
    return dict.fromkeys(UNRULED, named)


CASES = [
    *_cases("roulette-french", ROULETTE, _alike(straight__17=30, red=540, dozen=360, split=60) | {
        "EUS96": {"straight:17": 50, "red": 900, "dozen": 600, "split": 100},
    }),
    *_cases("boule", BOULE, _alike(_1=100, red=500)),
    *_cases("fortune-wheel", FORTUNE, _alike(_2=None, _24=None) | {"ARA02": {"1": 20, "40": 20}}),
    *_cases("trente-et-quarante", TRENTE, _alike(red=1000, inverse=1000) | {
        "EUS96": {"red": 50, "inverse": 50},
    }),
    *_cases("punto-banca", PUNTO, {
        "BAL05": {"player": 100, "banker": 100, "tie": 10},
        "ARA02": {"player": 100, "banker": 100},
        "EUS96": {"player": 100, "banker": 100, "tie": 100},
        "GAL07": {"player": 100, "banker": 100, "tie": 10},
    }),
    *_cases("chemin-de-fer", UNRULED, _alike(player=None)),
    *_cases("baccarat-two-cloths", UNRULED, {
        decree: {"cloth:1": None, "cloth:2": None} for decree in UNRULED
    }),
    *_cases("craps", CRAPS, {
        "BAL05": {"field": 1000}, "ARA02": {"field": 200},
        "EUS96": {"field": 1000}, "GAL07": {"field": 1000},
    }),
]  # fmt: skip
every = for_each("case", CASES)


SETTINGS: dict[str, dict[str, Any]] = {
    "roulette-french": {"phases": "person"},
    "punto-banca": {"continuous": True},
    "craps": {"serials": "unwatched", "shooter": "unwatched"},
}
DEALT = ("trente-et-quarante", "punto-banca", "chemin-de-fer", "baccarat-two-cloths")


class Table(AnyPlay[Any, Any]):
    """A table of any game with an open session."""

    in_charge = "inspector"

    def __init__(self, case: Case, **settings: Any) -> None:
        super().__init__(
            object, case.game, case.decree, {**SETTINGS.get(case.game, {}), **settings}
        )
        self.send("session.open", minimum=MINIMUM, currency="EUR")
        if case.game in DEALT:
            self.send("shoe.start", shoe="7")

    def place(self, bet: str, amount: int | None = None, who: str = "seat:1") -> BetPlaced:
        """Place a bet."""
        return only(self.send("bet.place", "croupier", who=who, bet=bet, amount=amount), BetPlaced)

    def law(self, name: str) -> str:
        """The rule that a refusal cites."""
        return str(self.game.book.laws[name].rule)


@every
def test_a_bet_is_taken_while_bets_are_open_and_refused_before_and_after(case: Case) -> None:
    play = Table(case)
    if case.game != "craps":
        with pytest.raises(RejectedError, match="no bets are open"):
            play.place(case.bet)
    play.send("bets.open", "croupier")
    placed = play.place(case.bet, MINIMUM)
    assert (placed.who, placed.bet, placed.amount, placed.withdrawn, placed.round) == (
        "seat:1",
        case.bet,
        MINIMUM,
        False,
        1,
    )
    back = only(play.send("bet.withdraw", "croupier", who="seat:1", bet=case.bet), BetPlaced)
    assert (back.bet, back.withdrawn) == (case.bet, True)
    with pytest.raises(RejectedError, match=f"seat:1 has no bet {case.bet}"):
        play.send("bet.withdraw", "croupier", who="seat:1", bet=case.bet)
    play.place(case.bet, MINIMUM)
    play.send("bets.close", "croupier")
    cites = play.game.book.laws.get("bet_after_close")
    for command, said in (
        ("bet.place", "no bets are open; return the chips"),
        ("bet.withdraw", "no bet can be withdrawn now; a stake that is placed stays"),
    ):
        where = said if case.game != "craps" else "bets are closed; .*"
        with pytest.raises(RejectedError, match=f"{where}{f': {cites.rule}, ' if cites else ''}"):
            play.send(command, "croupier", who="seat:1", bet=case.bet)
    assert cites is not None or case.game == "trente-et-quarante"  # its sections have no call


@every
def test_a_stake_is_between_the_minimum_and_the_highest(case: Case) -> None:
    play = Table(case)
    play.send("bets.open", "croupier")
    for amount in (MINIMUM, case.most or 1_000_000):
        assert play.place(case.bet, amount).amount == amount
    for amount in (0, -5):
        with pytest.raises(RejectedError, match=f"amount must be above 0, not {amount}"):
            play.place(case.bet, amount)
    cites = {name: law.rule for name, law in play.game.book.laws.items()}
    least, most = (
        ("bet_minimum", "bet_maximum_simple")
        if case.game == "craps"
        else ("bet_minimum", "bet_limit")
    )
    with pytest.raises(
        RejectedError,
        match=(
            f"{case.bet} must be at least "
            f"{MINIMUM}{f': {cites[least]}, ' if least in cites else ''}"
        ),
    ):
        play.place(case.bet, MINIMUM - 1)
    if case.most is not None:
        with pytest.raises(
            RejectedError, match=f"{case.bet} must be at most {case.most}: {cites[most]}, "
        ):
            play.place(case.bet, case.most + 1)
    play.place(case.bet, MINIMUM, who="seat:2")  # each player by himself


@every
def test_the_highest_stake_is_that_of_the_authorisation_where_it_is_stated(case: Case) -> None:
    key = {"craps": "", "chemin-de-fer": "", "baccarat-two-cloths": ""}.get(case.game, _kind(case))
    if not key:
        return
    least = _least(case)
    play = Table(case, highest={key: least})
    play.send("bets.open", "croupier")
    play.place(case.bet, least)
    with pytest.raises(RejectedError, match=f"must be at most {least}"):
        play.place(case.bet, least + 1)
    with pytest.raises(ValueError, match="highest: there is no bet nothing; there are: "):
        Table(case, highest={"nothing": 5})


LEAST: dict[str, int] = {
    "roulette-french straight": 10, "roulette-french split": 20, "roulette-french dozen": 120,
    "roulette-french simple": 180,
    "boule number": 40, "boule simple": 200,
    "trente-et-quarante chances": 1000, "trente-et-quarante chances EUS96": 20,
    "punto-banca hands": 20, "punto-banca hands BAL05": 25, "punto-banca hands ARA02": 50,
    "punto-banca tie": 2, "punto-banca tie EUS96": 20,
}  # fmt: skip
"""The minimum that an authorisation may fix as the highest stake, in minimums: BAL05 L239-245,
L764-767, L881; ARA02 L258-260, L396, L462; EUS96 L294-298, L670, L737, L993; GAL07 L168-170, L364,
L410.
"""


def _least(case: Case) -> int:
    word = f"{case.game} {_kind(case)}"
    if word == "punto-banca tie" and case.decree == "BAL05":
        return 25 * MINIMUM // 10
    if case.game == "fortune-wheel":
        return 20 * MINIMUM  # ARA02 L1656 «siempre»; the others leave it to the authorisation
    return LEAST.get(f"{word} {case.decree}", LEAST[word]) * MINIMUM


@every
def test_no_other_highest_stake_is_taken_than_an_authorisation_may_fix(case: Case) -> None:
    key = {"craps": "", "chemin-de-fer": "", "baccarat-two-cloths": ""}.get(case.game, _kind(case))
    if not key or case.most is None:
        return
    Table(case, highest={key: case.most})
    for unlawful in (_least(case) - 1, _least(case) // 2, 3 * MINIMUM):
        with pytest.raises(ValueError, match=r"must be .* times the minimum|allows no minimum"):
            Table(case, highest={key: unlawful})
    above = {key: 3 * case.most}
    if (case.game, case.decree) == ("roulette-french", "BAL05"):  # L247-251: with notice
        Table(case, highest=above)
    else:
        with pytest.raises(ValueError, match=r"must be .* times the minimum|allows no minimum"):
            Table(case, highest=above)


@for_each(
    ("game", "decree", "highest", "fits"),
    [
        ("roulette-french", "ARA02", {"straight": 5000, "simple": 90_000}, True),
        ("roulette-french", "ARA02", {"straight": 5000, "simple": 91_000}, False),
        ("boule", "GAL07", {"number": 20_000, "simple": 250_000}, True),
        ("boule", "GAL07", {"number": 20_000, "simple": 300_000}, False),
        ("punto-banca", "BAL05", {"hands": 50_000, "tie": 5_000}, True),
        ("trente-et-quarante", "GAL07", {"chances": 500_500}, False),
        ("blackjack", "ARA02", {"hands": 25_001}, False),
    ],
)
def test_highest_stakes_that_no_minimum_makes_lawful_are_refused_in_the_configuration(
    game: str, decree: str, highest: dict[str, int], fits: bool
) -> None:
    if fits:
        make_game(game, decree, {"highest": highest})
    else:
        with pytest.raises(ValueError, match="highest: the decree allows no minimum with"):
            make_game(game, decree, {"highest": highest})


@for_each("game", ["roulette-french", "blackjack"])
def test_a_minimum_is_not_announced_with_which_the_highest_stake_is_unlawful(game: str) -> None:
    key = "straight" if game == "roulette-french" else "hands"
    play = Table(Case(game, "BAL05", key, None), highest={key: 50_000})
    for minimum in (3_000, 1_900):
        with pytest.raises(RejectedError, match=f"the highest stake on {key}, 50000, must be"):
            play.send("limit.announce", minimum=minimum)
    play.send("limit.announce", minimum=2_500)


def _kind(case: Case) -> str:
    """The authorisation's name of the bet."""
    if case.game in ("roulette-french", "boule"):
        word = case.bet.partition(":")[0]
        return "number" if word.isdecimal() else "simple" if word == "red" else word
    if case.game == "punto-banca":
        return "tie" if case.bet == "tie" else "hands"
    return "chances" if case.game == "trente-et-quarante" else case.bet


@every
def test_a_bet_of_another_game_is_refused(case: Case) -> None:
    play = Table(case)
    play.send("bets.open", "croupier")
    with pytest.raises(RejectedError, match="no bet seventeen here"):
        play.place("seventeen")


@every
def test_bets_of_a_saved_and_restored_round_stay(case: Case) -> None:
    play = Table(case)
    play.send("bets.open", "croupier")
    play.place(case.bet, MINIMUM)
    play.again()
    assert (
        only(play.send("bet.withdraw", "croupier", who="seat:1", bet=case.bet), BetPlaced).withdrawn
        is True
    )


def test_the_authorised_minimum_of_boule_makes_its_highest_stakes() -> None:
    play = Table(Case("boule", "GAL07", "1", None), authorised_minimum=MINIMUM // 2)
    play.send("bets.open", "croupier")
    play.place("1", 100 * MINIMUM // 2)
    with pytest.raises(
        RejectedError, match=f"1 must be at most {100 * MINIMUM // 2}: {play.law('bet_limit')}"
    ):
        play.place("1", 100 * MINIMUM // 2 + 1)


def test_without_a_minimum_there_are_no_limits() -> None:
    play = Table(Case("boule", "GAL07", "1", None))
    play.send("session.close")
    play.send("session.open")
    play.send("bets.open", "croupier")
    assert play.place("1", 1_000_000_000).amount == 1_000_000_000
