"""The terms of a jackpot, as data: what its authorisation, its decree and its site fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from common.contract.bounds import Word
from common.contract.jackpot import Authorisation, Fraction
from common.contract.times import parse_utc
from common.money import format_amount

Amount = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]

POKER = ("poker-no-draw", "poker-draw-house")
BLACK_JACK = ("blackjack", "blackjack-triple")
GAMES: dict[str, tuple[str, ...]] = {
    "BAL05": ("poker-no-draw",),
    "ARA02": ("poker-no-draw",),
    "EUS96": (*POKER, *BLACK_JACK),
}
"""Games that have a jackpot, by decree."""
FIXED_JACKPOT_BOXES = 6
DECREE_PERCENTAGE: dict[str, Fraction] = {"BAL05": (9, 10), "ARA02": (1, 1)}
"""Part of each coin that raises the meter, by decree, where the decree fixes it."""
PERCENTAGE_SOURCE = {"BAL05": "L2457-2458", "ARA02": "L1398-1400"}


class Terms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The terms never change while the jackpot holds money: a change waits until it is won."""

    jackpot: Word
    decree: Literal["BAL05", "ARA02", "EUS96"]
    games: tuple[Word, ...]
    """Games of its tables, such as ``poker-no-draw``."""
    currency: Word
    authorisation: Authorisation | None = None
    kind: Literal["progressive", "fixed"] = "progressive"
    """``fixed``: the value does not rise with the stakes, and the house restores it after each
    play.
    """
    entry: Literal["coins", "plays"] = "coins"
    """What raises the meter: each coin as it falls, or the sum of a play at its end."""
    stake: Amount | None = None
    """The fixed stake, where the decree requires one."""
    seed: Amount = 0
    """Meter at the start of a period; the value of a fixed jackpot."""
    least: Amount = 0
    """Guaranteed minimum of an award of the whole meter; the house adds what the meter lacks."""
    reserve: Fraction = (0, 1)
    """Part of the meter's rise that goes to the reserve instead."""
    limit: Amount | None = None
    """Highest value of the meter; any excess goes to the reserve."""
    remainder: Literal["meter", "first"] = "meter"
    """Where cents lost by rounding shares go: they stay in the meter, or the first winner gets
    them.
    """
    boxes: int | None = None
    """Number of boxes for the jackpot at each table, where the decree fixes it."""
    shown: Annotated[int, Meta(ge=0, le=86_400)] = 600
    """Seconds for which a won value is shown."""
    out_of_play: Literal["refuse", "mark"] = "refuse"
    """What tables do with bets while the jackpot is not in play, as the authorisation specifies."""


def find_flaws(terms: Terms) -> list[str]:
    """Return where the terms contradict the decree or themselves; empty if nowhere."""
    problems = [*_general_flaws(terms)]
    if terms.authorisation is not None:
        problems += _decree_flaws(terms, terms.authorisation)
    return problems


def find_flaws_in_configuration(terms: Terms) -> list[str]:
    """Return the flaws of terms in a configuration. Terms in a ledger are checked by
    :func:`find_flaws` alone, so that those which an older release accepted remain valid.
    """
    problems, authorisation = find_flaws(terms), terms.authorisation
    if terms.kind == "fixed" and terms.stake is not None and authorisation is not None:
        minimum = 2000 * terms.stake * len(authorisation.tables)
        if 2000 * terms.stake <= terms.seed < minimum:
            problems.append(
                f"seed = {terms.seed} is below {minimum}: a fixed jackpot is the sum of its "
                "tables', each worth 2,000 times the bet (L1847, L1869)"
            )
    return problems


def _general_flaws(terms: Terms) -> Iterator[str]:
    authorisation, spell = terms.authorisation, _amount_formatter(terms)
    for name, share in (
        ("reserve", terms.reserve),
        ("percentage", authorisation.percentage if authorisation else (0, 1)),
    ):
        if share[1] <= 0 or not 0 <= share[0] <= share[1]:
            yield f"{name} = {share[0]}/{share[1]} is not a valid part: give one from 0 to 1"
    if terms.limit is not None and terms.limit < terms.seed:
        yield (
            f"limit = {spell(terms.limit)} is below the seed of {spell(terms.seed)}: raise it, or "
            "leave it out"
        )
    if terms.stake == 0:
        yield "stake = 0: give the amount with which a player takes part, or leave it out"
    if not terms.games:
        yield "games is empty: name the games of the tables"
    if authorisation is None:
        return
    if not authorisation.tables:
        yield "authorisation.tables is empty: name the tables that it is for"
    if len(set(authorisation.tables)) < len(authorisation.tables):
        yield "authorisation.tables names a table twice: name each once"
    for name, day in (("date", authorisation.date), ("until", authorisation.until)):
        if day is not None and not _is_day(day):
            yield f"authorisation.{name} = {day!r} is not a date: write it as 2026-03-20"


def _decree_flaws(terms: Terms, authorisation: Authorisation) -> Iterator[str]:
    """Check the numbers that the decree fixes."""
    other_games = [game for game in terms.games if game not in GAMES[terms.decree]]
    if other_games:
        yield (
            f"{', '.join(other_games)}: {terms.decree} has no jackpot for it, only for "
            f"{', '.join(GAMES[terms.decree])}"
        )
    spell = _amount_formatter(terms)
    numerator, denominator = authorisation.percentage
    if terms.decree in DECREE_PERCENTAGE:
        whole, divisor = DECREE_PERCENTAGE[terms.decree]
        if numerator * divisor != whole * denominator:
            yield (
                f"percentage = {numerator}/{denominator}: {terms.decree} requires "
                f"{whole}/{divisor} ({PERCENTAGE_SOURCE[terms.decree]})"
            )
        for name, is_wrong in (
            ("kind", terms.kind != "progressive"),
            ("reserve", terms.reserve[0] != 0),
            ("limit", terms.limit is not None),
            ("entry", terms.entry != "coins"),
        ):
            if is_wrong:
                yield (
                    f"{name}: by {terms.decree} the whole coin goes into the meter, and nothing "
                    f"elsewhere ({PERCENTAGE_SOURCE[terms.decree]}): leave it out"
                )
        return
    if terms.stake is None:
        yield (
            "stake is missing: EUS96 has one decided amount, shown at the table (L1819); give it "
            f"as {spell(500)}"
        )
        return
    if terms.kind == "fixed":
        minimum, why = 2000 * terms.stake, "a fixed jackpot is worth 2,000 times the bet (L1847)"
    elif "poker-draw-house" in terms.games:
        minimum = 1000 * terms.stake * len(authorisation.tables)
        why = "each table's begins with at least 1,000 times the bet (L1849, L1869)"
    else:
        minimum, why = 0, ""
    if terms.seed < minimum:
        yield f"seed = {spell(terms.seed)} is below {spell(minimum)}: {why}"
    if terms.kind == "fixed" and terms.boxes != FIXED_JACKPOT_BOXES:
        yield "boxes must be 6: a fixed jackpot requires a table with six boxes for it (L1847)"
    if set(terms.games) & set(BLACK_JACK) and terms.least < 2000 * terms.stake:
        yield (
            f"least = {spell(terms.least)} is below {spell(2000 * terms.stake)}: three sevens of "
            "one suit are worth at least 2,000 times the bet (L526, L594)"
        )


def _amount_formatter(terms: Terms) -> Callable[[int], str]:
    """Return a function that formats amounts as the configuration does."""
    return lambda amount: format_amount(amount, terms.currency)


def _is_day(text: str) -> bool:
    try:
        parse_utc(f"{text}T00:00:00Z")
    except ValueError:
        return False
    return len(text) == len("2026-03-20")
