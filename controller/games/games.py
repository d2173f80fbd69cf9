"""The table of games. A game's module is imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, get_args

import msgspec

from common.plain_errors import describe
from common.suggestions import closest, unknown_word
from controller.games.game import Game
from controller.games.hands.of import CONTESTS
from controller.games.machine import Machine
from controller.rulebooks.chapters import chapter, games_of
from controller.rulebooks.deciders import deciders_of
from controller.rulebooks.law import LawDoubt

ROULETTE = (
    "controller.games.roulette.game:RouletteGame",
    "controller.games.roulette.settings:RouletteSettings",
)
CHEMIN = (
    "controller.games.chemin.game:CheminGame",
    "controller.games.chemin.settings:CheminSettings",
)
BLACKJACK = (
    "controller.games.blackjack.game:BlackjackGame",
    "controller.games.blackjack.settings:BlackjackSettings",
)
CIRCLE = (
    "controller.games.circle.game:CircleGame",
    "controller.games.circle.settings:CircleSettings",
)
HOUSE_POKER = (
    "controller.games.house_poker.game:HousePokerGame",
    "controller.games.house_poker.settings:HousePokerSettings",
)

GAMES: Mapping[str, tuple[str, str]] = {
    "roulette-french": ROULETTE,
    "roulette-american": ROULETTE,
    "craps": (
        "controller.games.craps.game:CrapsGame",
        "controller.games.craps.settings:CrapsSettings",
    ),
    "boule": (
        "controller.games.boule.game:BouleGame",
        "controller.games.boule.settings:BouleSettings",
    ),
    "fortune-wheel": (
        "controller.games.fortune.game:FortuneGame",
        "controller.games.fortune.settings:FortuneSettings",
    ),
    "trente-et-quarante": (
        "controller.games.trente.game:TrenteGame",
        "controller.games.trente.settings:TrenteSettings",
    ),
    "punto-banca": (
        "controller.games.punto_banca.game:PuntoBancaGame",
        "controller.games.punto_banca.settings:PuntoBancaSettings",
    ),
    "chemin-de-fer": CHEMIN,
    "baccarat-two-cloths": CHEMIN,
    "blackjack": BLACKJACK,
    "blackjack-triple": BLACKJACK,
    "texas-holdem": CIRCLE,
    "omaha": CIRCLE,
    "omaha-five": CIRCLE,
    "omaha-hi-lo": CIRCLE,
    "holdem-double": CIRCLE,
    "synthetic-poker": CIRCLE,
    "five-card-stud": CIRCLE,
    "seven-card-stud": CIRCLE,
    "circle-draw": CIRCLE,
    "poker-no-draw": HOUSE_POKER,
    "poker-draw-house": HOUSE_POKER,
    "three-card-poker": HOUSE_POKER,
    "trijoker": (
        "controller.games.trijoker.game:TrijokerGame",
        "controller.games.trijoker.settings:TrijokerSettings",
    ),
    "texas-house": (
        "controller.games.texas_house.game:TexasHouseGame",
        "controller.games.texas_house.settings:TexasHouseSettings",
    ),
    "pai-gow": (
        "controller.games.pai_gow.game:PaiGowGame",
        "controller.games.pai_gow.settings:PaiGowSettings",
    ),
}
"""Game id -> where its game and its settings are, as ``"module:name"``."""

MAX_SHARED_GAMES = 256
"""Games that are kept to be shared: more than a site has kinds of tables."""


def make_game(game_id: str, decree: str, settings: Mapping[str, Any]) -> Game:
    """A game under a decree. The settings of the site go before the rulebook's defaults, and those
    before our own. A game has no state, so tables with the same one share it.

    Raises ``ValueError`` that says what is wrong: an unknown game or decree, a game that the decree
    does not have, a setting that there is not, or a value that it may not have.
    """
    settings_type = settings_of(game_id)
    try:
        book = chapter(decree, game_id)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    if book is None:
        raise ValueError(lacking(game_id, decree))
    doubts: dict[str, LawDoubt] = book.doubts
    stated = {name: doubt.default for name, doubt in doubts.items()} | dict(settings)
    return _game(game_id, decree, msgspec.msgpack.encode(_settings(settings_type, stated)))


@lru_cache(maxsize=MAX_SHARED_GAMES)
def _game(game_id: str, decree: str, settings: bytes) -> Game:
    """The game with these settings, which are complete and valid."""
    book = chapter(decree, game_id)
    game: Game = _find(GAMES[game_id][0])(
        book, msgspec.msgpack.decode(settings, type=settings_of(game_id))
    )
    if isinstance(game, Machine):
        game.appoint(deciders_of(decree, game_id))
    return game


def lacking(game_id: str, decree: str) -> str:
    """The error text for a game that the decree does not have."""
    poker = {game for games in CONTESTS.values() for game in games}
    available = [game for game in GAMES if game in games_of(decree)]
    other = (
        ", nor any other of poker"
        if (game_id in poker or "poker" in game_id) and poker.isdisjoint(available)
        else ""
    )
    return f"{decree} has no game {game_id!r}{other}; it has: {', '.join(available)}"


def settings_of(game_id: str) -> type[msgspec.Struct]:
    """The settings that a table with this game may have. Raises ``ValueError`` for an unknown
    game.
    """
    if game_id not in GAMES:
        raise ValueError(unknown_word("game", game_id, sorted(GAMES)))
    kind: type[msgspec.Struct] = _find(GAMES[game_id][1])
    return kind


def _settings(kind: type[msgspec.Struct], stated: dict[str, Any]) -> msgspec.Struct:
    types = _types(kind)
    for name, value in stated.items():
        if name not in types:
            near = closest(name, types)
            suggestion = f"; did you mean `{near}`?" if near else ""
            raise ValueError(f"no setting {name!r}; there are: {', '.join(types)}{suggestion}")
        try:
            msgspec.convert(value, types[name])
        except msgspec.ValidationError as error:
            allowed = ", ".join(
                repr(choice) for choice in get_args(types[name]) if isinstance(choice, str)
            )
            problem = f"must be one of: {allowed}" if allowed else describe(error, types[name])
            raise ValueError(f"{name} = {value!r}: {problem}") from None
    return msgspec.convert(stated, kind)


@cache
def _types(kind: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The types of the settings by name. Kept: to resolve the annotations of a class takes longer
    than to make a game.
    """
    return {field.name: field.type for field in msgspec.structs.fields(kind)}


def _find(name: str) -> Any:
    module, attribute = name.split(":")
    return getattr(import_module(module), attribute)
