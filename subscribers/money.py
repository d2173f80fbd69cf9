"""Amounts as people write them in each language."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.messages.messages import ENGLISH

SYMBOLS = {"EUR": "€", "GBP": "£", "USD": "$"}
DIGITS = {"CLP": 0, "ISK": 0, "JPY": 0, "KRW": 0, "BHD": 3, "KWD": 3, "TND": 3}
"""Decimal places of the currencies that have not two (ISO 4217)."""
SPACE = "\u00a0"
"""Keeps an amount and its currency on one line."""


def money(amount: int, currency: str, language: str, symbols: Mapping[str, str] = SYMBOLS) -> str:
    """An amount in minor units, always with its cents: ``12.345,67 €``; in English ``€12,345.67``.
    The currency's code stands where it has none of these symbols.
    """
    digits, sign = DIGITS.get(currency, 2), "-" if amount < 0 else ""
    whole, cents = divmod(abs(amount), 10**digits)
    english = language == ENGLISH
    point, group = (".", ",") if english else (",", ".")
    said = f"{whole:,}".replace(",", group) + (f"{point}{cents:0{digits}}" if digits else "")
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
