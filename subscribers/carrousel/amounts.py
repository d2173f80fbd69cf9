"""Amounts as people read them."""

from __future__ import annotations

DIGITS = {"CLP": 0, "ISK": 0, "JPY": 0, "KRW": 0, "BHD": 3, "JOD": 3, "KWD": 3, "TND": 3}
"""Digits of the minor unit, where they are not two (ISO 4217)."""


def plain(amount: int, currency: str) -> str:
    """For machines and columns: ``-1234.56``."""
    digits = DIGITS.get(currency, 2)
    whole, rest = divmod(abs(amount), 10**digits)
    return f"{'-' if amount < 0 else ''}{whole}{f'.{rest:0{digits}}' if digits else ''}"


def said(amount: int, currency: str, language: str) -> str:
    """For people: ``1.234,56 EUR``; in English ``1,234.56 EUR``."""
    whole, point, rest = plain(amount, currency).partition(".")
    grouped = f"{int(whole):,}"
    if whole.startswith("-") and int(whole) == 0:
        grouped = f"-{grouped}"
    text = f"{grouped}{point}{rest}"
    if language != "en":
        text = text.translate(str.maketrans(",.", ".,"))
    return f"{text} {currency}"
