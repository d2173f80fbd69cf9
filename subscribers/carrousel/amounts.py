"""Amounts as text for people."""

from __future__ import annotations

from common import money


def format_amount(amount: int, currency: str, language: str) -> str:
    """Format an amount in minor units: ``1.234,56 EUR``; in English ``1,234.56 EUR``."""
    whole, point, fraction = money.format_amount(amount, currency).partition(".")
    grouped = f"{int(whole):,}"
    if whole.startswith("-") and int(whole) == 0:
        grouped = f"-{grouped}"
    text = f"{grouped}{point}{fraction}"
    if language != "en":
        text = text.translate(str.maketrans(",.", ".,"))
    return f"{text} {currency}"
