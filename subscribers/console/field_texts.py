"""The fields of a command as text for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from common.contract.messages.messages import word
from common.money import EURO
from subscribers.console.forms import FormField, forms
from subscribers.console.hands import hand_text
from subscribers.console.words import console_text
from subscribers.display.hands import bet_name
from subscribers.display.picture import Word
from subscribers.money import money


def fields_as_text(
    command: str, fields: Mapping[str, Any], language: str, currency: str | None = None
) -> Iterable[Word]:
    """Yield the fields of a command as text."""
    for field in forms(language)[command].fields:
        if field.name in fields:
            yield Word(field.text, _value(field, fields[field.name], language, currency))


def _value(field: FormField, value: Any, language: str, currency: str | None = None) -> str:
    """Return a field's value, or a part of it, as text."""
    texts = {choice.value: choice.text for choice in field.choices}
    if isinstance(value, bool):
        return console_text("pit.yes" if value else "pit.no", language)
    if isinstance(value, dict):
        hands = (
            f"{hand_text(hand, language)}: {_value(field, part_, language)}"
            for hand, part_ in value.items()
        )
        return "; ".join(hands)
    if isinstance(value, list):
        return " ".join(_value(field, part, language) for part in value)
    if field.kind == "amount":
        return money(value, currency or EURO, language)
    if field.kind.startswith("card"):
        return card_text(value, language)
    if not isinstance(value, str) or value in texts:
        return texts.get(value, str(value))
    if field.name == "bet":
        return bet_name(value, language)
    return hand_text(value, language) if field.kind == "hand" else value


SUIT_SYMBOLS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}


def card_text(card: str, language: str) -> str:
    """Return a card such as ``Th`` as text."""
    if card == "X":
        return word("symbol", "joker", language)
    rank, suit = card[:1], card[1:]
    return f"{'10' if rank == 'T' else rank}{SUIT_SYMBOLS.get(suit, suit)}"
