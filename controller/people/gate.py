"""Before a table: who signed a command, whether that role may say it here, and whether it takes
another person. In this order, and only a command that passes all of it is followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from controller.contract.commands import AnyCommand, Command, Signature
from controller.contract.orders import DeviceOrder, Recall
from controller.contract.refusals import RejectedError
from controller.people.authority import Rights, allow
from controller.people.register import People
from controller.people.seen import Seen
from controller.people.signed_command import TOLERANCE, Signed, claims_of, order, prepare, verify
from controller.people.two_persons import (
    MARKED,
    Mark,
    Said,
    Standing,
    Waiting,
    Waits,
    expired,
    say,
    takes_two,
    wanted,
)


class Passed(msgspec.Struct, frozen=True):
    """A command to follow, and who gave it."""

    command: AnyCommand | DeviceOrder | Recall
    """With the name and role of ``first``."""
    first: Said
    second: Said | None = None
    """Who said the same, where it took two."""

    @property
    def signed(self) -> tuple[Signature, ...]:
        """The proof, for the journal."""
        return tuple(
            found
            for each in (self.first, self.second)
            if each is not None and (found := said(each)) is not None
        )


def said(by: Said) -> Signature | None:
    """The proof that a person said it; None of who only reads, for that is not kept."""
    if by.role == "reader" or by.role == "surveillance":
        return None
    return Signature(id=by.person, name=by.name, role=by.role, token=by.token)


def signature(signed: Signed, token: bytes) -> Signature | None:
    """The same of a command that is not permitted yet."""
    person = signed.person
    return said(Said(person.id, person.name, signed.claims.role, token.decode()))


def _subject(standing: Callable[[Any], Standing]) -> Callable[[Any], Standing | None]:
    """The state of what a command is about; None: there is no such thing any more."""

    def found(given: Any) -> Standing | None:
        try:
            return standing(given)
        except RejectedError:
            return None

    return found


class Gate:
    """What stands before one table. It asks no clock and does no I/O.

    ``audience``: the table's topic; ``seen`` is one for all tables of a daemon. :attr:`people` and
    :attr:`rights` may be replaced at any time.
    """

    def __init__(
        self,
        audience: str,
        table: str,
        people: People,
        rights: Rights,
        seen: Seen,
        marked: tuple[Mark, ...] = MARKED,
    ) -> None:
        self._audience = audience
        self._table = table
        self._people = people
        self.rights = rights
        self._seen = seen
        self._marked = marked
        self._waits = Waits()
        self._over: tuple[Waiting, ...] = ()
        """What waits no longer, and nobody was told of."""
        prepare()

    @property
    def people(self) -> People:
        """Who may act."""
        return self._people

    @people.setter
    def people(self, people: People) -> None:
        """What somebody said first who may not act any more, waits no longer."""
        self._people = people
        may = {person.id for person in people.persons if person.revoked is None}
        self._waits = Waits(tuple(each for each in self._waits.waiting if each.first.person in may))

    def expired(
        self, now: float, standing: Callable[[Any], Standing] | None = None
    ) -> tuple[Waiting, ...]:
        """Drop, and return, what no second person signed in time, and what a command was about that
        has changed or ended by now: its round, its session. ``standing``: as for :meth:`permit`.
        """
        self._end(now, standing)
        over, self._over = self._over, ()
        return over

    def _end(self, now: float, standing: Callable[[Any], Standing] | None) -> None:
        self._waits, over = expired(self._waits, now, standing and _subject(standing))
        self._over += over

    def signer(self, token: bytes, now: float) -> Signed:
        """Who signed a command (``now``: seconds since 1970). It counts as seen from here on.
        Raises :class:`RejectedError`.
        """
        return verify(token, now, self._audience, self._table, self._people, self._seen)

    def permit(
        self,
        signed: Signed,
        token: bytes,
        name: str,
        now: float,
        at: float,
        standing: Callable[[AnyCommand], Standing],
    ) -> Passed:
        """The command to follow, signed as ``token`` and sent to ``command/<name>``.

        ``at``: on the table's clock; ``standing``: what is known of the round that a command is
        about. Raises :class:`RejectedError`, also where a second person must say it first;
        ``UnreadableCommandError`` for wrong fields.
        """
        given, role = order(signed, name, at), signed.claims.role
        right = allow(self.rights, given, role)
        speaker = Said(signed.person.id, signed.person.name, role, token.decode())
        if not isinstance(given, Command):
            return Passed(given, speaker)
        subject = standing(given)
        if not takes_two(given, subject, self._marked):
            return Passed(given, speaker)
        self._end(now, standing)
        self._waits, first = say(self._waits, given, speaker, now, subject)
        if first is None:
            raise wanted(speaker, right.roles)
        self._still(first, now)
        fields = {**msgspec.to_builtins(given), "by": first.name, "role": first.role}
        return Passed(msgspec.convert(fields, type(given)), first, speaker)

    def _still(self, first: Said, now: float) -> None:
        """Reject it if the first person may not say it any more."""
        token = first.token.encode()
        in_time = min(now, claims_of(token).exp + TOLERANCE - 1)
        verify(token, in_time, self._audience, self._table, self._people, Seen())

    def take(
        self,
        token: bytes,
        name: str,
        now: float,
        at: float,
        standing: Callable[[AnyCommand], Standing],
    ) -> Passed:
        """Both in one."""
        return self.permit(self.signer(token, now), token, name, now, at, standing)
