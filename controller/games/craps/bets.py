"""The effect of a throw of two dice on every bet of craps: pure functions over the bets of a
rulebook.

A bet on a number has the number in its name: ``come:6``, ``right:10``. Other names are a word only.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec.structs import replace

from common.contract.events import Settled
from controller.games.craps.settings import CrapsSettings
from controller.rulebooks.craps import Craps, CrapsBet

SEVEN_OUT = 7

Bets = Mapping[str, CrapsBet]
Dice = tuple[int, ...]


def offered(book: Craps, settings: CrapsSettings) -> dict[str, CrapsBet]:
    """The bets of the table: the decree's, modified by the settings."""
    return {word: _read(word, bet, settings) for word, bet in book.bets.items()}


def _read(word: str, bet: CrapsBet, settings: CrapsSettings) -> CrapsBet:
    if word == "field" and settings.field_four == "wins":
        return replace(
            bet,
            win=tuple(sorted({*bet.win, 4})),
            lose=tuple(total for total in bet.lose if total != 4),
        )
    if bet.kind == "place" and settings.place_eight == "absent":
        return replace(bet, numbers=tuple(number for number in bet.numbers if number != 8))
    if bet.kind == "multiple" and (
        settings.multiples == "for_one" or (settings.multiples == "layout" and bet.pays[0] >= 15)
    ):
        return replace(bet, pays=(bet.pays[0] - 1, bet.pays[1]))
    return bet


def next_point(points: tuple[int, ...], point: int | None, total: int) -> int | None:
    """The point after a throw: set by the first throw of a series, cleared by the point or by 7."""
    if point is None:
        return total if total in points else None
    return None if total in (point, SEVEN_OUT) else point


def sevens_out(point: int | None, total: int) -> bool:
    """Whether this is the 7 that loses, with which the dice change hands."""
    return point is not None and total == SEVEN_OUT


def parse(bets: Bets, name: str) -> tuple[CrapsBet, int | None]:
    """A bet's name without its number, and the number. Raises ``ValueError`` for an unknown
    name.
    """
    word, colon, digits = name.partition(":")
    bet = bets.get(word)
    number = (
        next((number for number in bet.numbers if str(number) == digits), None) if bet else None
    )
    needs = bet is not None and bet.on == "own" and not bet.win
    if bet is None or (colon and (number is None or bet.on != "own")) or (needs and not colon):
        raise ValueError(f"no bet {name!r}; there are: {', '.join(all_names(bets))}")
    return bet, number


def all_names(bets: Bets) -> list[str]:
    """Every bet, with each number that it can be placed on."""
    return [name for word, bet in bets.items() for name in _stages(word, bet)]


def _stages(word: str, bet: CrapsBet) -> list[str]:
    if bet.on != "own":
        return [word]
    return [*([word] if bet.win else ()), *(f"{word}:{number}" for number in bet.numbers)]


def possible_bets(bets: Bets, point: int | None) -> list[str]:
    """Every bet that can be on the table at a throw against this point; None: the first of a
    series.
    """
    names = []
    for name in all_names(bets):
        bet, number = parse(bets, name)
        fresh = number is None and bet.on is not None
        if point is not None or not fresh or bet.when == "come_out":
            names.append(name)
    return names


def settle(bets: Bets, name: str, dice: Dice, point: int | None) -> Settled:
    """The effect of a throw on one bet. ``point``: what the throw is made against, None for the
    first of a series.

    Raises ``ValueError`` for a name that there is not.
    """
    bet, number = parse(bets, name)
    if bet.on == "point":
        number = point
    total = sum(dice)
    if bet.side is None or number is None:
        win, lose, void = bet.win, bet.lose, bet.void
    else:
        win, lose, void = (
            ((number,), (SEVEN_OUT,), ()) if bet.side == "right" else ((SEVEN_OUT,), (number,), ())
        )
    easy = bet.hard and len(set(dice)) > 1
    if total in win and not easy:
        key = total if number is None else number
        return Settled(name, "win", bet.pays_on.get(str(key), bet.pays))
    if total in lose or (easy and total in win):
        return Settled(name, "lose")
    return Settled(name, "void" if total in void else "stays")


def settle_all(bets: Bets, dice: Dice, point: int | None) -> tuple[Settled, ...]:
    """The effect of a throw on every bet that can be on the table."""
    return tuple(settle(bets, name, dice, point) for name in possible_bets(bets, point))


def moved(bets: Bets, name: str, dice: Dice, point: int | None) -> str | None:
    """The place of a bet after a throw: unmoved, the number thrown, or None once decided."""
    if settle(bets, name, dice, point).outcome != "stays":
        return None
    bet, number = parse(bets, name)
    return f"{name}:{sum(dice)}" if bet.on == "own" and number is None else name


def highest_alone(bet: CrapsBet, number: int | None, simple: int, gain: int) -> Fraction | None:
    """The highest stake of a bet that is placed alone; None if the decree has none. ``simple``: the
    highest stake of a simple bet; ``gain``: how many times its gain a multiple bet may win.
    """
    if bet.kind == "simple":
        return Fraction(simple)
    if bet.kind == "multiple":
        return gain * simple / Fraction(*bet.pays)
    percent = bet.maximum.get(str(number)) if bet.kind == "place" else None
    return None if percent is None else Fraction(simple * percent, 100)


def highest(bets: Bets, name: str, point: int | None, base: int) -> Fraction | None:
    """The highest stake of an associated bet beside a ``base`` stake; None if the decree has
    none.
    """
    bet, number = parse(bets, name)
    percent = bet.maximum.get(str(number or point))
    return None if percent is None or bet.base is None else Fraction(base * percent, 100)
