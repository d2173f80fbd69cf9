"""Coins and hands by the rules of the gazettes, computed independently: written from their text,
with nothing of the controller or of the games in it.

BAL05 L2447-2458, ARA02 L1394-1400, EUS96 L1655-1673 (game 11) and L1812-1870 (game 12). Money is in
cents and each prize is rounded down once; exact fractions in between. Cases that the text leaves
open are open here: then persons decide the prize of a box.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Literal

ORDER = ("four", "straight_flush", "royal_flush")
"""The hands that have a prize somewhere, the lowest first."""


@dataclass(frozen=True)
class Law:
    """One decree's jackpot."""

    rises: Fraction
    """What of each coin «s'incorpora a l'acumulat»."""
    prizes: dict[str, Fraction]
    """Of hands made without discarding."""
    discarded: dict[str, Fraction] = field(default_factory=dict)
    """Of hands made by discarding, where the casino pays them (L1839-1843)."""
    several: Literal["next_of_rest", "highest_alone", "not_said"] = "not_said"
    seed: int = 0
    """The meter's initial value, also after the whole was won."""


def balears(seed: int = 0) -> Law:
    """«es 90% del valor de les monedes introduides s'incorpora»; royal flush: all of it; straight
    flush: 10 %. Several winners are not mentioned.
    """
    return Law(
        Fraction(90, 100),
        {"royal_flush": Fraction(1), "straight_flush": Fraction(10, 100)},
        seed=seed,
    )


def aragon(seed: int = 0) -> Law:
    """«la totalidad de las monedas introducidas»; several royal flushes «por partes iguales»; of
    straight flushes «el jugador que obtuviese la de mayor valor», and no other. Equal ones are not
    mentioned, nor one beside a royal flush that has taken all.
    """
    return Law(
        Fraction(1),
        {"royal_flush": Fraction(1), "straight_flush": Fraction(10, 100)},
        several="highest_alone",
        seed=seed,
    )


def euskadi(authorised: Fraction, seed: int = 0, *, discards: bool = False) -> Law:
    """Games 11 and 12: 5, 10 and 100 %; with discards, where the casino chooses so, 0.5, 1 and
    10 %. Several royal flushes are mentioned in game 12 alone, equal hands alone among those made
    without discarding.
    """
    tenth = Fraction(1, 10)
    prizes = {
        "four": Fraction(5, 100),
        "straight_flush": Fraction(10, 100),
        "royal_flush": Fraction(1),
    }
    return Law(
        authorised,
        prizes,
        {hand: prize * tenth for hand, prize in prizes.items()} if discards else {},
        several="next_of_rest",
        seed=seed,
    )


@dataclass(frozen=True)
class Made:
    """The hand of a box with a stake. ``high``: the ranks that decide between hands of one kind."""

    box: str
    hand: str
    high: tuple[int, ...] = ()
    discarded: bool = False


@dataclass(frozen=True)
class Coin:
    """A coin that fell before the cards: it raises the meter when it falls, «monedes introduides»,
    and a hand takes of what has accumulated «une horretan», by then (EUS96 L1657, L1819).
    """

    time: int
    box: str
    amount: int


@dataclass(frozen=True)
class Play:
    """One play at one table. ``ends``: when its prizes are due, in the time of all tables; of a
    play that is void, when its coins go back. ``corrected``: time of the correction, before a prize
    was paid, to the ``right`` hands.
    """

    table: str
    ends: int
    coins: tuple[Coin, ...]
    made: tuple[Made, ...] = ()
    void: bool = False
    corrected: int | None = None
    right: tuple[Made, ...] = ()


@dataclass(frozen=True)
class Prize:
    """Prize of a box; ``cents`` None: the decree is silent, and persons decide."""

    table: str
    ends: int
    box: str
    cents: int | None


@dataclass
class Reckoned:
    """The result."""

    meter: int
    house: int = 0
    seeded: int = 0
    prizes: list[Prize] = field(default_factory=list)


def shares(law: Law, made: tuple[Made, ...]) -> dict[str, Fraction | None]:
    """Return the share of each box."""
    found = [
        each for each in made if each.hand in (law.discarded if each.discarded else law.prizes)
    ]
    # «Uzterik gabe lortutako Jackpoten sariak karta-uzteaz lortutako sarien aurretik»
    found.sort(key=lambda each: (each.discarded, -ORDER.index(each.hand), [-r for r in each.high]))
    if law.several == "not_said" and len(found) > 1:
        return dict.fromkeys((reading.box for reading in found), None)
    rest, given = Fraction(1), dict[str, Fraction | None]()
    alike = groupby(found, key=lambda each: (each.discarded, each.hand, each.high))
    for place, ((discarded, hand, _), group) in enumerate(alike):
        boxes = [reading.box for reading in group]
        part = (law.discarded if discarded else law.prizes)[hand]
        each_gets: Fraction | None
        if rest == 0:
            each_gets = None  # nothing is left to take a share of
        elif law.several == "highest_alone" and place > 0:
            each_gets = Fraction(0)  # «el jugador que obtuviese la de mayor valor»
        elif part == 1:
            each_gets = Fraction(1, len(boxes))  # «zati beretan», «por partes iguales»
        elif len(boxes) > 1:
            # «jokaldi horretako Jackpoten hasierako zenbatekoaren % 10», of hands made without
            # discarding; Aragón does not say it
            said = law.several == "next_of_rest" and not discarded
            each_gets = part if said else None
        else:
            each_gets = part * rest  # «gainerako zenbatekoari dagokion ehunekoa»
        given |= dict.fromkeys(boxes, each_gets)
        rest -= (each_gets or 0) * len(boxes)
    return given


def reckon(law: Law, plays: list[Play], decided: dict[tuple[str, int, str], int]) -> Reckoned:
    """The meter at the end and every prize. ``decided``: what persons gave where the decree does
    not say, by table, ``ends`` and box.

    The decrees are silent on a misread hand: its prize returns to the meter at the time of the
    correction, and the correct prize is of the meter at the play
    (docs/integrator/carrousel-money.md).
    """
    sums = _Reckoning(law, decided, Reckoned(meter=law.seed, seeded=law.seed))
    happened: list[tuple[int, str, Coin | Play | _Correction]] = []
    for play in plays:
        happened += [(coin.time, play.table, coin) for coin in play.coins]
        happened.append((play.ends, play.table, play))
        if play.corrected is not None and not play.void:
            happened.append((play.corrected, play.table, _Correction(play)))
    happened.sort(key=lambda each: each[:2])
    for _, _, each in happened:
        if isinstance(each, Coin):
            sums.fall(each)
        elif isinstance(each, _Correction):
            sums.take_back(each.play)
            sums.give(each.play, each.play.right)
        elif each.void:
            for coin in each.coins:
                sums.fall(coin, -1)
        else:
            sums.values[each.table, each.ends] = sums.told.meter
            sums.give(each, each.made)
    return sums.told


@dataclass(frozen=True)
class _Correction:
    play: Play


@dataclass
class _Reckoning:
    """``values``: the meter as of each play."""

    law: Law
    decided: dict[tuple[str, int, str], int]
    told: Reckoned
    values: dict[tuple[str, int], int] = field(default_factory=dict)

    def fall(self, coin: Coin, sign: int = 1) -> None:
        rise = int(coin.amount * self.law.rises)
        self.told.meter += sign * rise
        self.told.house += sign * (coin.amount - rise)

    def give(self, play: Play, made: tuple[Made, ...]) -> None:
        parts = shares(self.law, made)
        for box, part in parts.items():
            value = self.values[play.table, play.ends]
            cents = int(value * part) if part is not None else None
            self.told.prizes.append(Prize(play.table, play.ends, box, cents))
            if cents is not None:
                self.told.meter -= cents
            elif made is play.right or play.corrected is None:
                self.told.meter -= self.decided[play.table, play.ends, box]
        if sum(filter(None, parts.values())) == 1:
            self.told.seeded += self.law.seed
            self.told.meter += self.law.seed

    def take_back(self, play: Play) -> None:
        for prize in list(self.told.prizes):
            if (prize.table, prize.ends) == (play.table, play.ends):
                self.told.prizes.remove(prize)
                self.told.meter += prize.cents or 0
        if sum(filter(None, shares(self.law, play.made).values())) == 1:
            self.told.seeded -= self.law.seed
            self.told.meter -= self.law.seed
