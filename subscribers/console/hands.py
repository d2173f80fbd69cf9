"""The hands, boxes and seats of a table that a command can name. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.messages.messages import catalogue
from common.contract.shown import CirclePokerShown, Shown


def view_of(shown: Shown | None) -> str:
    """Return the tag of a view; empty if there is no view."""
    return "" if shown is None else str(shown.__struct_config__.tag)


PLACE_FIELDS: Mapping[str, str] = {"seated": "seat", "seats": "seat", "boxes": "box"}
"""Fields of views that list seats or boxes; in other views they are a number."""
EXTRA_HANDS: Mapping[str, tuple[str, ...]] = {
    "circle-poker": ("board",),
    "circle-draw": ("discards",),
    "texas-house": ("dealer", "board"),
    "trijoker": ("common:1", "common:2", "common"),
    "pai-gow": ("dealer",),
}
"""Further owners of cards by view, listed even without cards."""
DEFAULT_SEATS = 10
"""Number of seats of a circle if the decree names none."""


def hands_of(shown: Shown | None) -> list[str]:
    """Return the wire names of a table's hands, boxes, seats and common cards; for a circle also
    the free seats.
    """
    if shown is None:
        return []
    names = [*shown.hands, *shown.rows, *taken_places(shown)]
    names += ["dealer"] if hasattr(shown, "dealer") else []
    names += [*shown.boards] or EXTRA_HANDS.get(view_of(shown), ())
    if isinstance(shown, CirclePokerShown):
        names += [f"seat:{number}" for number in range(1, (shown.players[1] or DEFAULT_SEATS) + 1)]
    return list(dict.fromkeys(names))


def taken_places(shown: Shown | None) -> list[str]:
    """Return the boxes or seats that are taken."""
    places: list[str] = []
    for field, kind in PLACE_FIELDS.items():
        numbers = getattr(shown, field, None)
        places += [f"{kind}:{number}" for number in numbers] if isinstance(numbers, tuple) else []
    return places


LOW_HAND_SUFFIX = ".low"
"""Suffix of a pai gow hand's name for its low cards."""


def correctable_hands(shown: Shown | None) -> list[str]:
    """Return :func:`hands_of` with all boxes of a table whose round is over, and the low hand of
    each that has one.
    """
    boxes = getattr(shown, "boxes", 0)
    hands = hands_of(shown)
    if isinstance(boxes, int):
        hands = list(dict.fromkeys([*hands, *(f"box:{number}" for number in range(1, boxes + 1))]))
    return [*hands, *(f"{hand}{LOW_HAND_SUFFIX}" for hand in hands if view_of(shown) == "pai-gow")]


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
