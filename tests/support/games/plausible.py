"""A plausible command of a person at this table: with the names that the table shows, and after a
refusal with the alternatives that it names.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from common.contract.commands import CardsShow, Command, ResultCorrect, RoundConfirm
from common.contract.notation import Input, read_input
from common.contract.refusals import RejectedError
from controller.games.game import Game
from tests.support.games.anything import anything

HINTS = {
    "bets": "bet",
    "players": "who",
    "hands": "who",
    "seated": "who",
    "actions": "action",
    "winners": "winner",
    "reasons": "reason",
    "numbers": "number",
    "errors": "error",
    "due": "count",
    "cards": "count",
    "who": "who",
    "base": "bet",
}
"""By field of a refusal: the command's field that it is about."""
WINNERS = (
    *("player", "banker", "tie", "black", "red", "refait", "inverse"),
    *("tie,tie", "seat:1", "seat:2", "seat:3", "seat:4"),
)
ALWAYS = ("by", "role", "at")
MAX_REFUSALS = 8
"""Refusals in a row that are answered."""


def accepted(
    game: Game, state: Any, kind: type[Command], chance: random.Random, pack: tuple[str, ...]
) -> Input | None:
    """A command of this kind that the table follows in its state, if one was found."""
    more: dict[str, Any] = {}
    takes_who = "who" in kind.__struct_fields__
    names = [*_names(msgspec.to_builtins(game.view(state).shown))] if takes_who else []
    for _ in range(MAX_REFUSALS):
        given = _attempt(state, names, kind, chance, pack, more)
        try:
            game.step(state, given)
        except RejectedError as rejected:
            more |= _hinted(kind, rejected, chance)
        else:
            return given
    return None


def _attempt(
    state: Any,
    names: list[str],
    kind: type[Command],
    chance: random.Random,
    pack: tuple[str, ...],
    more: dict[str, Any],
) -> Input:
    said = msgspec.to_builtins(anything(kind, chance, pack))
    rounds = [entry.round for entry in state.entries]
    if rounds and "round" in kind.__struct_fields__ and chance.random() < 0.7:
        said["round"] = chance.choice(rounds)
    if names and chance.random() < 0.7:
        said["who"] = chance.choice(names)
    for name in _optional(kind):
        if chance.random() < 0.4:
            said.pop(name, None)
    if kind is ResultCorrect and chance.random() < 0.8:
        said |= _corrected(state, chance, pack)
    if kind is RoundConfirm and chance.random() < 0.5:
        said["winner"] = chance.choice(WINNERS)
    if kind is CardsShow and chance.random() < 0.5:
        said |= _shown(state, chance, pack)
    fits = {name: value for name, value in more.items() if name in kind.__struct_fields__}
    try:
        return read_input(msgspec.json.encode(said | fits))
    except ValueError:
        return read_input(msgspec.json.encode(said))


@cache
def _optional(kind: type[Command]) -> tuple[str, ...]:
    """The fields that may be left out."""
    fields = msgspec.structs.fields(kind)
    return tuple(field.name for field in fields if field.name not in ALWAYS and not field.required)


def _shown(state: Any, chance: random.Random, pack: tuple[str, ...]) -> dict[str, Any]:
    """A hand with as many cards as it has, those that were read among them."""
    cards = [each for each in getattr(state.current, "cards", ()) if each.to != "burn"]
    if not cards:
        return {}
    who = chance.choice(cards).to
    own = [each.card for each in cards if each.to == who]
    read = [card for card in own if card is not None]
    left = [card for card in pack if card not in {each.card for each in cards}]
    named = [*read, *chance.sample(left, min(len(left), len(own) - len(read)))]
    return {"who": who, "cards": named, "low": chance.choice(([], named[:2])), "index": None}


def _corrected(state: Any, chance: random.Random, pack: tuple[str, ...]) -> dict[str, Any]:
    """Another result of a remembered round: of one kind alone."""
    entry = chance.choice(state.entries) if state.entries else None
    hands = [hand for hand in getattr(entry, "hands", ()) if hand.cards]
    kinds = {
        "number": chance.randrange(37),
        "dice": [chance.randint(1, 6), chance.randint(1, 6)],
        "winner": chance.choice(WINNERS),
        "hands": {
            hand.who: chance.sample(pack, len(hand.cards))
            for hand in chance.sample(hands, min(len(hands), 1))
        },
    }
    name = chance.choice([*kinds])
    none = dict.fromkeys((*kinds, "decisions"))
    return none | {name: kinds[name], "round": entry.round if entry is not None else 1}


def _names(shown: Any) -> Iterator[str]:
    """The names in the retained state: ``box:1``, ``seat:2``, ``player``."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            if isinstance(name, str) and (":" in name or name in ("player", "banker", "dealer")):
                yield name
            yield from _names(value)
    elif isinstance(shown, list | tuple):
        for value in shown:
            yield from _names(value)
    elif isinstance(shown, str) and ":" in shown:
        yield shown


def _hinted(kind: type[Command], rejected: RejectedError, chance: random.Random) -> dict[str, Any]:
    """The alternatives that the refusal names."""
    if rejected.refusal.key == "result_from_cards":
        return {"number": None, "dice": None, "winner": None}
    found: dict[str, Any] = {}
    for field, value in rejected.refusal.fields.items():
        name = HINTS.get(field)
        if name is None or name not in kind.__struct_fields__:
            continue
        if isinstance(value, tuple):
            if value:
                found[name] = chance.choice(value)
        elif not (name == "count" and not isinstance(value, int)):
            found[name] = value
    return found
