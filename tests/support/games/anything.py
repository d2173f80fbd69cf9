"""Any input, with fields that are sometimes right and often wrong: as people, devices or a faulty
program might send.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from common.contract.notation import Input, read_input
from common.readings import Reading
from controller.games.cards import DECK

FOREIGN = ("Xx", "1c", "", "AH", "10h", "X", "7", "hh")
"""Not a card of any game, except that one game has "X"."""
WHO = (
    *(
        None,
        "",
        "nobody",
        "player",
        "banker",
        "bank",
        "cloth:1",
        "cloth:2",
        "black",
        "red",
        "dealer",
        "board",
        "board:2",
        "burn",
    ),
    *(
        "box:1",
        "box:2",
        "box:1.2",
        "box:99",
        "box:x",
        "seat:1",
        "seat:2",
        "seat:99",
        "common:1",
        "common:2",
        "discards",
    ),
)
VALUES: Mapping[str, tuple[Any, ...]] = {
    "by": ("M. Lasa",),
    "who": WHO,
    "to": WHO,
    "winner": (*WHO, "tie", "joker"),
    "index": (None, None, -1, 0, 1, 2, 3, 9),
    "count": (-1, 0, 1, 1, 2, 3, 60),
    "number": (None, 0, 1, 5, 24, 36, 37, -1, "00", "joker", "", "X"),
    "conflict": (None, None, None, 7, "00"),
    "cell": (0, 1, 2, 18, 19, 54, 64, 65, -1),
    "spin": (None, 1, 1, 2, 3),
    "throw": (None, 1, 1, 2, 3),
    "round": (None, None, 0, 1, 2, 99),
    "seat": (None, 1, 2, 0, 99, -1),
    "boxes": ((), (1,), (1, 2), (1, 2, 3, 4), (1, 1), (0,), (99,)),
    "bet": ("", "ante", "bonus", "win", "pass", "5", "red", "insurance", "nothing"),
    "values": ((), (1,), (3, 4), (6, 6), (1, 2, 3), (0, 7), (1, 2, 3, 4)),
    "dice": (None, (3, 4), (0, 7), (1,), ()),
    "serials": ((), ("1",), ("1", "2"), ("1", "2", "3", "4", "5", "6"), ("1", "1")),
    "serial": (None, "1", "2", "9"),
    "amount": (None, None, -1, 0, 100, 1000, 10**9),
    "minimum": (None, 0, -1, 500, 1000),
    "shoe": ("S1", "S2", ""),
    "backs": (None, (3, 3), ()),
    "side": (None, 0, 200),
    "size": (-1, 0, 1, 3, 5, 7, 60),
    "box": (0, 1, 99),
    "device": ("device",),
    "frame": (None, "what was said"),
    "alert": ("", "sensor", "card_while_closed"),
    "decisions": (None, None, {}, {"box:1": "go"}, {"box:2": "pass"}, {"seat:1": "go"}),
}
"""Possible values by the name of a field. Fields that are not here get values that their type
allows.
"""


def anything(
    kind: type[msgspec.Struct], chance: random.Random, cards: tuple[str, ...] = DECK
) -> Input:
    """One command, from a person in charge, or reading of this kind. ``cards``: those of
    the game.
    """
    fields: dict[str, Any]
    while True:
        fields = {
            name: chance.choice(named) if named else _value(name, of, chance, cards)
            for name, named, of in _fields(kind)
        }
        if not issubclass(kind, Reading):
            fields["role"] = chance.choice(("table_head", "inspector", "inspector", "director"))
        try:
            return read_input(msgspec.json.encode({"type": kind.__struct_config__.tag, **fields}))
        except ValueError:  # not in the notation: no person can send it
            continue


PLAIN: dict[Any, tuple[Any, ...]] = {
    bool: (False, True),
    int: (-1, 0, 1, 2, 52, 312),
    float: (1.0,),
    str: ("", "a word"),
    type(None): (None,),
}
"""Possible values by type, for a field whose name is not listed."""


class _Kind(NamedTuple):
    """Facts about a type that are needed often."""

    type: Any
    origin: Any
    of: tuple[Any, ...]
    optional: bool
    textual: bool


@cache
def _kind(kind: Any) -> _Kind:
    of = get_args(kind)
    return _Kind(kind, get_origin(kind), of, type(None) in of, "str" in str(kind))


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, tuple[Any, ...], _Kind], ...]:
    """The fields of a kind, each with possible values of its name, if known, and its type."""
    types = get_type_hints(kind)
    return tuple(
        (name, _named(name, _kind(types[name]).optional), _kind(types[name]))
        for name in kind.__struct_fields__
        if name != "signed"  # no game looks at it
    )


def _named(name: str, optional: bool) -> tuple[Any, ...]:
    """Possible values of a field of this name; empty if its name is not listed."""
    return tuple(value for value in VALUES.get(name, ()) if value is not None or optional)


def _value(name: str, kind: _Kind, chance: random.Random, cards: tuple[str, ...]) -> Any:
    """A value that its type allows, for a field whose name is not listed."""
    card = chance.choice(FOREIGN) if chance.random() < 0.4 else chance.choice(cards)
    if name == "card":
        return card if chance.random() < 0.9 or not kind.optional else None
    if name in ("cards", "low", "missing", "extra") and kind.textual:
        return [card, *chance.sample(cards, chance.choice((0, 0, 1, 2, 4, 6)))][
            : chance.choice((0, 1, 2, 3, 5, 7))
        ]
    if name == "hands":
        return chance.choice(
            (
                None,
                {},
                {chance.choice(WHO) or "box:1": [card]},
                {"box:1": list(chance.sample(cards, 5))},
            )
        )
    if kind.origin in (Union, UnionType):
        return _value(name, _kind(chance.choice(kind.of)), chance, cards)
    if kind.origin is Literal:
        return chance.choice(kind.of)
    if kind.origin is tuple:
        of = _kind(kind.of[0])
        return [_value(name, of, chance, cards) for _ in range(chance.choice((0, 1, 2)))]
    return chance.choice(PLAIN[kind.type])
