"""The picture of a jackpot, as data: its value and what is won of it, in one language.

A picture is ``current`` or has a ``trouble``, never both: what it shows is then of before, and is
drawn grey. Amounts and words are whole here; the page's script only draws them.
"""

from __future__ import annotations

import msgspec

from controller.contract.jackpot import Authorisation, JackpotAward, JackpotState, OutOfPlay
from controller.contract.messages.messages import first_of, text, word
from controller.contract.retained import Alert
from subscribers.display.cards import Card, card
from subscribers.meter import (
    Meter,
    out_of_play_text,
    remaining_seconds,
    silence,
    silence_text,
    title,
)
from subscribers.money import day, money
from subscribers.words import who

LATEST = 6
"""The latest awards that are shown."""


class Trouble(msgspec.Struct, frozen=True):
    """Why nothing of this is current: the word, the same for a person, and since when."""

    why: str
    text: str
    since: str | None


class OutOfPlayNow(msgspec.Struct, frozen=True):
    """Why bets are not in play: the word, the same for a person, and since when."""

    why: OutOfPlay | None
    text: str
    since: str | None


class Award(msgspec.Struct, frozen=True, kw_only=True):
    """A hand that takes a part of the meter."""

    award: int
    amount: str | None
    """None while nobody can say."""
    table: str
    box: str
    hand: str
    cards: tuple[Card, ...]
    status: str
    """The word on the wire."""
    said: str
    """What has become of it, and why it is pending."""
    time: str
    """UTC, ISO 8601."""


class JackpotTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table that is linked, or that is authorised."""

    table: str
    in_play: bool
    why: str | None
    """Why not, for a person; None if it is."""
    since: str | None


class JackpotAlerted(msgspec.Struct, frozen=True):
    """An open alert: the word on the wire, and the same for a person with the table that it is
    about.
    """

    what: str
    text: str


class JackpotPicture(msgspec.Struct, frozen=True, kw_only=True):
    """One jackpot in one language."""

    jackpot: str
    language: str
    title: str
    decree: str
    simulated: bool
    current: bool
    trouble: Trouble | None
    holds: float
    """Seconds for which it is current, if nothing else is said; 0: it is not."""
    amount: str | None
    """The meter; None: it was never heard."""
    in_play: bool
    """Bets may be taken, at the tables that are in play."""
    out: OutOfPlayNow | None
    """Why they may not; None where they may, and where nothing is current."""
    won: Award | None
    """The last award while it is to be shown."""
    awards: tuple[Award, ...]
    """Those that wait."""
    last: tuple[Award, ...]
    """The latest ones, newest first."""
    tables: tuple[JackpotTable, ...]
    authorisation: str | None
    terms_wait: bool
    alerts: tuple[JackpotAlerted, ...]
    """Those that are open; none while nothing is current."""


def picture(meter: Meter, no_broker: str | None, now: str, language: str | None) -> JackpotPicture:
    """The picture of a jackpot at this moment. ``no_broker``: since when the broker is not heard;
    None: it is. ``language``: None for the first in which the site named it.
    """
    state = meter.state
    chosen = language or first_of(() if state is None else state.title)
    silent = silence(meter, no_broker, now)
    current = silent is None
    return JackpotPicture(
        jackpot=meter.jackpot,
        language=chosen,
        title=title(meter, chosen),
        decree="" if state is None else state.decree,
        simulated=meter.simulated,
        current=current,
        trouble=None
        if silent is None
        else Trouble(silent.why, silence_text(silent, chosen), silent.since),
        holds=round(max(0.0, remaining_seconds(meter, now)), 3) if current else 0.0,
        amount=None if state is None else money(state.value, state.currency, chosen),
        in_play=current and state is not None and state.in_play,
        out=_out(state, chosen) if current else None,
        won=None if state is None or state.won is None else _award(state.won, state, chosen),
        awards=() if state is None else tuple(_award(each, state, chosen) for each in state.awards),
        last=()
        if state is None
        else tuple(_award(each, state, chosen) for each in state.last[:LATEST]),
        tables=() if state is None else _tables(state, current, chosen),
        authorisation=None
        if state is None or state.authorisation is None
        else _authorisation(state.authorisation, chosen),
        terms_wait=state is not None and state.terms_wait,
        alerts=tuple(_alert(each, chosen) for each in meter.alerts.values()) if current else (),
    )


def _alert(alert: Alert, language: str) -> JackpotAlerted:
    """Where it is about one table, its id begins with that of the table."""
    said = word("alert", alert.what, language)
    kind = alert.what.removeprefix("jackpot.").replace("_", "-")
    table = alert.alert.removesuffix(kind).removesuffix("-")
    if table:
        said = text("jackpot.table", language, table=table) + ": " + said
    return JackpotAlerted(alert.what, said)


def _out(state: JackpotState | None, language: str) -> OutOfPlayNow | None:
    """Why the jackpot is not in play, since when its tables are not for that reason."""
    if state is None or state.in_play:
        return None
    same = [each.since for each in state.tables.values() if each.why and each.why == state.why]
    return OutOfPlayNow(state.why, out_of_play_text(state.why, language), min(same, default=None))


def _award(award: JackpotAward, state: JackpotState, language: str) -> Award:
    said = word("jackpot", f"award.{award.status}", language)
    if award.why is not None:
        said += ": " + word("jackpot", f"pending.{award.why}", language)
    if award.paid > 0 and award.status != "paid":
        paid = money(award.paid, state.currency, language)
        said += " · " + text("jackpot.part_paid", language, amount=paid)
    return Award(
        award=award.award,
        amount=None if award.value is None else money(award.value, state.currency, language),
        table=text("jackpot.table", language, table=award.table),
        box=who(award.box, language),
        hand=word("hand", award.hand, language),
        cards=tuple(card(name, language) for name in award.cards),
        status=award.status,
        said=said,
        time=award.time,
    )


def _tables(state: JackpotState, current: bool, language: str) -> tuple[JackpotTable, ...]:
    """Every table that is authorised or linked. While the jackpot is not current nobody knows where
    it is in play, so it is nowhere.
    """
    authorised = () if state.authorisation is None else state.authorisation.tables
    names = dict.fromkeys((*authorised, *state.tables))
    return tuple(_table(name, state, current, language) for name in names)


def _table(name: str, state: JackpotState, current: bool, language: str) -> JackpotTable:
    told = state.tables.get(name)
    if told is None:
        unlinked = text("jackpot.unlinked", language)
        return JackpotTable(table=name, in_play=False, why=unlinked, since=None)
    if told.in_play:
        here = current and state.in_play
        return JackpotTable(table=name, in_play=here, why=None, since=told.since)
    said = out_of_play_text(told.why, language)
    return JackpotTable(table=name, in_play=False, why=said, since=told.since)


def _authorisation(given: Authorisation, language: str) -> str:
    """Its number, date and authority, and until when it is in force."""
    said = text(
        "jackpot.authorisation",
        language,
        number=given.number,
        date=day(given.date, language),
        authority=given.authority,
    )
    if given.until is None:
        return said
    until = text("jackpot.authorised_until", language, date=day(given.until, language))
    return f"{said}, {until}"
