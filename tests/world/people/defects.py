"""Defects that the checkers of people must find."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

import msgspec
import pytest

from common.contract.commands import AnyCommand
from common.contract.refusals import RejectedError
from common.people import jws
from common.people.register import People
from common.people.seen import SeenCommands
from controller.people.gate import CommandGate
from controller.tables.runner import TableRunner
from subscribers.console.sending import CommandSender, Touch
from subscribers.keypad.pad import on_reply
from subscribers.web import keypads
from tests.world.faults import DURATIONS, Happening
from tests.world.people.faults import PEOPLE_FAULTS
from tests.world.run import Plan, plan_of

HOURS = 0.15
FAULTS = 40


def crowded(seed: int, hours: float = HOURS, faults: int = FAULTS, pair: bool = False) -> Plan:
    """Draw many faults of people, and no others."""
    random, found = Random(f"people {seed}"), []
    for _ in range(faults):
        at = random.uniform(30.0, hours * 3600.0)
        name = random.choice(list(PEOPLE_FAULTS))
        found.append(Happening(at, at + random.choice(DURATIONS), name, random.getrandbits(32)))
    return Plan(seed, hours, 1, pair=pair, parts=("people",), faults=tuple(sorted(found)))


def a_revoked_person_still_waits_for_a_second(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks again who the first person was, when the second one signs."""
    patch.setattr(CommandGate, "people", property(_people, _set_people))
    patch.setattr(CommandGate, "_check_first", lambda *_: None)


def _people(gate: CommandGate) -> People:
    return gate._people


def _set_people(gate: CommandGate, people: People) -> None:
    gate._people = people


def reply_before_commit(patch: pytest.MonkeyPatch) -> None:
    """A command is acknowledged when it has been decided."""

    async def execute(runner: TableRunner, command: AnyCommand) -> None:
        runner._command(command)

    patch.setattr(TableRunner, "execute", execute)


def refused_after_it_was_followed(patch: pytest.MonkeyPatch) -> None:
    """A command on a slow disk is refused, and followed all the same."""

    async def execute(runner: TableRunner, command: AnyCommand) -> None:
        stored = runner._command(command)
        assert stored is not None
        try:
            async with asyncio.timeout(0.01):
                await asyncio.shield(stored)
        except TimeoutError:
            raise RejectedError("not_stored", reason="slow") from None

    patch.setattr(TableRunner, "execute", execute)


def sent_is_shown_as_followed(patch: pytest.MonkeyPatch) -> None:
    """The console believes that what the broker has, the daemon follows."""
    update = CommandSender._update

    def believing(sender: CommandSender, touch: Touch) -> None:
        update(
            sender, msgspec.structs.replace(touch, how="followed") if touch.how == "sent" else touch
        )

    patch.setattr(CommandSender, "_update", believing)


def any_signature_will_do(patch: pytest.MonkeyPatch) -> None:
    """A command may be signed by anyone, as long as it names a key."""
    patch.setattr(jws, "is_signed", lambda *_: True)


def request_ids_forgotten_at_a_restart(patch: pytest.MonkeyPatch) -> None:
    """A daemon forgets which commands it has seen, and accepts those of before its start."""
    begin = SeenCommands.__init__
    patch.setattr(SeenCommands, "__init__", lambda seen, _since=0.0: begin(seen))
    patch.setattr(SeenCommands, "restore", lambda *_: None)


def a_keypad_hopes(patch: pytest.MonkeyPatch) -> None:
    """A keypad shows an order without an answer as done."""
    patch.setattr(keypads, "on_timeout", lambda pad, number: on_reply(pad, number, None))


def sent_is_shown_as_not_sent(patch: pytest.MonkeyPatch) -> None:
    """The console shows a command as not sent that the broker may have."""
    update = CommandSender._update

    def careless(sender: CommandSender, touch: Touch) -> None:
        lost = touch.how == "unknown" and not touch.asked
        update(sender, msgspec.structs.replace(touch, how="unsent") if lost else touch)

    patch.setattr(CommandSender, "_update", careless)


ANY: tuple[str, ...] = ()
LOST = ("daemon killed", "broker half open")
DEFECTS: dict[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    any_signature_will_do: ("command forged",),
    request_ids_forgotten_at_a_restart: ("command replayed over a restart",),
    a_keypad_hopes: LOST,
    sent_is_shown_as_not_sent: LOST,
    a_revoked_person_still_waits_for_a_second: ANY,
    reply_before_commit: ANY,
    refused_after_it_was_followed: ANY,
    sent_is_shown_as_followed: ANY,
}
"""Defects with the faults that show them; all of people, if none is named."""


def plan_for(plant: Callable[[pytest.MonkeyPatch], None], seed: int) -> Plan:
    """Draw the faults that show a defect."""
    return plan_of(crowded(seed), DEFECTS[plant]) if DEFECTS[plant] else crowded(seed)
