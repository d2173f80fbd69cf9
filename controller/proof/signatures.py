"""The signer of each command: the signatures in the journal, checked against the people file that
was valid.

A daemon looked at all of it before it followed the command. Here it is looked at again, years later
and by anybody, with nothing but the journal.
"""

from __future__ import annotations

from typing import cast

from msgspec.structs import replace

from controller.contract.commands import (
    AnyCommand,
    Command,
    CommandRefused,
    DeviceCommand,
    Signature,
)
from controller.contract.orders import DeviceOrder
from controller.contract.refusals import RejectedError
from controller.contract.topics import Topics, level
from controller.journal.setup import Boot, PeopleSetup, TableSetup
from controller.people.authority import authorise, command_rights, narrow_at_table
from controller.people.register import People, PeopleError, from_base64url, read_people
from controller.people.seen import SeenCommands
from controller.people.signed_command import (
    CLOCK_TOLERANCE_SECONDS,
    VerifiedCommand,
    claims_of,
    command_of,
    verify,
)
from controller.people.two_persons import (
    MARKED_BY_DEFAULT,
    SECOND_PERSON_SECONDS,
    content,
    needs_two,
)
from controller.tables.table import Table

MAX_RECORD_DELAY_SECONDS = 5.0
"""Seconds that may lie between the look at a signature and the entry in the journal."""
UNSIGNED = "nobody signed this command, and commands had to be signed"


class Signatures:
    """Takes the setups and the commands of a journal in order. ``site_keys``: the keys that signed
    its people files.
    """

    def __init__(self) -> None:
        self.site_keys: list[str] = []
        self._site = ""
        self._setup: PeopleSetup | None = None
        self._people: People | None = None
        self._followed: set[tuple[str, str]] = set()

    def boot(self, boot: Boot) -> str | None:
        """Take the people that are in force from here on. Returns what is wrong with them."""
        last, before, setup = self._setup, self._people, boot.people
        same_key = last is not None and setup is not None and last.key == setup.key
        if last is not None and setup is not None and same_key and last.file == setup.file:
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
        if before is not None and same_key and people.head.number < before.head.number:
            return f"people file {people.head.number} came after {before.head.number}"
        # an older release let persons act whose names look the same
        self._people = replace(people, alike={})
        return None

    def flaw(self, given: Command, of: TableSetup, now: float, table: Table | None) -> str | None:
        """The mistake in the signature of this command at ``now`` (seconds since 1970), or None.
        ``table``: before the command; None if that is not known.
        """
        if self._setup is None or not given.signed:
            required = self._setup is not None and self._setup.required is True
            return UNSIGNED if required else None
        if self._people is None:
            return "signed, but there is no people file that holds"
        try:
            return self._signed(given, of, now, table, self._people, self._setup)
        except (RejectedError, ValueError) as error:
            return f"its signature does not hold: {error}"

    def _signed(
        self,
        given: Command,
        of: TableSetup,
        now: float,
        table: Table | None,
        people: People,
        setup: PeopleSetup,
    ) -> str | None:
        found = [
            self._verified(each, of, now, waits, people)
            for each, waits in zip(given.signed, _waits(given), strict=True)
        ]
        for signed, told in zip(found, given.signed, strict=True):
            if _who(signed) != (told.id, told.name, told.role):
                return f"signed by {signed.person.name} and not by {told.name}"
        if (given.by, given.role) != _who(found[0])[1:]:
            return f"signed by {found[0].person.name} and not by {given.by}"
        if isinstance(given, CommandRefused):
            other = given.command != found[0].claims.command
            return "this is not the command that was signed" if other else None
        may = narrow_at_table(command_rights(of.game, of.decree), setup.may)
        said = []
        for signed in found:
            ordered = command_of(signed, level(signed.claims.command), given.at)
            authorise(may, ordered, signed.claims.role)
            said.append(_command(ordered, given))
        if replace(said[-1], by=given.by, role=given.role, signed=given.signed) != given:
            return "this is not the command that was signed"
        if content(said[0]) != content(said[-1]):
            return "two persons signed two different commands"
        if len({signed.person.id for signed in found}) < len(found):
            return "the same person signed twice"
        marked = tuple(mark for mark in MARKED_BY_DEFAULT if mark in setup.two_persons)
        if len(found) == 1 and table and needs_two(given, table.preview(said[0]), marked):
            return "it takes two persons, and one signed"
        return self._again(given, found)

    def _again(self, given: Command, found: list[VerifiedCommand]) -> str | None:
        """Whether the same was followed before."""
        if isinstance(given, DeviceCommand) and given.unsent is not None:
            return None  # a repetition
        for signed in found:
            number = signed.person.id, signed.claims.jti
            if number in self._followed:
                return f"this command of {signed.person.name} was followed before"
            self._followed.add(number)
        return None

    def _verified(
        self, signature: Signature, of: TableSetup, now: float, waits: float, people: People
    ) -> VerifiedCommand:
        """Who signed. The daemon looked at it up to ``waits`` seconds before ``now``, the moment of
        the entry.
        """
        token = signature.token.encode()
        in_time = min(now, claims_of(token).exp + CLOCK_TOLERANCE_SECONDS - 1)
        audience = f"{Topics(self._site, of.simulated).root}/{of.id}"
        return verify(token, max(in_time, now - waits), audience, of.id, people, SeenCommands())


def _waits(given: Command) -> list[float]:
    """How long before the entry each signature can have been looked at."""
    kept = isinstance(given, CommandRefused) or (
        isinstance(given, DeviceCommand) and given.unsent is not None
    )
    first = [MAX_RECORD_DELAY_SECONDS + SECOND_PERSON_SECONDS] * (len(given.signed) - 1)
    return [
        *first,
        MAX_RECORD_DELAY_SECONDS + SECOND_PERSON_SECONDS if kept else MAX_RECORD_DELAY_SECONDS,
    ]


def _who(signed: VerifiedCommand) -> tuple[str, str, str]:
    return signed.person.id, signed.person.name, signed.claims.role


def _command(ordered: object, given: Command) -> AnyCommand:
    """The signed command, as the table accepted it. Raises ``ValueError`` if it is not one for a
    table.
    """
    if isinstance(ordered, DeviceOrder):
        return DeviceCommand(
            at=given.at,
            by=ordered.by,
            role=ordered.role,
            note=ordered.note,
            device=ordered.device,
            command=ordered.command,
            argument=ordered.argument,
            unsent=given.unsent if isinstance(given, DeviceCommand) else None,
        )
    if not isinstance(ordered, Command):
        raise ValueError("what was signed is no command to a table")
    return cast("AnyCommand", ordered)
