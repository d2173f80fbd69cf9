"""The picture of a jackpot: what it says, and that nothing of before is shown as current."""

from __future__ import annotations

import json
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.jackpot import Awarded, JackpotAlert, JackpotState, OutOfPlay, Pending
from common.contract.messages.messages import LANGUAGES, catalogue
from common.contract.retained import Alert
from common.contract.times import format_utc
from subscribers.display.jackpot import JackpotPicture, jackpot_picture
from subscribers.feed.meter import Meter, on_alert, on_state, remaining_seconds
from subscribers.money import day, money
from tests.support.jackpot import BEGAN, TITLE, award, statement, table

STATEMENT_TIME = 1_774_000_000.0
"""Time of the statements in these tests."""


def told(state: JackpotState, at: float = STATEMENT_TIME) -> Meter:
    """The meter after this statement."""
    return on_state(Meter(jackpot="gran"), msgspec.json.encode(state), format_utc(at))


def drawn(
    state: JackpotState, after: float = 0.0, language: str | None = "es", broker: bool = True
) -> JackpotPicture:
    """The meter's picture that number of seconds after the statement was made and received."""
    no_broker = None if broker else format_utc(STATEMENT_TIME - 1)
    return jackpot_picture(told(state), no_broker, format_utc(STATEMENT_TIME + after), language)


def test_each_language_writes_an_amount_in_its_way() -> None:
    said = {language: money(1_234_567, "EUR", language) for language in LANGUAGES}
    spanish = "12.345,67\u00a0€"
    assert said == {
        "en": "€12,345.67",
        "es": spanish,
        "ca": spanish,
        "eu": spanish,
        "gl": spanish,
    }
    assert money(-5, "EUR", "es") == "-0,05\u00a0€"
    assert money(1000, "JPY", "es") == "1.000\u00a0JPY"
    assert money(1000, "KWD", "en") == "1.000\u00a0KWD"
    assert money(123_456_789_012, "EUR", "eu") == "1.234.567.890,12\u00a0€"
    assert [day("2026-01-15", each) for each in ("en", "es", "eu")] == [
        "2026-01-15",
        "15/01/2026",
        "2026/01/15",
    ]
    assert day("soon", "es") == "soon"


@given(
    st.integers(-(10**12), 10**12),
    st.sampled_from(LANGUAGES),
    st.sampled_from(["EUR", "JPY", "KWD"]),
)
def test_no_digit_of_an_amount_is_lost(amount: int, language: str, currency: str) -> None:
    said = money(amount, currency, language)
    assert int("".join(each for each in said if each.isdecimal())) == abs(amount)
    assert said.startswith("-") == (amount < 0)


@given(
    value=st.integers(0, 10**12),
    seconds=st.floats(0.1, 3600),
    after=st.floats(-10, 7200),
    heard=st.floats(-3600, 3600),
    in_play=st.booleans(),
    broker=st.booleans(),
    language=st.sampled_from([*LANGUAGES, None]),
)
def test_it_is_greyed_if_and_only_if_its_statement_expired_or_is_unconfirmed(
    value: int,
    seconds: float,
    after: float,
    heard: float,
    in_play: bool,
    broker: bool,
    language: str | None,
) -> None:
    """``heard``: seconds after the statement by the controller's clock, which may differ from this
    machine's.
    """
    why = None if in_play else "suspended"
    state = statement(value, seconds, STATEMENT_TIME, in_play=in_play, why=why)
    meter = told(state, STATEMENT_TIME + heard)
    now = format_utc(STATEMENT_TIME + after)
    shown = jackpot_picture(meter, None if broker else now, now, language)
    ended = STATEMENT_TIME + after >= STATEMENT_TIME + seconds or after - heard >= seconds
    near = min(abs(after - seconds), abs(after - heard - seconds)) < 1e-3
    if not near:
        assert shown.current == (broker and not ended)
    assert shown.current == (shown.trouble is None) == (shown.holds > 0)
    assert shown.in_play == (shown.current and in_play)
    assert (shown.out is not None) == (shown.current and not in_play)
    assert any(table.in_play for table in shown.tables) == shown.in_play
    assert shown.amount == money(value, "EUR", shown.language)


def test_a_clock_ahead_of_ours_keeps_no_old_value() -> None:
    state = statement(seconds=15.0, now=STATEMENT_TIME + 3600)
    assert (
        remaining_seconds(told(state), format_utc(STATEMENT_TIME + 14.9))
        > 0
        >= remaining_seconds(told(state), format_utc(STATEMENT_TIME + 15.1))
    )


def test_a_missing_or_unreadable_statement_has_no_value() -> None:
    nothing = jackpot_picture(Meter(jackpot="gran"), None, format_utc(STATEMENT_TIME), "es")
    assert (nothing.amount, nothing.title, nothing.current) == (None, "gran", False)
    assert nothing.trouble is not None
    assert nothing.trouble.why == "unsaid"
    for bad in (
        b"[",
        b"{}",
        msgspec.json.encode({**msgspec.to_builtins(statement()), "until": "x"}),
    ):
        meter = on_state(told(statement(now=STATEMENT_TIME)), bad, format_utc(STATEMENT_TIME + 1))
        shown = jackpot_picture(meter, None, format_utc(STATEMENT_TIME + 2), "es")
        assert shown.trouble is not None
        assert shown.trouble.why == "unreadable"
        assert shown.trouble.since == format_utc(STATEMENT_TIME + 1)
    again = on_state(
        meter, msgspec.json.encode(statement(now=STATEMENT_TIME)), format_utc(STATEMENT_TIME + 2)
    )
    assert jackpot_picture(again, None, format_utc(STATEMENT_TIME + 2), "es").current
    cleared = jackpot_picture(
        on_state(again, b"", format_utc(STATEMENT_TIME + 3)),
        None,
        format_utc(STATEMENT_TIME + 3),
        "es",
    )
    assert (cleared.amount, cleared.current) == (None, False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_contract_is_translated(language: str) -> None:
    own = catalogue(language)
    for group, words in (("out_of_play", OutOfPlay), ("award", Awarded), ("pending", Pending)):
        for each in get_args(words):
            assert f"jackpot.{group}.{each}" in own
    for why in get_args(OutOfPlay):
        out = {
            "poker-1": table(False, why),
            "poker-2": table(False, why, format_utc(STATEMENT_TIME)),
        }
        shown = drawn(
            statement(now=STATEMENT_TIME, in_play=False, why=why, tables=out), language=language
        )
        assert shown.out is not None
        assert shown.out.text == own[f"jackpot.out_of_play.{why}"]
        assert shown.out.since == BEGAN
        assert [each.why for each in shown.tables[:2]] == [shown.out.text] * 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_award_shows_its_winner_and_why_it_waits(language: str) -> None:
    own = catalogue(language)
    waiting = [
        award(number, status="pending", why=why, value=None)
        for number, why in enumerate(get_args(Pending), 1)
    ]
    paid = award(9, status="payable", paid=250_000)
    state = statement(now=STATEMENT_TIME, awards=(*waiting, paid), won=paid)
    shown = drawn(state, language=language)
    for each, why in zip(shown.awards, get_args(Pending), strict=False):
        assert each.amount is None
        assert each.said == f"{own['jackpot.award.pending']}: {own[f'jackpot.pending.{why}']}"
    assert shown.won is not None
    assert shown.won.amount == money(1_250_000, "EUR", language)
    assert money(250_000, "EUR", language) in shown.won.said
    assert "poker-2" in shown.won.table
    assert shown.won.hand == own["hand.royal_flush"]
    assert [card.rank for card in shown.won.cards] == ["A", "K", "Q", "J", "10"]
    assert shown.title == TITLE[language]
    assert shown.authorisation is not None
    assert "DGJ-2026/117" in shown.authorisation


def test_a_table_that_is_authorised_and_not_linked_is_named() -> None:
    state = statement(
        now=STATEMENT_TIME, tables={"poker-2": table(), "poker-9": table(False, "foreign")}
    )
    shown = {each.table: each for each in drawn(state).tables}
    assert [*shown] == ["poker-1", "poker-2", "poker-3", "poker-9"]
    assert [picture.in_play for picture in shown.values()] == [False, True, False, False]
    assert shown["poker-1"].why == catalogue("es")["jackpot.unlinked"]


def test_without_a_language_it_is_in_the_first_one_that_its_site_named_it_in() -> None:
    state = statement(now=STATEMENT_TIME, title={"fr": "Grand", "eu": "Handia", "es": "Gran"})
    shown = drawn(state, language=None)
    assert (shown.language, shown.title) == ("eu", "Handia")
    assert drawn(state, language="gl").title == "Grand"


def test_a_picture_is_json() -> None:
    state = statement(
        now=STATEMENT_TIME, awards=(award(),), last=tuple(award(each) for each in range(1, 26))
    )
    shown = json.loads(msgspec.json.encode(drawn(state)))
    assert shown["amount"] == "12.345,67\u00a0€"
    assert len(shown["last"]) == 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_alert_is_shown_in_each_language_with_its_table(language: str) -> None:
    own, meter = catalogue(language), told(statement(now=STATEMENT_TIME))
    for what in get_args(JackpotAlert):
        for name in (kind := what.replace("_", "-"), f"poker-1-{kind}"):
            alert = Alert(alert=name, what=f"jackpot.{what}", severity="warning", raised=BEGAN)
            one = on_alert(meter, name, msgspec.json.encode(alert))
            [shown] = jackpot_picture(one, None, format_utc(STATEMENT_TIME), language).alerts
            said = own[f"alert.jackpot.{what}"]
            table = own["jackpot.table"].format(table="poker-1")
            assert shown.text == (said if name == kind else f"{table}: {said}")
            assert (
                jackpot_picture(
                    one, format_utc(STATEMENT_TIME), format_utc(STATEMENT_TIME), language
                ).alerts
                == ()
            )
            assert (
                jackpot_picture(
                    on_alert(one, name, b""), None, format_utc(STATEMENT_TIME), language
                ).alerts
                == ()
            )


def test_an_alert_that_cannot_be_read_is_not_shown() -> None:
    meter = on_alert(told(statement(now=STATEMENT_TIME)), "x", b"no alert")
    assert jackpot_picture(meter, None, format_utc(STATEMENT_TIME), "es").alerts == ()
