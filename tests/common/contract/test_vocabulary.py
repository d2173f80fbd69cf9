"""``docs/integrator/vocabulary`` has every name on the wire with its meaning, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import get_args

import msgspec

from common.contract.commands import Command
from common.contract.event_fields import Event
from common.contract.field_docs import field_docs
from common.contract.orders import Recall
from common.contract.schemas import FAMILIES, structs
from common.contract.vocabulary import anchor, pages
from common.contract.word_lists import word_lists
from common.readings import CardDrawn, Reading, WheelFaultName
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
from tests.support import contract
from tests.support.for_each import for_each
from tests.support.games.outcomes import shown

SECTIONS = {
    heading: text
    for page in sorted((contract.INTEGRATOR / "vocabulary").glob("*.md"))
    if page.stem in ("shown", "irregularities")
    for heading, text in contract.sections(f"integrator/vocabulary/{page.name}").items()
}
PAGES = pages()
WHEEL, SHOE, BANKED_GAME = "every wheel", "every game dealt from a shoe", "every banked game"
SHOWN = (
    *(("roulette-french", "ARA02"), ("boule", "ARA02"), ("fortune-wheel", "ARA02")),
    *(("craps", "ARA02"), ("punto-banca", "ARA02"), ("chemin-de-fer", "ARA02")),
    *(("trente-et-quarante", "ARA02"), ("blackjack", "ARA02"), ("poker-no-draw", "ARA02")),
    *(("trijoker", "EUS96"), ("texas-house", "EUS96"), ("pai-gow", "EUS96")),
    *(("texas-holdem", "EUS96"), ("circle-draw", "EUS96")),
)
"""A game of each view, and a decree that has it."""
CHEMIN = (
    *(
        word
        for word in chemin_settings.LAWS[len(shoe.LAWS) :]
        if word not in ("no_claim", "bet_after_close", "cards_shown_by_bank")
    ),
    *(
        "fifth_card",
        "bank_overdealt",
        "two_third_cards",
        "false_card",
        "words_contradict",
        "restored",
        "wrong_point",
    ),
)
"""An unheard claim is answered to its sender only; cards in the basket and cards that are shown
have several laws, and one name.
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
    *("bet_limit", "bet_minimum", "box_bettors", "insurance_limit"),
    *("minimum", "ante_limit", "bank_passed", "players_too_few", "players_too_many", "showdown"),
)
"""Laws that are cited only to the sender of a command that they forbid."""


def reported_laws(laws: tuple[str, ...]) -> tuple[str, ...]:
    """Laws of a card game that are reported as irregularities, besides those of every shoe."""
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


def documented() -> list[tuple[type[msgspec.Struct], str]]:
    """Every field of every type in the schemas."""
    kinds = {kind for _, types in FAMILIES.values() for kind in structs(*types).values()}
    return [(kind, field.encode_name) for kind in kinds for field in msgspec.structs.fields(kind)]


def test_every_field_has_a_meaning() -> None:
    assert len(documented()) > 300
    assert [
        f"{kind.__name__}.{name}" for kind, name in documented() if name not in field_docs(kind)
    ] == []


def test_a_meaning_is_a_sentence() -> None:
    meanings = {meaning for kind, _ in documented() for meaning in field_docs(kind).values()}
    assert [each for each in meanings if not each.endswith(".") or each[0].islower()] == []


def test_a_field_has_its_own_meaning_or_that_of_its_base() -> None:
    class Drawn(CardDrawn, frozen=True, tag="drawn"):
        pass

    assert field_docs(Drawn) == field_docs(CardDrawn)
    assert field_docs(CardDrawn)["at"] == field_docs(Reading)["at"]
    assert field_docs(Recall)["from"] == "The first ``seq`` wanted; 1 for all."


@for_each("page", PAGES)
def test_a_page_matches_the_types(page: str) -> None:
    written = (contract.INTEGRATOR / page).read_bytes()
    assert written == PAGES[page], "write it with `novamas schemas docs/integrator`"
    assert len(written.splitlines()) < 700


def test_every_type_is_on_one_page() -> None:
    headings = [
        heading.strip("`")
        for page in PAGES
        if page != "vocabulary/README.md"
        for heading in contract.sections(f"integrator/{page}")
        if heading.startswith("`")
    ]
    kinds = {kind for _, types in FAMILIES.values() for kind in structs(*types).values()}
    assert sorted(headings) == sorted(
        str(kind.__struct_config__.tag)
        if issubclass(kind, Reading | Command | Event)
        else kind.__name__
        for kind in kinds
    )


def test_every_link_of_the_pages_leads_to_a_heading() -> None:
    found = 0
    for page in (contract.INTEGRATOR / "vocabulary").glob("*.md"):
        for address in re.findall(r"\]\(([^)]*)\)", page.read_text()):
            file, _, wanted = address.partition("#")
            target = page if not file else page.parent / file
            assert target.is_file(), f"{page.name}: {address}"
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert not wanted or wanted in map(anchor, headings), f"{page.name}: {address}"
            found += 1
    assert found > 300


def test_every_list_of_words_is_explained() -> None:
    used = {
        words for family in contract.FAMILIES for words in contract.words(contract.schema(family))
    }
    listed = [frozenset(words) for words in word_lists().values()]
    assert used == set(listed)
    assert len(set(listed)) == len(listed)


def test_irregularities_are_the_laws_of_the_rulebooks() -> None:
    # A limit that must not change is refused as a command, so it never becomes an irregularity.
    said = (set(LAWS) | set(BREACHES)) - {"limit_change", *REFUSED}
    assert {word for word, _ in contract.table(SECTIONS["irregularity of roulette"])} == said


def test_alerts_of_a_wheel_are_the_faults_without_a_policy() -> None:
    assert set(get_args(WheelFaultName)) - set(BREACHES) <= {
        word for word, _ in contract.table(SECTIONS["alert"])
    }


@for_each(
    ("heading", "laws"),
    [
        ("irregularity of a shoe", shoe.LAWS),
        ("irregularity of punto y banca", reported_laws(punto_banca_settings.LAWS)),
        ("irregularity of black jack", (*reported_laws(blackjack_settings.LAWS), "hands_too_few")),
        ("irregularity of chemin de fer", CHEMIN),
        ("irregularity of trente et quarante", reported_laws(trente_settings.LAWS)),
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


@for_each("pair", SHOWN, ids=str)
def test_what_a_game_shows(pair: tuple[str, str]) -> None:
    game = make_game(*pair, {})
    state = game.begin()
    heading = f"`{type(game.view(state).shown).__name__}`"
    listed = [row[0] for row in contract.table(SECTIONS[heading])]
    assert sorted(listed) == sorted(shown(game, state))
