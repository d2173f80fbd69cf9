"""The hands, boxes and seats of a table that a command can name. Pure."""

from __future__ import annotations

from common.contract.messages.messages import catalogue
from common.contract.shown import CirclePokerShown, PaiGowShown, Shown


def view_of(shown: Shown | None) -> str:
    """Return the tag of a view; empty if there is no view."""
    return "" if shown is None else str(shown.__struct_config__.tag)


LOW_HAND_SUFFIX = ".low"
"""Suffix of a pai gow hand's name for its low cards."""


def hands_of(shown: Shown | None) -> list[str]:
    """Return the wire names of a table's hands, boxes, seats and common cards; for a circle also
    the free seats.
    """
    if shown is None:
        return []
    names = [*shown.hands, *shown.rows, *shown.taken, *(shown.boards or shown.owners)]
    if isinstance(shown, CirclePokerShown):
        names += shown.places
    return list(dict.fromkeys(names))


def correctable_hands(shown: Shown | None) -> list[str]:
    """Return :func:`hands_of` with all boxes of a table whose round is over, and the low hand of
    each that has one.
    """
    if shown is None:
        return []
    hands = list(dict.fromkeys([*hands_of(shown), *shown.places]))
    has_low = isinstance(shown, PaiGowShown)
    return [*hands, *(f"{hand}{LOW_HAND_SUFFIX}" for hand in hands if has_low)]


def hand_text(hand: str, language: str) -> str:
    """Return a wire name such as ``box:3`` as text; other names are returned as they are."""
    texts = catalogue(language)
    if hand.endswith(LOW_HAND_SUFFIX):
        return f"{hand_text(hand.removesuffix(LOW_HAND_SUFFIX), language)}: {texts['mark.low']}"
    name, _, number = hand.partition(":")
    numbered = texts.get(f"who.{name}_numbered")
    if number and numbered is not None:
        return numbered.replace("{number}", number)
    plain = texts.get(f"who.{hand}") or texts.get(f"mark.{hand}")
    return plain or hand.replace("_", " ").replace(":", " ")
