"""Verifies the signatures of the commands in a journal against the people file that was in force.

The daemon verified them before it executed the commands. Here anyone can do so again, years later,
with nothing but the journal.
"""

from __future__ import annotations

from typing import cast

from msgspec.structs import replace

from common.contract.commands import (
    AnyCommand,
    Command,
    CommandRefused,
    DeviceCommand,
    Signature,
)
from common.contract.orders import DeviceOrder
from common.contract.refusals import RejectedError
from common.contract.topics import Topics, level
from common.people.register import People, PeopleError, from_base64url, read_people
from common.people.seen import SeenCommands
from common.people.signed_command import (
    CLOCK_TOLERANCE_SECONDS,
    VerifiedCommand,
    claims_of,
    command_of,
    verify,
)
from common.people.two_persons import (
    MARKED_BY_DEFAULT,
    SECOND_PERSON_SECONDS,
    content,
    needs_two,
)
from controller.journal.setup import Boot, PeopleSetup, TableSetup
from controller.people.authority import authorise, command_rights, narrow_at_table
from controller.tables.table import Table

MAX_RECORD_DELAY_SECONDS = 5.0
"""Maximum seconds between the verification of a signature and the entry in the journal."""
UNSIGNED = "this command is not signed, and commands had to be signed"


class Signatures:
    """Receives the setups and the commands of a journal in order. ``site_keys``: the keys that
    signed its people files.
    """

    def __init__(self) -> None:
        self.site_keys: list[str] = []
        self._site = ""
        self._setup: PeopleSetup | None = None
        self._people: People | None = None
        self._executed: set[tuple[str, str]] = set()

    def boot(self, boot: Boot) -> str | None:
        """Put the people of a ``boot`` entry in force. Return what is wrong with them, or None."""
        before, people_before, setup = self._setup, self._people, boot.people
        same_key = before is not None and setup is not None and before.key == setup.key
        if before is not None and setup is not None and same_key and before.file == setup.file:
            self._site, self._setup = boot.site, setup
            return None
        self._site, self._setup, self._people = boot.site, setup, None
        if setup is None or setup.file is None or setup.key is None:
            return None
        try:
            people = read_people(setup.file.encode(), boot.site, from_base64url(setup.key))
        except (PeopleError, ValueError) as error:
            return f"the people file of this run does not hold: {error}"
        if setup.key not in self.site_keys:
            self.site_keys.append(setup.key)
        if (
            people_before is not None
            and same_key
            and people.head.number < people_before.head.number
        ):
            return f"people file {people.head.number} came after {people_before.head.number}"
        # an older release let persons act whose names look the same
        self._people = replace(people, alike={})
        return None

    def problem(
        self, command: Command, setup: TableSetup, now: float, table: Table | None
    ) -> str | None:
        """Return what is wrong with the signatures of a command stored at ``now`` (seconds since
        1970), or None. ``table``: its state before the command; None if unknown.
        """
        if self._setup is None or not command.signed:
            required = self._setup is not None and self._setup.required is True
            return UNSIGNED if required else None
        if self._people is None:
            return "signed, but there is no people file that holds"
        try:
            return self._check(command, setup, now, table, self._people, self._setup)
        except (RejectedError, ValueError) as error:
            return f"its signature does not hold: {error}"

    def _check(
        self,
        command: Command,
        table_setup: TableSetup,
        now: float,
        table: Table | None,
        people: People,
        setup: PeopleSetup,
    ) -> str | None:
        verified = [
            self._verify(each, table_setup, now, delay, people)
            for each, delay in zip(command.signed, _max_delays(command), strict=True)
        ]
        for signed, signature in zip(verified, command.signed, strict=True):
            if _signer(signed) != (signature.id, signature.name, signature.role):
                return f"signed by {signed.person.name} and not by {signature.name}"
        if (command.by, command.role) != _signer(verified[0])[1:]:
            return f"signed by {verified[0].person.name} and not by {command.by}"
        if isinstance(command, CommandRefused):
            other = command.command != verified[0].claims.command
            return "this is not the command that was signed" if other else None
        may = narrow_at_table(command_rights(table_setup.game, table_setup.decree), setup.may)
        commands = []
        for signed in verified:
            ordered = command_of(signed, level(signed.claims.command), command.at)
            authorise(may, ordered, signed.claims.role)
            commands.append(_command(ordered, command))
        if (
            replace(commands[-1], by=command.by, role=command.role, signed=command.signed)
            != command
        ):
            return "this is not the command that was signed"
        if content(commands[0]) != content(commands[-1]):
            return "two persons signed two different commands"
        if len({signed.person.id for signed in verified}) < len(verified):
            return "one person signed it twice"
        marks = tuple(mark for mark in MARKED_BY_DEFAULT if mark in setup.two_persons)
        if len(verified) == 1 and table and needs_two(command, table.preview(commands[0]), marks):
            return "it needs two persons, and only one signed"
        return self._check_repeated(command, verified)

    def _check_repeated(self, command: Command, verified: list[VerifiedCommand]) -> str | None:
        """Return what is wrong if a command was executed before, or None."""
        if isinstance(command, DeviceCommand) and command.unsent is not None:
            return None  # a repetition
        for signed in verified:
            number = signed.person.id, signed.claims.jti
            if number in self._executed:
                return f"this command of {signed.person.name} was executed before"
            self._executed.add(number)
        return None

    def _verify(
        self, signature: Signature, setup: TableSetup, now: float, delay: float, people: People
    ) -> VerifiedCommand:
        """Verify a signature as the daemon did, up to ``delay`` seconds before ``now``, the time of
        the entry.
        """
        token = signature.token.encode()
        in_time = min(now, claims_of(token).exp + CLOCK_TOLERANCE_SECONDS - 1)
        audience = f"{Topics(self._site, setup.simulated).root}/{setup.id}"
        return verify(token, max(in_time, now - delay), audience, setup.id, people, SeenCommands())


def _max_delays(command: Command) -> list[float]:
    """Return the maximum seconds between the verification of each signature and the entry."""
    stored_late = isinstance(command, CommandRefused) or (
        isinstance(command, DeviceCommand) and command.unsent is not None
    )
    earlier = [MAX_RECORD_DELAY_SECONDS + SECOND_PERSON_SECONDS] * (len(command.signed) - 1)
    return [
        *earlier,
        MAX_RECORD_DELAY_SECONDS + SECOND_PERSON_SECONDS
        if stored_late
        else MAX_RECORD_DELAY_SECONDS,
    ]


def _signer(signed: VerifiedCommand) -> tuple[str, str, str]:
    return signed.person.id, signed.person.name, signed.claims.role


def _command(signed: object, recorded: Command) -> AnyCommand:
    """The signed command, as the table accepted it. Raises ``ValueError`` if it is not one for a
    table.
    """
    if isinstance(signed, DeviceOrder):
        return DeviceCommand(
            at=recorded.at,
            by=signed.by,
            role=signed.role,
            note=signed.note,
            device=signed.device,
            command=signed.command,
            argument=signed.argument,
            unsent=recorded.unsent if isinstance(recorded, DeviceCommand) else None,
        )
    if not isinstance(signed, Command):
        raise ValueError("the signed content is not a command to a table")
    return cast("AnyCommand", signed)
