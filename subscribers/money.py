"""Amounts as people write them in each language."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.messages.messages import ENGLISH
from devices.money import plain

SYMBOLS = {"EUR": "€", "GBP": "£", "USD": "$"}
SPACE = "\u00a0"
"""Keeps an amount and its currency on one line."""


def money(amount: int, currency: str, language: str, symbols: Mapping[str, str] = SYMBOLS) -> str:
    """An amount in minor units, always with its cents: ``12.345,67 €``; in English ``€12,345.67``.
    The currency's code stands where it has none of these symbols.
    """
    sign = "-" if amount < 0 else ""
    whole, point, cents = plain(abs(amount), currency).partition(".")
    english = language == ENGLISH
    decimal, group = (".", ",") if english else (",", ".")
    said = f"{int(whole):,}".replace(",", group) + (f"{decimal}{cents}" if point else "")
    symbol = symbols.get(currency)
    if symbol is None:
        return f"{sign}{said}{SPACE}{currency}"
    return f"{sign}{symbol}{said}" if english else f"{sign}{said}{SPACE}{symbol}"


def day(date: str, language: str) -> str:
    """A day in ISO 8601 as it is written: ``31/12/2026``, in Basque ``2026/12/31``. What is no such
    day is shown as it is, which is also how English has it.
    """
    parts = date.split("-")
    if language == ENGLISH or [len(each) for each in parts] != [4, 2, 2]:
        return date
    return "/".join(parts if language == "eu" else reversed(parts))
