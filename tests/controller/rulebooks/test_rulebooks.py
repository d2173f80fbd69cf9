"""Invariants of the rulebook of every game under every decree: it is complete, cites, and uses the
decree's own words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from controller.games.games import make_game, settings_of
from controller.rulebooks.law import Law
from controller.rulebooks.rulebook import read_rulebook, rulebook
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS, book_of
from tests.support.games.seeds import quotes, stands_in

every = for_each(("game", "decree"), PAIRS)
FOLLOWS = {
    "roulette-american": "roulette-french",
    "blackjack-triple": "blackjack",
    "baccarat-two-cloths": "chemin-de-fer",
}
"""Games that a decree describes by another of its games: the rules of that section apply
to them.
"""
IN_HEADINGS = ("roulette-french", "roulette-american", "craps")
"""Games whose bets the decrees name in headings, which are printed in capitals."""
UNSAID = {("baccarat-two-cloths", "cards_pass"), ("baccarat-two-cloths", "bank")}
"""Game and call of the followed game that are not made there."""
ALONE = {("craps", "multiples", "layout"): "GAL07"}
"""Game, doubt and choice that one decree alone gives."""
STATED_TOGETHER = {
    *(("synthetic-poker", "common"), ("synthetic-poker", "first_card")),
    *(("omaha-five", "first_common"), ("circle-draw", "pack")),
}
"""Game and doubt whose question the document states for several games at once."""
CIRCLE = ("texas-holdem", "omaha", "omaha-five", "omaha-hi-lo", "holdem-double", "synthetic-poker")
STUD_AND_DRAW = ("five-card-stud", "seven-card-stud", "circle-draw")
SECTIONS = {
    "Doubts": ("roulette-french", "roulette-american"),
    "Boule and the wheel of fortune": ("boule", "fortune-wheel"),
    "Trente et quarante": ("trente-et-quarante",),
    "Punto y banca": ("punto-banca",),
    "Black jack": ("blackjack", "blackjack-triple"),
    "Chemin de fer and two-cloth baccarat": ("chemin-de-fer", "baccarat-two-cloths"),
    "Circle poker": (*CIRCLE, *STUD_AND_DRAW),
    "Stud and covered poker with discards": STUD_AND_DRAW,
    "Poker against the dealer": ("poker-no-draw", "poker-draw-house", "three-card-poker"),
    "Craps": ("craps",),
    "Trijoker, texas against the house, pai gow": ("trijoker", "texas-house", "pai-gow"),
}
"""Section of the document -> the games whose doubts it lists."""


def any_book(game: str, decree: str) -> Any:
    return book_of(msgspec.Struct, game, decree)


def laws_of(game: str, decree: str) -> list[Law]:
    book = any_book(game, decree)
    own = [
        field
        for field in map(book.__getattribute__, book.__struct_fields__)
        if isinstance(field, Law)
    ]
    return [*book.laws.values(), *book.void.values(), *own]


@every
def test_cites_its_own_rules(game: str, decree: str) -> None:
    followed = any_book(FOLLOWS.get(game, game), decree)
    for law in laws_of(game, decree):
        assert law.rule.startswith(f"{decree}-")
        assert law.article.startswith((any_book(game, decree).article, followed.article))


@every
def test_articles_quote_the_decree(game: str, decree: str, shared: Path) -> None:
    for law in laws_of(game, decree):
        assert quotes(law.article), law.article
        for quote in quotes(law.article):
            assert stands_in(shared, decree, quote), quote


@every
def test_words_are_the_decrees(game: str, decree: str, shared: Path) -> None:
    book, [language] = any_book(game, decree), rulebook(decree).languages
    bets = book.bets.values() if isinstance(getattr(book, "bets", None), dict) else ()
    names = [
        *(bet.name for bet in bets if hasattr(bet, "name")),
        *getattr(book, "chances", {}).values(),
    ]
    for named, case in (
        *(
            (announcement, True)
            for call, announcement in book.announcements.items()
            if (game, call) not in UNSAID
        ),
        *((name, game not in IN_HEADINGS) for name in names),
        (book.title, False),
    ):
        [(spoken, phrase)] = named.items()
        assert spoken == language
        assert stands_in(shared, decree, phrase, case=case), phrase


# Doubts


@every
def test_doubts_are_settings_with_the_same_choices(game: str, decree: str) -> None:
    types = {field.name: field.type for field in msgspec.structs.fields(settings_of(game))}
    made: Any = make_game(game, decree, {})
    for name, doubt in any_book(game, decree).doubts.items():
        assert doubt.choices == tuple(
            choice
            for choice in get_args(types[name])
            if ALONE.get((game, name, choice), decree) == decree
        )
        assert doubt.default in doubt.choices
        assert getattr(made.settings, name) == doubt.default


@every
def test_every_doubt_is_in_the_document(game: str, decree: str) -> None:
    types = {field.name: field.type for field in msgspec.structs.fields(settings_of(game))}
    for name, doubt in any_book(game, decree).doubts.items():
        [row] = [line for line in documented(game) if line.startswith(f"| `{name}` |")]
        only = {choice: ALONE.get((game, name, choice)) for choice in get_args(types[name])}
        choices = ", ".join(
            f"{choice} ({one} alone)" if one else choice for choice, one in only.items()
        )
        question = "" if (game, name) in STATED_TOGETHER else f"| {doubt.question} "
        assert f"{question}| {choices} | **{doubt.default}** |" in row
        assert f"{decree} {doubt.lines}" in row


def documented(game: str) -> list[str]:
    """The lines of the document about a game's doubts."""
    pages = sorted((Path(__file__).parents[3] / "docs" / "inspector").glob("rules-*.md"))
    document = "".join(page.read_text(encoding="utf-8") for page in pages)
    headings = [heading for heading, games in SECTIONS.items() if game in games]
    section = "\n".join(
        document.split(f"\n## {heading}\n")[1].split("\n## ")[0].split("\n# ")[0]
        for heading in headings
    )
    own = section.split(f"Settings of `{game}`:")
    return (own[1].split("\n\n")[1] if len(own) > 1 else section).splitlines()


# The files


def test_an_unknown_decree_is_refused_with_a_list_of_the_known_ones() -> None:
    with pytest.raises(KeyError, match="ARA02, BAL05, BAL09, EUS96, GAL07"):
        rulebook("Madrid")
    with pytest.raises(KeyError, match="did you mean BAL09"):
        rulebook("BAL99")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("decree.toml", 'id = "ARA02"', "title"),
        (
            "roulette-american.toml",
            'follows = "roulette"',
            "roulette-american.toml: follows = 'roulette' is not a game of this decree",
        ),
        ("roulette-french.toml", "pockets = 37", r"roulette-french"),
        ("boule.toml", "id = ", "boule.toml: Invalid value"),
    ],
)
def test_a_bad_file_is_refused_with_the_mistake(name: str, text: str, says: str) -> None:
    whole = {"decree.toml": 'id = "ARA02"\ntitle = "x"\nlanguages = []'}
    with pytest.raises(ValueError, match=says):
        read_rulebook(whole | {name: text})
