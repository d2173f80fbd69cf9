"""Defects that the checkers of people must find."""

from __future__ import annotations

import asyncio
from random import Random

import msgspec
import pytest

from common.contract.commands import AnyCommand
from common.contract.refusals import RejectedError
from common.people.register import People
from controller.people.gate import CommandGate
from controller.tables.runner import TableRunner
from subscribers.console.sending import CommandSender, Touch
from tests.world.faults import DURATIONS, Happening
from tests.world.people.faults import PEOPLE_FAULTS
from tests.world.run import Plan

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


DEFECTS = (
    a_revoked_person_still_waits_for_a_second,
    reply_before_commit,
    refused_after_it_was_followed,
    sent_is_shown_as_followed,
)
