"""Orders of persons: who signed one, whether that role may give it, and whether it takes another
person.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from controller.contract.command_fields import Signature
from controller.contract.jackpot import JACKPOT_ORDERS, JackpotOrder
from controller.contract.jackpot_authority import ORDERS
from controller.contract.refusals import RejectedError
from controller.contract.topics import level
from controller.people.people_file import RememberedPeopleFile
from controller.people.register import People, PeopleError
from controller.people.seen import Seen
from controller.people.signed_command import (
    TOLERANCE,
    Claims,
    Signed,
    claims_of,
    kid_of,
    prepare,
    verify,
)
from controller.people.two_persons import Said, Waiting, Waits, expired, say, wanted
from subscribers.carrousel.authority import check_signers
from subscribers.carrousel.facts import OrderGiven, OrderNotFollowed
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.subject import check_complete, is_outdated, subject

ORDER_TYPES = {str(kind.__struct_config__.tag): kind for kind in JACKPOT_ORDERS}
_TAGS = {level(tag): tag for tag in ORDER_TYPES}
PERMANENT_REFUSALS = (
    "role_not_allowed",
    "order_unknown",
    "order_field",
    "order_unnamed",
    "signed_claims",
)
"""Refusals of what can never be followed, whatever happens."""


class PeopleInForce:
    """The people who may order, as the file on the disk says by the last :meth:`look`. ``path`` and
    ``key`` may be missing: nobody may order then. ``ledger``: beside it is remembered which file
    was in force. ``trouble``: what is wrong with the file, and what to do.
    """

    def __init__(self, path: str | None, key: str | None, site: str, ledger: Path) -> None:
        self._of = None if path is None or key is None else (path, key, site)
        self._memory = ledger.with_name(f"{ledger.name}.people")
        self._file: RememberedPeopleFile | None = None
        self.people: People | None = None
        self.trouble: str | None = None
        self.refresh()

    def refresh(self) -> None:
        """See whether the file was replaced."""
        if self._of is None:
            self.trouble = "orders need [people] with `file` and `key`"
            return
        try:
            if self._file is None:
                self._file = RememberedPeopleFile(*self._of, self._memory)
            self.people, self.trouble = self._file.refresh(), self._file.trouble
        except (PeopleError, OSError, ValueError) as error:
            self.trouble = str(error)


class Orders:
    """What stands before one jackpot. ``audience``: its topic; ``seen`` is one for all jackpots;
    ``state``: the jackpot as the ledger has it. Whoever may act at one of ``tables`` may act here.
    """

    def __init__(
        self,
        jackpot: str,
        audience: str,
        tables: Callable[[], tuple[str, ...]],
        state: Callable[[], JackpotLedgerState],
        people: PeopleInForce,
        seen: Seen,
    ) -> None:
        self._jackpot, self._audience, self._tables = jackpot, audience, tables
        self._state, self._people, self._seen = state, people, seen
        self._waits = Waits()
        self._expired: tuple[Waiting, ...] = ()
        """What waits no longer, and nobody was told of."""
        prepare()

    def verify_signer(self, token: bytes, now: float) -> Signed:
        """Who signed an order; ``now`` in seconds since 1970. It counts as given from here on.
        Raises ``RejectedError``.
        """
        return self._verified(token, now, self._seen)

    def accept(self, signed: Signed, name: str, token: bytes, now: float, time: str) -> OrderGiven:
        """The order on the topic ``command/<name>``, to be followed; ``now`` in seconds since 1970
        and as ``time``.

        Raises ``RejectedError`` with the reason, also where a second person
        must say the same.
        """
        claims, role = signed.claims, signed.claims.role
        tag = _tag(claims)
        may = ORDERS[ORDER_TYPES[tag]]
        if role not in may.roles:
            raise RejectedError("role_not_allowed", role=role, roles=may.roles)
        if level(claims.command) != name:
            raise RejectedError("command_other", command=claims.command, name=name)
        order = self._read(claims, tag, signed.person.name)
        speaker = _signer_entry(signed, token)
        if not may.two:
            return self._ordered(order, time, speaker)
        self.expire(now)
        state = self._state()
        if (outdated := is_outdated(state, order)) is not None:
            raise outdated
        self._waits, first = say(self._waits, order, speaker, now, subject(state, order))
        if first is None:
            raise wanted(speaker, may.roles)
        said = first.token.encode()
        self._verified(said, min(now, claims_of(said).exp + TOLERANCE - 1), Seen())
        again = self._read(claims_of(said), tag, first.name)
        return self._ordered(again, time, first, speaker)

    def take_expired(self, now: float) -> tuple[Waiting, ...]:
        """Drop, and return, the orders that no second person signed in time, and those of which
        what they are about has changed.
        """
        self.expire(now)
        over, self._expired = self._expired, ()
        return over

    def expire(self, now: float) -> None:
        """Let orders wait no longer whose time is over, or of which what they are about has
        changed; :meth:`late` returns them.
        """
        if not self._waits.waiting:
            return
        self._waits, over = expired(self._waits, now, partial(subject, self._state()))
        self._expired += over

    def _ordered(self, order: JackpotOrder, time: str, *said: Said) -> OrderGiven:
        signed = tuple(map(_signature, said))
        check_signers(order, signed)
        return OrderGiven(time=time, order=order, signed=signed)

    def _verified(self, token: bytes, now: float, seen: Seen) -> Signed:
        people = self._people.people
        if people is None:
            raise RejectedError("people_not_in_force", what=self._people.trouble or "")
        kid = kid_of(token)
        owner = people.owners[kid][0] if kid in people.owners else None
        tables = self._tables()
        at = next((each for each in tables if owner and people.may_be_at(owner, each)), None)
        return verify(token, now, self._audience, at or self._jackpot, people, seen)

    def _read(self, claims: Claims, tag: str, by: str) -> JackpotOrder:
        if own := sorted({"by", "role", "type", "client", "id"} & claims.fields.keys()):
            raise RejectedError("signed_claims", what=f"fields.{own[0]}")
        check_complete(self._state(), ORDER_TYPES[tag], claims.fields)
        fields = {**claims.fields, "type": tag, "by": by, "role": claims.role}
        try:
            order: JackpotOrder = msgspec.convert(fields, JackpotOrder)
        except msgspec.ValidationError as error:
            raise RejectedError("order_field", order=tag, what=str(error)) from None
        return order


def _tag(claims: Claims) -> str:
    tag = _TAGS.get(level(claims.command))
    if tag is None:
        orders = tuple(sorted(_TAGS.values()))
        raise RejectedError("order_unknown", order=claims.command[:64], orders=orders)
    return tag


def order_not_followed(
    signed: Signed, token: bytes, time: str, why: RejectedError
) -> OrderNotFollowed:
    """What the ledger stores of a signed order that is not followed."""
    signature = _signature(_signer_entry(signed, token))
    return OrderNotFollowed(time=time, signed=(signature,), refusal=why.refusal.key)


def _signer_entry(signed: Signed, token: bytes) -> Said:
    return Said(signed.person.id, signed.person.name, signed.claims.role, token.decode())


def _signature(said: Said) -> Signature:
    fields = {"id": said.person, "name": said.name, "role": said.role, "token": said.token}
    return msgspec.convert(fields, Signature)
