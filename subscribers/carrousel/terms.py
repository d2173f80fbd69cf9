"""The terms of a jackpot: what the authorisation, the decree and the site fix, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from controller.contract.bounds import Word
from controller.contract.jackpot import Authorisation, Fraction
from controller.contract.times import moment
from devices.money import format_amount

Amount = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]

POKER = ("poker-no-draw", "poker-draw-house")
BLACK_JACK = ("blackjack", "blackjack-triple")
GAMES: dict[str, tuple[str, ...]] = {
    "BAL05": ("poker-no-draw",),
    "ARA02": ("poker-no-draw",),
    "EUS96": (*POKER, *BLACK_JACK),
}
"""The games that have a jackpot, by decree."""
FIXED_JACKPOT_BOXES = 6
DECREE_PERCENTAGE: dict[str, Fraction] = {"BAL05": (9, 10), "ARA02": (1, 1)}
"""The part of each coin that the meter rises by, where the decree fixes it."""
PERCENTAGE_SOURCE = {"BAL05": "L2457-2458", "ARA02": "L1398-1400"}


class Terms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whatever is in it, never changes while the jackpot holds money: a change waits until it is
    won.
    """

    jackpot: Word
    decree: Literal["BAL05", "ARA02", "EUS96"]
    games: tuple[Word, ...]
    """The games of its tables, as ``poker-no-draw``."""
    currency: Word
    authorisation: Authorisation | None = None
    kind: Literal["progressive", "fixed"] = "progressive"
    """``fixed``: the value does not rise with the stakes, and the house restores it after each
    play.
    """
    entry: Literal["coins", "plays"] = "coins"
    """What raises the meter: each coin as it falls, or the sum of a play at its end."""
    stake: Amount | None = None
    """The amount with which a player takes part, where the decree wants it fixed."""
    seed: Amount = 0
    """What a period begins with; of a fixed jackpot, its value."""
    least: Amount = 0
    """What an award of the whole is worth at least; the house adds what the meter lacks."""
    reserve: Fraction = (0, 1)
    """The part of what the meter would rise by that goes to the reserve instead."""
    limit: Amount | None = None
    """The highest meter; what would exceed it goes to the reserve."""
    remainder: Literal["meter", "first"] = "meter"
    """Where the cents go that a share leaves: they stay in the meter, or the first winner gets
    them.
    """
    boxes: int | None = None
    """How many boxes for the jackpot each table has, where the decree wants that fixed."""
    shown: Annotated[int, Meta(ge=0, le=86_400)] = 600
    """For how many seconds a winning value is shown."""
    out_of_play: Literal["refuse", "mark"] = "refuse"
    """What tables do with bets while the jackpot is not in play, as the authorisation says."""


def find_flaws(terms: Terms) -> list[str]:
    """What in the terms is against the decree, or makes no sense. Empty: nothing."""
    found = [*_general_flaws(terms)]
    if terms.authorisation is not None:
        found += _decree_flaws(terms, terms.authorisation)
    return found


def find_flaws_in_configuration(terms: Terms) -> list[str]:
    """The same of terms in a configuration. Terms in a ledger are read again by the rules with
    which they were written, so that what an older release accepted stays as it was.
    """
    found, given = find_flaws(terms), terms.authorisation
    if terms.kind == "fixed" and terms.stake is not None and given is not None:
        least = 2000 * terms.stake * len(given.tables)
        if 2000 * terms.stake <= terms.seed < least:
            found.append(
                f"seed = {terms.seed} is below {least}: a fixed jackpot is the sum of its tables', "
                "each worth 2,000 times the bet (L1847, L1869)"
            )
    return found


def _general_flaws(terms: Terms) -> Iterator[str]:
    given, said = terms.authorisation, _amount_formatter(terms)
    for name, share in (
        ("reserve", terms.reserve),
        ("percentage", given.percentage if given else (0, 1)),
    ):
        if share[1] <= 0 or not 0 <= share[0] <= share[1]:
            yield f"{name} = {share[0]}/{share[1]} is no part of a whole: give one from 0 to 1"
    if terms.limit is not None and terms.limit < terms.seed:
        yield (
            f"limit = {said(terms.limit)} is below the seed of {said(terms.seed)}: raise it, or "
            "leave it out"
        )
    if terms.stake == 0:
        yield "stake = 0: give the amount with which a player takes part, or leave it out"
    if not terms.games:
        yield "games is empty: name the games of the tables"
    if given is None:
        return
    if not given.tables:
        yield "authorisation.tables is empty: name the tables that it is for"
    if len(set(given.tables)) < len(given.tables):
        yield "authorisation.tables names a table twice: name each once"
    for name, day in (("date", given.date), ("until", given.until)):
        if day is not None and not _is_day(day):
            yield f"authorisation.{name} = {day!r} is no day: write it as 2026-03-20"


def _decree_flaws(terms: Terms, given: Authorisation) -> Iterator[str]:
    """The numbers that a decree fixes."""
    unlike = [game for game in terms.games if game not in GAMES[terms.decree]]
    if unlike:
        yield (
            f"{', '.join(unlike)}: {terms.decree} has no jackpot there, but at "
            f"{', '.join(GAMES[terms.decree])}"
        )
    said = _amount_formatter(terms)
    numerator, denominator = given.percentage
    if terms.decree in DECREE_PERCENTAGE:
        whole, of = DECREE_PERCENTAGE[terms.decree]
        if numerator * of != whole * denominator:
            yield (
                f"percentage = {numerator}/{denominator}: {terms.decree} says {whole}/{of} "
                f"({PERCENTAGE_SOURCE[terms.decree]})"
            )
        for name, wrong in (
            ("kind", terms.kind != "progressive"),
            ("reserve", terms.reserve[0] != 0),
            ("limit", terms.limit is not None),
            ("entry", terms.entry != "coins"),
        ):
            if wrong:
                yield (
                    f"{name}: by {terms.decree} each coin goes into what has accumulated, and "
                    f"nothing of it elsewhere ({PERCENTAGE_SOURCE[terms.decree]}): leave it out"
                )
        return
    if terms.stake is None:
        yield (
            "stake is missing: EUS96 has one decided amount, shown at the table (L1819); give it "
            f"as {said(500)}"
        )
        return
    if terms.kind == "fixed":
        least, why = 2000 * terms.stake, "a fixed jackpot is worth 2,000 times the bet (L1847)"
    elif "poker-draw-house" in terms.games:
        least = 1000 * terms.stake * len(given.tables)
        why = "each table's begins with at least 1,000 times the bet (L1849, L1869)"
    else:
        least, why = 0, ""
    if terms.seed < least:
        yield f"seed = {said(terms.seed)} is below {said(least)}: {why}"
    if terms.kind == "fixed" and terms.boxes != FIXED_JACKPOT_BOXES:
        yield "boxes must be 6: a fixed jackpot wants a table with six boxes for it (L1847)"
    if set(terms.games) & set(BLACK_JACK) and terms.least < 2000 * terms.stake:
        yield (
            f"least = {said(terms.least)} is below {said(2000 * terms.stake)}: three sevens of one "
            "suit are worth at least 2,000 times the bet (L526, L594)"
        )


def _amount_formatter(terms: Terms) -> Callable[[int], str]:
    """How the configuration has an amount of these terms."""
    return lambda amount: format_amount(amount, terms.currency)


def _is_day(text: str) -> bool:
    try:
        moment(f"{text}T00:00:00Z")
    except ValueError:
        return False
    return len(text) == len("2026-03-20")
