"""Amounts and dates in each language's notation."""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.messages.messages import ENGLISH
from common.money import format_amount

SYMBOLS = {"EUR": "€", "GBP": "£", "USD": "$"}
SPACE = "\u00a0"
"""Keeps an amount and its currency on one line."""


def money(amount: int, currency: str, language: str, symbols: Mapping[str, str] = SYMBOLS) -> str:
    """Format an amount in minor units, always with its cents: ``12.345,67 €``; in English
    ``€12,345.67``. A currency without a symbol is written as its code.
    """
    sign = "-" if amount < 0 else ""
    whole, point, cents = format_amount(abs(amount), currency).partition(".")
    english = language == ENGLISH
    decimal, group = (".", ",") if english else (",", ".")
    digits = f"{int(whole):,}".replace(",", group) + (f"{decimal}{cents}" if point else "")
    symbol = symbols.get(currency)
    if symbol is None:
        return f"{sign}{digits}{SPACE}{currency}"
    return f"{sign}{symbol}{digits}" if english else f"{sign}{digits}{SPACE}{symbol}"


def day(date: str, language: str) -> str:
    """Format an ISO 8601 date: ``31/12/2026``, in Basque ``2026/12/31``. English text and anything
    that is not such a date is returned unchanged.
    """
    parts = date.split("-")
    if language == ENGLISH or [len(part) for part in parts] != [4, 2, 2]:
        return date
    return "/".join(parts if language == "eu" else reversed(parts))
