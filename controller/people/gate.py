"""Checks a signed command for a table: the signature, the right of the role, and whether a second
person must sign. Only a command that passes all checks, in this order, is executed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from common.contract.commands import AnyCommand, Command, Signature
from common.contract.orders import DeviceOrder, Recall
from common.contract.refusals import RejectedError
from common.people.register import People
from common.people.seen import SeenCommands
from common.people.signed_command import (
    CLOCK_TOLERANCE_SECONDS,
    VerifiedCommand,
    claims_of,
    command_of,
    prepare,
    verify,
)
from common.people.two_persons import (
    MARKED_BY_DEFAULT,
    CommandSigner,
    CommandSubject,
    Mark,
    WaitingCommand,
    WaitingCommands,
    add_signature,
    drop_expired,
    needs_two,
    second_person_wanted,
)
from controller.people.authority import Rights, authorise, command_name


class PermittedCommand(msgspec.Struct, frozen=True):
    """A command to execute, and the persons who gave it."""

    command: AnyCommand | DeviceOrder | Recall
    """With the name and role of ``first``."""
    first: CommandSigner
    second: CommandSigner | None = None
    """The second signer, if two were needed."""

    @property
    def signed(self) -> tuple[Signature, ...]:
        """The signatures, for the journal."""
        return tuple(
            signature
            for signer in (self.first, self.second)
            if signer is not None and (signature := signature_by(signer)) is not None
        )


def signature_by(by: CommandSigner) -> Signature | None:
    """Return the signature to journal, or None for read-only roles."""
    if by.role == "reader" or by.role == "surveillance":
        return None
    return Signature(id=by.person, name=by.name, role=by.role, token=by.token)


def signature_of(signed: VerifiedCommand, token: bytes) -> Signature | None:
    """Return the signature to journal of a command that is not permitted yet."""
    person = signed.person
    return signature_by(CommandSigner(person.id, person.name, signed.claims.role, token.decode()))


def _subject(subject_of: Callable[[Any], CommandSubject]) -> Callable[[Any], CommandSubject | None]:
    """Return a function that gives the subject of a command, or None if it no longer exists."""

    def find(command: Any) -> CommandSubject | None:
        try:
            return subject_of(command)
        except RejectedError:
            return None

    return find


class CommandGate:
    """The checks of one table. Uses no clock and does no I/O.

    ``audience``: the table's topic; ``seen`` is shared by all tables of a daemon. :attr:`people`
    and :attr:`rights` may be replaced at any time.
    """

    def __init__(
        self,
        audience: str,
        table: str,
        people: People,
        rights: Rights,
        seen: SeenCommands,
        marked: tuple[Mark, ...] = MARKED_BY_DEFAULT,
    ) -> None:
        self._audience = audience
        self._table = table
        self._people = people
        self.rights = rights
        self._seen = seen
        self._marked = marked
        self._waiting = WaitingCommands()
        self._ended: tuple[WaitingCommand, ...] = ()
        """Commands that no longer wait and were not returned by :meth:`expired` yet."""
        prepare()

    @property
    def people(self) -> People:
        """The people in force."""
        return self._people

    @people.setter
    def people(self, people: People) -> None:
        """Drop pending first signatures of revoked people."""
        self._people = people
        may = {person.id for person in people.persons if person.revoked is None}
        self._waiting = WaitingCommands(
            tuple(each for each in self._waiting.waiting if each.first.person in may)
        )

    def expired(
        self, now: float, subject_of: Callable[[Any], CommandSubject] | None = None
    ) -> tuple[WaitingCommand, ...]:
        """Drop and return the waiting commands that no second person signed in time, and those
        whose subject (round or session) has changed or ended. ``subject_of``: as for
        :meth:`permit`.
        """
        self._end(now, subject_of)
        over, self._ended = self._ended, ()
        return over

    def _end(self, now: float, subject_of: Callable[[Any], CommandSubject] | None) -> None:
        self._waiting, over = drop_expired(self._waiting, now, subject_of and _subject(subject_of))
        self._ended += over

    def verify(self, token: bytes, now: float) -> VerifiedCommand:
        """Verify a signed command (``now``: seconds since 1970) and mark it as seen. Raises
        :class:`RejectedError`.
        """
        return verify(token, now, self._audience, self._table, self._people, self._seen)

    def permit(
        self,
        signed: VerifiedCommand,
        token: bytes,
        name: str,
        now: float,
        at: float,
        subject_of: Callable[[AnyCommand], CommandSubject],
    ) -> PermittedCommand:
        """Return the command to execute, signed as ``token`` and sent to ``command/<name>``.

        ``at``: time of the table's clock; ``subject_of``: returns the state of the round that a
        command is about. Raises :class:`RejectedError`, also if a second person must sign it first,
        and ``UnreadableCommandError`` for wrong fields.
        """
        command, role = command_of(signed, name, at), signed.claims.role
        right = authorise(self.rights, command, role)
        signer = CommandSigner(signed.person.id, signed.person.name, role, token.decode())
        if not isinstance(command, Command) or command_name(command) not in self._marked:
            return PermittedCommand(command, signer)
        subject = subject_of(command)
        if not needs_two(command, subject, self._marked):
            return PermittedCommand(command, signer)
        self._end(now, subject_of)
        self._waiting, first = add_signature(self._waiting, command, signer, now, subject)
        if first is None:
            raise second_person_wanted(signer, right.roles)
        self._check_first(first, now)
        fields = {**msgspec.to_builtins(command), "by": first.name, "role": first.role}
        return PermittedCommand(msgspec.convert(fields, type(command)), first, signer)

    def _check_first(self, first: CommandSigner, now: float) -> None:
        """Reject the command if the first person may no longer give it."""
        token = first.token.encode()
        in_time = min(now, claims_of(token).exp + CLOCK_TOLERANCE_SECONDS - 1)
        verify(token, in_time, self._audience, self._table, self._people, SeenCommands())

    def accept(
        self,
        token: bytes,
        name: str,
        now: float,
        at: float,
        subject_of: Callable[[AnyCommand], CommandSubject],
    ) -> PermittedCommand:
        """:meth:`verify` and :meth:`permit` in one call."""
        return self.permit(self.verify(token, now), token, name, now, at, subject_of)
