"""``docs/vocabulary.md`` has every name on the wire, and nothing else."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

import pytest

from controller.games import shoe
from controller.games.blackjack import settings as blackjack_settings
from controller.games.boule import settings as boule_settings
from controller.games.chemin import settings as chemin_settings
from controller.games.circle import settings as circle_settings
from controller.games.craps import settings as craps_settings
from controller.games.fortune import settings as fortune_settings
from controller.games.games import GAMES, make_game
from controller.games.house_poker import settings as house_poker_settings
from controller.games.pai_gow import settings as pai_gow_settings
from controller.games.punto_banca import settings as punto_banca_settings
from controller.games.roulette.settings import BREACHES, LAWS
from controller.games.texas_house import settings as texas_house_settings
from controller.games.trente import settings as trente_settings
from controller.games.trijoker import settings as trijoker_settings
from controller.rulebooks.rulebook import rulebook
from devices.readings import WheelFaultName
from tests import contract

SECTIONS = contract.sections("vocabulary.md")
SHOWN = {
    "roulette": ("roulette-french", "ARA02"),
    "punto y banca": ("punto-banca", "ARA02"),
    "chemin de fer": ("chemin-de-fer", "ARA02"),
    "trente et quarante": ("trente-et-quarante", "ARA02"),
    "blackjack": ("blackjack", "ARA02"),
    "boule": ("boule", "ARA02"),
    "wheel of fortune": ("fortune-wheel", "ARA02"),
    "craps": ("craps", "ARA02"),
    "poker against the dealer": ("poker-no-draw", "ARA02"),
    "trijoker": ("trijoker", "EUS96"),
    "texas against the house": ("texas-house", "EUS96"),
    "pai gow": ("pai-gow", "EUS96"),
    "circle poker": ("texas-holdem", "EUS96"),
    "circle draw": ("circle-draw", "EUS96"),
}
"""The games whose topics ``state`` and ``history`` are described, and a decree that has them, by
the name in the headings.
"""
NAMED = (
    "irregularity",
    "irregularity of a shoe",
    "irregularity of punto y banca",
    "irregularity of black jack",
    "irregularity of chemin de fer",
    "irregularity of trente et quarante",
    "irregularity of boule and of the wheel of fortune",
    "irregularity of craps",
    "irregularity of poker against the dealer",
    "irregularity of trijoker, texas against the house and pai gow",
    "irregularity of circle poker",
    "alert",
)
"""Lists of words that are in no type."""
CHEMIN = (
    *(
        word
        for word in chemin_settings.LAWS[len(shoe.LAWS) :]
        if word not in ("no_claim", "bet_after_close")
    ),
    *(
        "fifth_card",
        "bank_overdealt",
        "two_third_cards",
        "false_card",
        "words_contradict",
        "restored",
    ),
)
"""That no claim is heard is told to whoever makes it; cards in the basket have several laws, and
one name.
"""
REFUSED = (
    *(
        "bet_after_close",
        "bet_locked",
        "bet_maximum",
        "bet_time",
        "dice_change",
        "dice_number",
        "shooter_withdrawn",
    ),
    *(
        "bet_maximum_multiple",
        "bet_maximum_place",
        "bet_maximum_simple",
        "bet_time_associated",
        "bet_time_come",
    ),
    *("bet_limit", "bet_minimum", "box_bettors"),
    *("minimum", "ante_limit", "bank_passed", "players_too_few", "players_too_many", "showdown"),
)
"""Laws that are told only to whoever gives a command that they forbid."""


def told(laws: tuple[str, ...]) -> tuple[str, ...]:
    """Those of a game of cards that are told as irregularities, besides what every shoe has."""
    return tuple(law for law in laws[len(shoe.LAWS) :] if law not in REFUSED)


CELLS = tuple(
    law
    for law in dict.fromkeys((*boule_settings.LAWS, *fortune_settings.LAWS))
    if law not in REFUSED
)
HOUSE_POKER = tuple(
    law
    for law in (*house_poker_settings.LAWS, *house_poker_settings.OWN_LAWS)
    if law not in REFUSED
)
BANKED = tuple(
    law
    for law in dict.fromkeys(
        (
            *trijoker_settings.LAWS,
            *texas_house_settings.LAWS,
            *pai_gow_settings.LAWS,
            *trijoker_settings.OWN_LAWS,
        )
    )
    if law not in REFUSED
)

BOOKS = tuple(rulebook(decree) for decree in ("BAL05", "BAL09", "ARA02", "EUS96", "GAL07"))
CIRCLE_GAMES = tuple(game for game, (made, _) in GAMES.items() if made.endswith(":CircleGame"))
CIRCLE = {
    *circle_settings.LAWS,
    *(
        law
        for book in BOOKS
        for game in CIRCLE_GAMES
        for law in getattr(getattr(book, game.replace("-", "_")), "laws", ())
    ),
} - set(REFUSED)


def expected() -> dict[str, list[contract.Row]]:
    """Heading -> the rows below it, from the types."""
    found: dict[str, list[contract.Row]] = {}
    for family, shared in contract.SHARED.items():
        components = contract.schema(family)["$defs"]
        kind = family.removesuffix("s")
        for name, component in components.items():
            tag = contract.tag(component)
            found[f"{kind} `{tag}`" if tag else name] = contract.rows(
                component, without=shared if tag else ()
            )
            if tag:
                found[f"every {kind}"] = [
                    row for row in contract.rows(component) if row.name in shared
                ]
    orders = contract.schema("orders")["$defs"]
    sender = ("client", "id")
    found["every order"] = [row for row in contract.rows(orders["Recall"]) if row.name in sender]
    found["order `device-command`"] = contract.rows(orders["DeviceOrder"], sender)
    found["order `recall`"] = contract.rows(orders["Recall"], sender)
    found["reply"] = contract.rows(contract.schema("replies")["$defs"]["Reply"])
    for family in ("retained", "node", "sealed"):
        for name, component in contract.schema(family)["$defs"].items():
            if contract.tag(component) is None and name != "Frame":
                found[f"{family} `{name}`"] = contract.rows(component)
    return found


EXPECTED = expected()


@pytest.mark.parametrize("heading", EXPECTED)
def test_each_type_has_its_fields(heading: str) -> None:
    written = contract.table(SECTIONS[heading])
    assert [contract.Row(name, kind, absent) for name, kind, absent, _ in written] == EXPECTED[
        heading
    ]
    assert all(meaning for *_, meaning in written), "a field without a meaning"


def test_nothing_else_has_fields() -> None:
    described = {
        heading
        for heading, text in SECTIONS.items()
        if text.lstrip().startswith("|") or "| Left out |" in text
    }
    words = {heading for heading, text in SECTIONS.items() if "| Word |" in text}
    shown = {f"{name} `{topic}`" for name in SHOWN for topic in ("shown", "history")}
    assert described - words - shown <= EXPECTED.keys()


def test_every_list_of_words() -> None:
    used = {
        words for family in contract.FAMILIES for words in contract.words(contract.schema(family))
    }
    listed = [
        frozenset(word for word, _ in contract.table(text))
        for text in SECTIONS.values()
        if "| Word |" in text
    ]
    assert used <= set(listed)
    assert [words for words in listed if words not in used] == [
        frozenset(word for word, _ in contract.table(SECTIONS[heading])) for heading in NAMED
    ]


def test_irregularities_are_what_the_rulebooks_have_laws_for() -> None:
    # A limit that must not change is refused as a command, so it never becomes an irregularity.
    said = (set(LAWS) | set(BREACHES)) - {"limit_change", *REFUSED}
    assert {word for word, _ in contract.table(SECTIONS["irregularity"])} == said


def test_alerts_of_a_wheel_are_the_faults_that_no_policy_decides() -> None:
    assert set(get_args(WheelFaultName)) - set(BREACHES) <= {
        word for word, _ in contract.table(SECTIONS["alert"])
    }


@pytest.mark.parametrize(
    ("heading", "laws"),
    [
        ("irregularity of a shoe", shoe.LAWS),
        ("irregularity of punto y banca", told(punto_banca_settings.LAWS)),
        ("irregularity of black jack", (*told(blackjack_settings.LAWS), "hands_too_few")),
        ("irregularity of chemin de fer", CHEMIN),
        ("irregularity of trente et quarante", told(trente_settings.LAWS)),
        ("irregularity of boule and of the wheel of fortune", CELLS),
        ("irregularity of craps", tuple(law for law in craps_settings.LAWS if law not in REFUSED)),
        ("irregularity of poker against the dealer", HOUSE_POKER),
        ("irregularity of trijoker, texas against the house and pai gow", BANKED),
        ("irregularity of circle poker", CIRCLE),
    ],
)
def test_irregularities_of_a_game_of_cards(heading: str, laws: Collection[str]) -> None:
    listed = [word for word, _ in contract.table(SECTIONS[heading])]
    assert listed == list(laws) if isinstance(laws, tuple) else set(listed) == laws


@pytest.mark.parametrize(("name", "pair"), SHOWN.items())
def test_what_a_game_shows(name: str, pair: tuple[str, str]) -> None:
    game = make_game(*pair, {})
    assert [field for field, _ in contract.table(SECTIONS[f"{name} `shown`"])] == list(
        game.show(game.begin())
    )
