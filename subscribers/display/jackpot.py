"""The picture of a jackpot as data: its value and its awards, in one language.

A picture is either ``current`` or has a ``trouble``. With a trouble it shows the last known state,
drawn grey. Amounts and texts are complete here; the page's script only draws them.
"""

from __future__ import annotations

import msgspec

from common.contract.jackpot import Authorisation, JackpotAward, JackpotState, OutOfPlay
from common.contract.messages.messages import first_of, text, word
from common.contract.retained import Alert
from subscribers.display.cards import CardPicture, card
from subscribers.feed.meter import (
    Meter,
    out_of_play_text,
    remaining_seconds,
    silence,
    silence_text,
    title,
)
from subscribers.money import day, money
from subscribers.words import who

MAX_LATEST_AWARDS = 6
"""Number of latest awards shown."""


class JackpotTrouble(msgspec.Struct, frozen=True):
    """Why the state is not current: wire word, text, and since when."""

    why: str
    text: str
    since: str | None


class OutOfPlayNow(msgspec.Struct, frozen=True):
    """Why bets are not in play: wire word, text, and since when."""

    why: OutOfPlay | None
    text: str
    since: str | None


class AwardPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A hand that wins a part of the meter."""

    award: int
    amount: str | None
    """None while it is not known."""
    table: str
    box: str
    hand: str
    cards: tuple[CardPicture, ...]
    status: str
    """The wire word."""
    said: str
    """The status as text, and why it is pending."""
    time: str
    """UTC, ISO 8601."""


class JackpotTableLine(msgspec.Struct, frozen=True, kw_only=True):
    """A linked or authorised table."""

    table: str
    in_play: bool
    why: str | None
    """Why it is not in play, as text; None if it is."""
    since: str | None


class JackpotAlertLine(msgspec.Struct, frozen=True):
    """An open alert: wire word, and text with the table concerned."""

    what: str
    text: str


class JackpotPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A jackpot in one language."""

    jackpot: str
    language: str
    title: str
    decree: str
    simulated: bool
    current: bool
    trouble: JackpotTrouble | None
    holds: float
    """Seconds for which it stays current without an update; 0 if it is not."""
    amount: str | None
    """The meter; None if never received."""
    in_play: bool
    """Bets may be taken at the tables in play."""
    out: OutOfPlayNow | None
    """Why they may not; None if they may, or if the state is not current."""
    won: AwardPicture | None
    """The last award while it is to be shown."""
    awards: tuple[AwardPicture, ...]
    """Waiting awards."""
    last: tuple[AwardPicture, ...]
    """The latest ones, newest first."""
    tables: tuple[JackpotTableLine, ...]
    authorisation: str | None
    terms_wait: bool
    alerts: tuple[JackpotAlertLine, ...]
    """Open alerts; empty while the state is not current."""


def jackpot_picture(
    meter: Meter, no_broker: str | None, now: str, language: str | None
) -> JackpotPicture:
    """Return the picture of a jackpot at this moment. ``no_broker``: since when the broker is
    disconnected, or None. ``language``: None for the first in which the site named it.
    """
    state = meter.state
    chosen = language or first_of(() if state is None else state.title)
    meter_silence = silence(meter, no_broker, now)
    current = meter_silence is None
    return JackpotPicture(
        jackpot=meter.jackpot,
        language=chosen,
        title=title(meter, chosen),
        decree="" if state is None else state.decree,
        simulated=meter.simulated,
        current=current,
        trouble=None
        if meter_silence is None
        else JackpotTrouble(
            meter_silence.why, silence_text(meter_silence, chosen), meter_silence.since
        ),
        holds=round(max(0.0, remaining_seconds(meter, now)), 3) if current else 0.0,
        amount=None if state is None else money(state.value, state.currency, chosen),
        in_play=current and state is not None and state.in_play,
        out=_out(state, chosen) if current else None,
        won=None if state is None or state.won is None else _award(state.won, state, chosen),
        awards=()
        if state is None
        else tuple(_award(entry, state, chosen) for entry in state.awards),
        last=()
        if state is None
        else tuple(_award(entry, state, chosen) for entry in state.last[:MAX_LATEST_AWARDS]),
        tables=() if state is None else _tables(state, current, chosen),
        authorisation=None
        if state is None or state.authorisation is None
        else _authorisation(state.authorisation, chosen),
        terms_wait=state is not None and state.terms_wait,
        alerts=tuple(_alert(entry, chosen) for entry in meter.alerts.values()) if current else (),
    )


def _alert(alert: Alert, language: str) -> JackpotAlertLine:
    """Return an alert with its table: the alert id starts with the table's id, if there is one."""
    alert_text = word("alert", alert.what, language)
    kind = alert.what.removeprefix("jackpot.").replace("_", "-")
    table = alert.alert.removesuffix(kind).removesuffix("-")
    if table:
        alert_text = text("jackpot.table", language, table=table) + ": " + alert_text
    return JackpotAlertLine(alert.what, alert_text)


def _out(state: JackpotState | None, language: str) -> OutOfPlayNow | None:
    """Return why the jackpot is not in play, since the first of its tables is not for
    that reason.
    """
    if state is None or state.in_play:
        return None
    since = [table.since for table in state.tables.values() if table.why and table.why == state.why]
    return OutOfPlayNow(state.why, out_of_play_text(state.why, language), min(since, default=None))


def _award(award: JackpotAward, state: JackpotState, language: str) -> AwardPicture:
    status_text = word("jackpot", f"award.{award.status}", language)
    if award.why is not None:
        status_text += ": " + word("jackpot", f"pending.{award.why}", language)
    if award.paid > 0 and award.status != "paid":
        paid = money(award.paid, state.currency, language)
        status_text += " · " + text("jackpot.part_paid", language, amount=paid)
    return AwardPicture(
        award=award.award,
        amount=None if award.value is None else money(award.value, state.currency, language),
        table=text("jackpot.table", language, table=award.table),
        box=who(award.box, language),
        hand=word("hand", award.hand, language),
        cards=tuple(card(name, language) for name in award.cards),
        status=award.status,
        said=status_text,
        time=award.time,
    )


def _tables(state: JackpotState, current: bool, language: str) -> tuple[JackpotTableLine, ...]:
    """Return every authorised or linked table. While the jackpot is not current, none
    is in play.
    """
    authorised = () if state.authorisation is None else state.authorisation.tables
    names = dict.fromkeys((*authorised, *state.tables))
    return tuple(_table(name, state, current, language) for name in names)


def _table(name: str, state: JackpotState, current: bool, language: str) -> JackpotTableLine:
    state_ = state.tables.get(name)
    if state_ is None:
        unlinked = text("jackpot.unlinked", language)
        return JackpotTableLine(table=name, in_play=False, why=unlinked, since=None)
    if state_.in_play:
        in_play = current and state.in_play
        return JackpotTableLine(table=name, in_play=in_play, why=None, since=state_.since)
    why = out_of_play_text(state_.why, language)
    return JackpotTableLine(table=name, in_play=False, why=why, since=state_.since)


def _authorisation(authorisation: Authorisation, language: str) -> str:
    """Return its number, date and authority, and its expiry."""
    authorisation_text = text(
        "jackpot.authorisation",
        language,
        number=authorisation.number,
        date=day(authorisation.date, language),
        authority=authorisation.authority,
    )
    if authorisation.until is None:
        return authorisation_text
    until = text("jackpot.authorised_until", language, date=day(authorisation.until, language))
    return f"{authorisation_text}, {until}"
