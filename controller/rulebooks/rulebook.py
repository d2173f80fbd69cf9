"""A rulebook: the games of one decree, as data.

Each decree has a folder in ``controller/rulebooks/`` with one TOML file per game, and
``decree.toml``.
"""

from __future__ import annotations

from functools import cache

import msgspec

from controller.rulebooks.blackjack import Blackjack
from controller.rulebooks.chapters import Decree as Decree
from controller.rulebooks.chapters import decoded, games_of, over, text_of
from controller.rulebooks.chemin import Chemin
from controller.rulebooks.circle import Circle
from controller.rulebooks.common_poker import TexasHouse, Trijoker
from controller.rulebooks.craps import Craps
from controller.rulebooks.house_poker import HousePoker
from controller.rulebooks.law import Law as Law
from controller.rulebooks.pai_gow import PaiGow
from controller.rulebooks.punto_banca import PuntoBanca
from controller.rulebooks.trente import Trente
from controller.rulebooks.wheels import Boule, FortuneWheelBook
from controller.rulebooks.wheels import Roulette as Roulette


class Rulebook(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One decree. Where the decree says that a game follows another one except for its own rules,
    the game's file has ``follows = "roulette-french"``: it inherits every key, and every table
    entry, that it does not state itself.
    """

    id: Decree
    title: str
    languages: tuple[str, ...]
    roulette_french: Roulette | None = msgspec.field(name="roulette-french", default=None)
    roulette_american: Roulette | None = msgspec.field(name="roulette-american", default=None)
    boule: Boule | None = None
    fortune_wheel: FortuneWheelBook | None = msgspec.field(name="fortune-wheel", default=None)
    trente_et_quarante: Trente | None = msgspec.field(name="trente-et-quarante", default=None)
    punto_banca: PuntoBanca | None = msgspec.field(name="punto-banca", default=None)
    chemin_de_fer: Chemin | None = msgspec.field(name="chemin-de-fer", default=None)
    baccarat_two_cloths: Chemin | None = msgspec.field(name="baccarat-two-cloths", default=None)
    blackjack: Blackjack | None = None
    blackjack_triple: Blackjack | None = msgspec.field(name="blackjack-triple", default=None)
    texas_holdem: Circle | None = msgspec.field(name="texas-holdem", default=None)
    omaha: Circle | None = None
    omaha_five: Circle | None = msgspec.field(name="omaha-five", default=None)
    omaha_hi_lo: Circle | None = msgspec.field(name="omaha-hi-lo", default=None)
    holdem_double: Circle | None = msgspec.field(name="holdem-double", default=None)
    synthetic_poker: Circle | None = msgspec.field(name="synthetic-poker", default=None)
    five_card_stud: Circle | None = msgspec.field(name="five-card-stud", default=None)
    seven_card_stud: Circle | None = msgspec.field(name="seven-card-stud", default=None)
    circle_draw: Circle | None = msgspec.field(name="circle-draw", default=None)
    craps: Craps | None = None
    poker_no_draw: HousePoker | None = msgspec.field(name="poker-no-draw", default=None)
    poker_draw_house: HousePoker | None = msgspec.field(name="poker-draw-house", default=None)
    three_card_poker: HousePoker | None = msgspec.field(name="three-card-poker", default=None)
    trijoker: Trijoker | None = None
    texas_house: TexasHouse | None = msgspec.field(name="texas-house", default=None)
    pai_gow: PaiGow | None = msgspec.field(name="pai-gow", default=None)


@cache
def rulebook(decree: str) -> Rulebook:
    """Return the rulebook of a decree. Raises ``KeyError`` with the known decrees, and
    ``ValueError`` for an invalid file.
    """
    texts = {f"{game}.toml": text_of(decree, game) for game in ("decree", *games_of(decree))}
    try:
        return read_rulebook(texts)
    except ValueError as error:
        raise ValueError(f"{decree}: {error}") from error


def read_rulebook(texts: dict[str, str]) -> Rulebook:
    """Parse a rulebook from the texts of its files, by file name. Raises ``ValueError`` with file
    and key.
    """
    pages = {name.removesuffix(".toml"): decoded(name, text) for name, text in texts.items()}
    head = pages.pop("decree", {})
    for game, page in pages.items():
        if "follows" in page and page["follows"] not in pages:
            raise ValueError(
                f"{game}.toml: follows = {page['follows']!r} is not a game of this decree"
            )
    games = {
        game: over(pages[page["follows"]], page) if "follows" in page else page
        for game, page in pages.items()
    }
    return msgspec.convert(head | games, Rulebook)
