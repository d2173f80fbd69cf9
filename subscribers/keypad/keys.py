"""What the keys of a keypad mean at a game, as data.

A keypad has digits and seven other keys. Each of these has a few meanings at a game, and the first
one that the table takes now holds: so *enter* says *no more bets* while bets are open, and turns
the cards when they lie. A meaning that has just changed is not acted on: the person pressed what
stood there before. What is grave, and asks for the PIN again, is for the console: no key voids a
round.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args

import msgspec

from controller.contract.commands import Duty

Slot = Literal["enter", "plus", "minus", "times", "divide", "point", "clear"]
"""The keys besides the digits, as they are called on a numeric keypad."""
SLOTS: tuple[Slot, ...] = get_args(Slot)
Needs = Literal["nothing", "box", "seat", "dice", "count"]
"""What is typed in digits before the key: nothing, the number of a box or seat, what both dice
show, a number of cards.
"""
SETTLED = 0.7
"""Seconds for which a meaning must have stood before a key is acted on."""


class Meaning(msgspec.Struct, frozen=True):
    """What a key orders. ``fields``: of the command, besides what is typed."""

    command: str
    text: str
    """The key of its text in the messages."""
    fields: Mapping[str, Any] = {}
    needs: Needs = "nothing"


OPEN = Meaning("bets.open", "command.bets.open")
CLOSE = Meaning("bets.close", "command.bets.close")
TURN = Meaning("cards.turn", "command.cards.turn")
EXPOSED = Meaning("deal.error", "keypad.exposed", {"error": "exposed"})
NEXT_EXPOSED = Meaning("card.decide", "keypad.exposed", {"action": "exposed"})
BETS = (CLOSE, OPEN)


def _act(action: str, needs: Needs, **fields: Any) -> Meaning:
    return Meaning("hand.act", f"decision.{action}", {"action": action, **fields}, needs)


WHEEL: Mapping[Slot, tuple[Meaning, ...]] = {"enter": BETS}
COUP: Mapping[Slot, tuple[Meaning, ...]] = {"enter": (*BETS, TURN), "point": (NEXT_EXPOSED,)}
DRAWS: Mapping[Slot, tuple[Meaning, ...]] = {
    **COUP,
    "plus": (Meaning("hand.draw", "decision.draw"),),
    "minus": (Meaning("hand.stand", "decision.stand"),),
}
HOUSE: Mapping[Slot, tuple[Meaning, ...]] = {
    "enter": (*BETS, TURN),
    "plus": (_act("go", "box"),),
    "minus": (_act("pass", "box"),),
    "times": (_act("buy", "box"),),
    "point": (EXPOSED,),
}
CIRCLE: Mapping[Slot, tuple[Meaning, ...]] = {
    "enter": (Meaning("betting.close", "command.betting.close"), TURN, *BETS),
    "plus": (_act("raise", "seat"),),
    "minus": (_act("fold", "seat"),),
    "times": (_act("call", "seat"),),
    "divide": (_act("check", "seat"),),
    "point": (EXPOSED,),
}
KEYS: Mapping[str, Mapping[Slot, tuple[Meaning, ...]]] = {
    "roulette": WHEEL,
    "boule": WHEEL,
    "fortune-wheel": WHEEL,
    "craps": {
        "enter": BETS,
        "plus": (Meaning("dice.tell", "command.dice.tell", {}, "dice"),),
    },
    "punto-banca": COUP,
    "trente-et-quarante": COUP,
    "chemin-de-fer": DRAWS,
    "blackjack": {
        **DRAWS,
        "times": (Meaning("hand.double", "decision.double"),),
        "divide": (Meaning("hand.split", "decision.split"),),
        "clear": (Meaning("hand.surrender", "decision.surrender"),),
    },
    "house-poker": HOUSE,
    "texas-house": HOUSE,
    "trijoker": HOUSE,
    "pai-gow": {"enter": (*BETS, TURN), "plus": (_act("set", "box"),), "point": (EXPOSED,)},
    "circle-poker": CIRCLE,
    "circle-draw": CIRCLE,
}
"""View -> key -> its meanings, the first that the table takes first."""


def meanings(view: str, takes: Collection[str], may: Collection[str]) -> dict[Slot, Meaning]:
    """What each key means now. ``takes``: the commands that the table takes as it stands; ``may``:
    those that the person's role may give.
    """
    return {
        slot: found
        for slot, each in KEYS.get(view, {}).items()
        if (found := next((one for one in each if {one.command} <= {*takes} & {*may}), None))
    }


FREE: tuple[Slot, ...] = ("divide", "clear")
"""The keys at which whoever has the keypad comes on at the table and leaves it: the first that has
no other meaning at the game, ever. Black jack has neither.
"""


def comes_or_leaves(
    view: str,
    person: str,
    role: str | None,
    staff: Mapping[Any, Collection[str]],
    may: Collection[str],
) -> dict[Slot, Meaning]:
    """The key with which a person says of himself that he comes on at the table, or leaves it.
    ``may``: the commands that the table takes and the person may give.
    """
    slot = next((each for each in FREE if each not in KEYS.get(view, {})), None)
    command = "staff.off" if person in staff.get(role, ()) else "staff.on"
    if slot is None or role not in get_args(Duty) or command not in may:
        return {}
    return {slot: Meaning(command, f"command.{command}", {"person": person, "duty": role})}


class TypedError(ValueError):
    """What was typed before the key is not what it needs: ``args[0]`` is the key of the text."""


def fields(meaning: Meaning, typed: str) -> dict[str, Any]:
    """The fields of the command. Raises :class:`TypedError`."""
    match meaning.needs:
        case "nothing":
            if typed:
                raise TypedError("keypad.needs_nothing")
            return dict(meaning.fields)
        case "dice":
            if len(typed) != 2 or not set(typed) <= set("123456"):
                raise TypedError("keypad.needs_dice")
            return {**meaning.fields, "values": [int(each) for each in typed]}
        case "count":
            if not 1 <= len(typed) <= 2:
                raise TypedError("keypad.needs_count")
            return {**meaning.fields, "count": int(typed)}
        case box_or_seat:
            if not 1 <= len(typed) <= 2 or int(typed) == 0:
                raise TypedError(f"keypad.needs_{box_or_seat}")
            return {**meaning.fields, "who": f"{box_or_seat}:{int(typed)}"}
