"""Orders of persons: who signed one, whether that role may give it, and whether it takes another
person.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from controller.contract.command_fields import Signature
from controller.contract.jackpot import JACKPOT_ORDERS, JackpotOrder
from controller.contract.jackpot_authority import ORDERS
from controller.contract.refusals import RejectedError
from controller.contract.topics import level
from controller.people.register import LARGEST, People, PeopleError, read_people, unspelled
from controller.people.seen import Seen
from controller.people.signed_command import TOLERANCE, Signed, claims_of, kid_of, prepare, verify
from controller.people.two_persons import Said, Waits, expired, say, wanted
from subscribers.carrousel.authority import permit
from subscribers.carrousel.facts import Ordered

_TAGS = {level(tag): tag for kind in JACKPOT_ORDERS if (tag := str(kind.__struct_config__.tag))}


class PeopleInForce:
    """The people file: read at the start, and again when it was replaced. ``trouble``: why the one
    on the disk is not in force.
    """

    def __init__(self, path: str | None, key: str | None, site: str) -> None:
        self._path, self._key, self._site = path, key, site
        self._seen: tuple[int, ...] | None = None
        self.people: People | None = None
        self.trouble: str | None = None
        self.look()

    def look(self) -> None:
        """Read it if it was replaced. An older one than that in force is refused."""
        if self._path is None or self._key is None:
            self.trouble = "orders need [people] with `file` and `key`"
            return
        try:
            with Path(self._path).open("rb") as file:
                found = os.fstat(file.fileno())
                seen = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                if seen == self._seen:
                    return
                self._seen = seen
                read = read_people(file.read(LARGEST + 1), self._site, unspelled(self._key))
        except OSError as error:
            self._seen, self.trouble = None, f"{self._path}: {error.strerror}"
            return
        except (PeopleError, ValueError) as error:
            self.trouble = f"{self._path}: {error}"
            return
        if self.people is not None and read.head.number < self.people.head.number:
            self.trouble = (
                f"{self._path}: its number is {read.head.number}, and number "
                f"{self.people.head.number} is in force: it is an old copy"
            )
            return
        self.people, self.trouble = read, None


class Orders:
    """What stands before one jackpot. ``audience``: its topic; ``seen`` is one for all jackpots.
    Whoever may act at one of ``tables`` may act here.
    """

    def __init__(
        self,
        jackpot: str,
        audience: str,
        tables: Callable[[], tuple[str, ...]],
        people: PeopleInForce,
        seen: Seen,
    ) -> None:
        self._jackpot, self._audience, self._tables = jackpot, audience, tables
        self._people, self._seen = people, seen
        self._waits = Waits()
        prepare()

    def give(self, name: str, token: bytes, now: float, time: str) -> Ordered:
        """The order on the topic ``command/<name>``, to be followed; ``now`` in seconds since 1970
        and as ``time``.

        Raises ``RejectedError`` with the reason, also where a second person
        must say the same.
        """
        signed = self._verified(token, now, self._seen)
        order = self._read(signed, name)
        role, person = signed.claims.role, signed.person
        may = ORDERS[type(order)]
        if role not in may.roles:
            raise RejectedError("role_not_allowed", role=role, roles=may.roles)
        speaker = Said(person.id, person.name, role, token.decode())
        if not may.two:
            return self._ordered(order, time, speaker)
        self._waits, first = say(self._waits, order, speaker, now)
        if first is None:
            raise wanted(speaker, may.roles)
        said = first.token.encode()
        self._verified(said, min(now, claims_of(said).exp + TOLERANCE - 1), Seen())
        again = self._read_claims(claims_of(said), first.name)
        return self._ordered(again, time, first, speaker)

    def late(self, now: float) -> list[bytes]:
        """The signed orders that no second person said in time; they are dropped."""
        self._waits, late = expired(self._waits, now)
        return [each.first.token.encode() for each in late]

    def _ordered(self, order: JackpotOrder, time: str, *said: Said) -> Ordered:
        signed = tuple(
            msgspec.convert(
                {"id": each.person, "name": each.name, "role": each.role, "token": each.token},
                Signature,
            )
            for each in said
        )
        permit(order, signed)
        return Ordered(time=time, order=order, signed=signed)

    def _verified(self, token: bytes, now: float, seen: Seen) -> Signed:
        people = self._people.people
        if people is None:
            raise RejectedError("people_not_in_force", what=self._people.trouble or "")
        kid = kid_of(token)
        owner = people.owners[kid][0] if kid in people.owners else None
        tables = self._tables()
        at = next((each for each in tables if owner and people.may_be_at(owner, each)), None)
        return verify(token, now, self._audience, at or self._jackpot, people, seen)

    def _read(self, signed: Signed, name: str) -> JackpotOrder:
        claims = signed.claims
        if level(claims.command) != name:
            raise RejectedError("command_other", command=claims.command, name=name)
        return self._read_claims(claims, signed.person.name)

    def _read_claims(self, claims: Any, by: str) -> JackpotOrder:
        tag = _TAGS.get(level(claims.command))
        if tag is None:
            raise RejectedError(
                "order_unknown", order=claims.command[:64], orders=tuple(sorted(_TAGS.values()))
            )
        if own := sorted({"by", "role", "type", "client", "id"} & claims.fields.keys()):
            raise RejectedError("signed_claims", what=f"fields.{own[0]}")
        fields = {**claims.fields, "type": tag, "by": by, "role": claims.role}
        try:
            order: JackpotOrder = msgspec.convert(fields, JackpotOrder)
        except msgspec.ValidationError as error:
            raise RejectedError("order_field", order=tag, what=str(error)) from None
        return order
