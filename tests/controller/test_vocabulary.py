"""``docs/vocabulary.md`` has every name on the wire, and nothing else."""

from __future__ import annotations

from typing import get_args

import pytest

from controller.games import blackjack_settings, chemin_settings, punto_banca_settings, shoe, trente_settings
from controller.games.games import make_game
from controller.games.roulette_settings import BREACHES, LAWS
from devices.readings import WheelFaultName
from tests import contract

SECTIONS = contract.sections("vocabulary.md")
SHOWN = {
    "roulette": "roulette-french",
    "punto y banca": "punto-banca",
    "chemin de fer": "chemin-de-fer",
    "trente et quarante": "trente-et-quarante",
    "blackjack": "blackjack",
}
"""The games whose topics ``state`` and ``history`` are described, by the name in the headings."""
NAMED = (
    "irregularity",
    "irregularity of a shoe",
    "irregularity of punto y banca",
    "irregularity of black jack",
    "irregularity of chemin de fer",
    "irregularity of trente et quarante",
    "alert",
)
"""Lists of words that are in no type."""
CHEMIN = (
    *(word for word in chemin_settings.LAWS[len(shoe.LAWS) :] if word != "no_claim"),
    *("fifth_card", "bank_overdealt", "two_third_cards", "false_card", "words_contradict", "restored"),
)
"""That no claim is heard is told to whoever makes it; cards in the basket have several laws, and one name."""


def expected() -> dict[str, list[contract.Row]]:
    """Heading -> the rows below it, from the types."""
    found: dict[str, list[contract.Row]] = {}
    for family, shared in contract.SHARED.items():
        components = contract.schema(family)["$defs"]
        kind = family.removesuffix("s")
        for name, component in components.items():
            tag = contract.tag(component)
            found[f"{kind} `{tag}`" if tag else name] = contract.rows(component, without=shared if tag else ())
            if tag:
                found[f"every {kind}"] = [row for row in contract.rows(component) if row.name in shared]
    orders = contract.schema("orders")["$defs"]
    sender = ("client", "id")
    found["every order"] = [row for row in contract.rows(orders["Recall"]) if row.name in sender]
    found["order `device.<command>`"] = contract.rows(orders["DeviceOrder"], sender)
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
    assert [contract.Row(name, kind, absent) for name, kind, absent, _ in written] == EXPECTED[heading]
    assert all(meaning for *_, meaning in written), "a field without a meaning"


def test_nothing_else_has_fields() -> None:
    described = {heading for heading, text in SECTIONS.items() if text.lstrip().startswith("|") or "| Left out |" in text}
    words = {heading for heading, text in SECTIONS.items() if "| Word |" in text}
    shown = {f"{name} `{topic}`" for name in SHOWN for topic in ("shown", "history")}
    assert described - words - shown <= EXPECTED.keys()


def test_every_list_of_words() -> None:
    used = {words for family in contract.FAMILIES for words in contract.words(contract.schema(family))}
    listed = [frozenset(word for word, _ in contract.table(text)) for text in SECTIONS.values() if "| Word |" in text]
    assert used <= set(listed)
    assert [words for words in listed if words not in used] == [
        frozenset(word for word, _ in contract.table(SECTIONS[heading])) for heading in NAMED
    ]


def test_irregularities_are_what_the_rulebooks_have_laws_for() -> None:
    # A limit that must not change is refused as a command, so it never becomes an irregularity.
    said = (set(LAWS) | set(BREACHES)) - {"limit_change"}
    assert {word for word, _ in contract.table(SECTIONS["irregularity"])} == said


def test_alerts_of_a_wheel_are_the_faults_that_no_policy_decides() -> None:
    assert set(get_args(WheelFaultName)) - set(BREACHES) <= {word for word, _ in contract.table(SECTIONS["alert"])}


@pytest.mark.parametrize(
    ("heading", "laws"),
    [
        ("irregularity of a shoe", shoe.LAWS),
        ("irregularity of punto y banca", punto_banca_settings.LAWS[len(shoe.LAWS) :]),
        ("irregularity of black jack", (*blackjack_settings.LAWS[len(shoe.LAWS) :], "hands_too_few")),
        ("irregularity of chemin de fer", CHEMIN),
        ("irregularity of trente et quarante", trente_settings.LAWS[len(shoe.LAWS) :]),
    ],
)
def test_irregularities_of_a_game_of_cards(heading: str, laws: tuple[str, ...]) -> None:
    assert [word for word, _ in contract.table(SECTIONS[heading])] == list(laws)


@pytest.mark.parametrize(("name", "game_id"), SHOWN.items())
def test_what_a_game_shows(name: str, game_id: str) -> None:
    game = make_game(game_id, "ARA02", {})
    assert [field for field, _ in contract.table(SECTIONS[f"{name} `shown`"])] == list(game.show(game.begin()))
