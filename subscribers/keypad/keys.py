"""The meanings of a keypad's keys at each game, as data.

A keypad has digits and seven other keys. Each of these has a few meanings at a game, and the first
one that the table accepts now applies: *enter* means *no more bets* while bets are open, and turns
the cards once they are dealt. A meaning that has just changed is not acted on, because the person
meant the previous one. Commands that require the PIN again are left to the console: no key voids a
round.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args

import msgspec

from common.contract.commands import Duty

Slot = Literal["enter", "plus", "minus", "times", "divide", "point", "clear"]
"""The keys besides the digits, named as on a numeric keypad."""
SLOTS: tuple[Slot, ...] = get_args(Slot)
Needs = Literal["nothing", "box", "seat", "dice", "count", "number", "faces"]
"""Input before the key: nothing, the number of a box or seat, the values of both dice, a number of
cards, or what a witness has seen: a number, or both dice.
"""
MIN_STABLE_SECONDS = 0.7
"""Time for which a meaning must not have changed before its key is acted on."""


class Meaning(msgspec.Struct, frozen=True):
    """The command of a key. ``fields``: those that are not typed."""

    command: str
    text: str
    """The key of its text in the messages."""
    fields: Mapping[str, Any] = {}
    needs: Needs = "nothing"


OPEN_BETS = Meaning("bets.open", "command.bets.open")
CLOSE_BETS = Meaning("bets.close", "command.bets.close")
TURN_CARDS = Meaning("cards.turn", "command.cards.turn")
CARD_EXPOSED = Meaning("deal.error", "keypad.exposed", {"error": "exposed"})
NEXT_CARD_EXPOSED = Meaning("card.decide", "keypad.exposed", {"action": "exposed"})
BETS = (CLOSE_BETS, OPEN_BETS)


def _act(action: str, needs: Needs, **fields: Any) -> Meaning:
    return Meaning("hand.act", f"decision.{action}", {"action": action, **fields}, needs)


WHEEL_KEYS: Mapping[Slot, tuple[Meaning, ...]] = {"enter": BETS}
COUP_KEYS: Mapping[Slot, tuple[Meaning, ...]] = {
    "enter": (*BETS, TURN_CARDS),
    "point": (NEXT_CARD_EXPOSED,),
}
DRAW_KEYS: Mapping[Slot, tuple[Meaning, ...]] = {
    **COUP_KEYS,
    "plus": (Meaning("hand.draw", "decision.draw"),),
    "minus": (Meaning("hand.stand", "decision.stand"),),
}
HOUSE_KEYS: Mapping[Slot, tuple[Meaning, ...]] = {
    "enter": (*BETS, TURN_CARDS),
    "plus": (_act("go", "box"),),
    "minus": (_act("pass", "box"),),
    "times": (_act("buy", "box"),),
    "point": (CARD_EXPOSED,),
}
CIRCLE_KEYS: Mapping[Slot, tuple[Meaning, ...]] = {
    "enter": (Meaning("betting.close", "command.betting.close"), TURN_CARDS, *BETS),
    "plus": (_act("raise", "seat"),),
    "minus": (_act("fold", "seat"),),
    "times": (_act("call", "seat"),),
    "divide": (_act("check", "seat"),),
    "point": (CARD_EXPOSED,),
}
KEYS_BY_VIEW: Mapping[str, Mapping[Slot, tuple[Meaning, ...]]] = {
    "roulette": WHEEL_KEYS,
    "boule": WHEEL_KEYS,
    "fortune-wheel": WHEEL_KEYS,
    "craps": {
        "enter": BETS,
        "plus": (Meaning("dice.tell", "command.dice.tell", {}, "dice"),),
    },
    "punto-banca": COUP_KEYS,
    "trente-et-quarante": COUP_KEYS,
    "chemin-de-fer": DRAW_KEYS,
    "blackjack": {
        **DRAW_KEYS,
        "times": (Meaning("hand.double", "decision.double"),),
        "divide": (Meaning("hand.split", "decision.split"),),
        "clear": (Meaning("hand.surrender", "decision.surrender"),),
    },
    "house-poker": HOUSE_KEYS,
    "texas-house": HOUSE_KEYS,
    "trijoker": HOUSE_KEYS,
    "pai-gow": {
        "enter": (*BETS, TURN_CARDS),
        "plus": (_act("set", "box"),),
        "point": (CARD_EXPOSED,),
    },
    "circle-poker": CIRCLE_KEYS,
    "circle-draw": CIRCLE_KEYS,
}
"""View -> key -> its meanings, by priority."""


def current_meanings(
    view: str, accepted: Collection[str], may: Collection[str]
) -> dict[Slot, Meaning]:
    """Return the current meaning of each key. ``accepted``: commands that the table accepts now;
    ``may``: commands that the person's role may give.
    """
    return {
        slot: meaning
        for slot, candidates in KEYS_BY_VIEW.get(view, {}).items()
        if (
            meaning := next(
                (
                    candidate
                    for candidate in candidates
                    if {candidate.command} <= {*accepted} & {*may}
                ),
                None,
            )
        )
    }


DUTY_SLOTS: tuple[Slot, ...] = ("divide", "clear")
"""The keys with which the keypad's person starts and ends duty: the first that is unused at the
game. Blackjack has neither.
"""


def duty_key(
    view: str,
    person: str,
    role: str | None,
    staff: Mapping[Any, Collection[str]],
    may: Collection[str],
) -> dict[Slot, Meaning]:
    """Return the key with which a person starts or ends duty at the table. ``may``: commands that
    the table accepts and the person may give.
    """
    slot = next(
        (candidate for candidate in DUTY_SLOTS if candidate not in KEYS_BY_VIEW.get(view, {})), None
    )
    command = "staff.off" if person in staff.get(role, ()) else "staff.on"
    if slot is None or role not in get_args(Duty) or command not in may:
        return {}
    return {slot: Meaning(command, f"command.{command}", {"person": person, "duty": role})}


WITNESS_KEYS: Mapping[str, tuple[Slot, Needs]] = {
    "roulette": ("plus", "number"),
    "boule": ("plus", "number"),
    "fortune-wheel": ("plus", "number"),
    "craps": ("times", "faces"),
}
"""View -> the key with which the keypad's person reports as a witness what was seen."""


def witness_key(view: str, round_: int | None, may: Collection[str]) -> dict[Slot, Meaning]:
    """Return the key with which a person reports this round as a witness. ``may``: commands that
    the table accepts and the person may give.
    """
    if round_ is None or view not in WITNESS_KEYS or "witness.report" not in may:
        return {}
    slot, needs = WITNESS_KEYS[view]
    return {slot: Meaning("witness.report", "keypad.witness", {"round": round_}, needs)}


class TypedError(ValueError):
    """The typed digits do not fit the key: ``args[0]`` is the key of the text."""


def command_fields(meaning: Meaning, typed: str) -> dict[str, Any]:
    """Return the fields of the command. Raise :class:`TypedError`."""
    match meaning.needs:
        case "nothing":
            if typed:
                raise TypedError("keypad.needs_nothing")
            return dict(meaning.fields)
        case "dice" | "faces":
            if len(typed) != 2 or not set(typed) <= set("123456"):
                raise TypedError("keypad.needs_dice")
            field = "values" if meaning.needs == "dice" else "dice"
            return {**meaning.fields, field: [int(digit) for digit in typed]}
        case "number":
            if not 1 <= len(typed) <= 2:
                raise TypedError("keypad.needs_number")
            return {**meaning.fields, "number": int(typed)}
        case "count":
            if not 1 <= len(typed) <= 2:
                raise TypedError("keypad.needs_count")
            return {**meaning.fields, "count": int(typed)}
        case box_or_seat:
            if not 1 <= len(typed) <= 2 or int(typed) == 0:
                raise TypedError(f"keypad.needs_{box_or_seat}")
            return {**meaning.fields, "who": f"{box_or_seat}:{int(typed)}"}
