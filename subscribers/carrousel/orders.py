"""Orders of persons: who signed, whether that role may give the order, and whether it needs a
second person.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from common.contract.command_fields import Signature
from common.contract.jackpot import JACKPOT_ORDERS, HitFix, JackpotOrder
from common.contract.jackpot_authority import ORDERS
from common.contract.refusals import RejectedError
from common.contract.topics import level
from common.errors import describe_error
from common.log import structlog
from common.people.people_file import RememberedPeopleFile
from common.people.register import People, PeopleError
from common.people.seen import SeenCommands
from common.people.signed_command import (
    CLOCK_TOLERANCE_SECONDS,
    Claims,
    VerifiedCommand,
    claims_of,
    kid_of,
    prepare,
    verify,
)
from common.people.two_persons import (
    CommandSigner,
    WaitingCommand,
    WaitingCommands,
    add_signature,
    drop_expired,
    second_person_wanted,
)
from common.plain_errors import describe
from common.standby.shared_people import SharedPeople
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
"""Refusals of orders that can never be followed."""


class OrderPeople:
    """The people who may give orders, as of the last :meth:`refresh` of the file. Without ``path``
    or ``key`` no one may. ``ledger``: the file that was in force is remembered beside it.
    ``trouble``: what is wrong with the file, and what to do.
    """

    def __init__(self, path: str | None, key: str | None, site: str, ledger: Path) -> None:
        self._source = None if path is None or key is None else (path, key, site)
        self._memory = ledger.with_name(f"{ledger.name}.people")
        self.file: RememberedPeopleFile | None = None
        """None until it can be read."""
        self.people: People | None = None
        self.trouble: str | None = None
        self.refresh()

    def refresh(self) -> None:
        """Read the file again if it was replaced."""
        if self._source is None:
            self.trouble = "orders need [people] with `file` and `key`"
            return
        try:
            if self.file is None:
                self.file = RememberedPeopleFile(*self._source, self._memory)
            self.people, self.trouble = self.file.refresh(), self.file.trouble
        except (PeopleError, OSError, ValueError) as error:
            self.trouble = describe_error(error)

    @property
    def digest(self) -> str:
        """The number and the digest of the file in force; ``none`` without one."""
        return "none" if self.file is None else self.file.in_force.digest

    async def share(self, shared: SharedPeople) -> None:
        """In a pair, exchange the file with the other machine, and use that one's if it is
        newer.
        """
        self.refresh()
        await shared.exchange()
        if self.file is not None and (newer := shared.offered(self.file)) is not None:
            self.file.adopt(newer)
            number = newer.people.head.number
            structlog.get_logger().info("people file of the other controller", number=number)
            self.refresh()


class Orders:
    """Verifies the orders of one jackpot. ``audience``: its topic; ``seen`` is shared by all
    jackpots; ``state``: returns the jackpot's ledger state. Anyone who may act at one of ``tables``
    may act here.
    """

    def __init__(
        self,
        *,
        jackpot: str,
        audience: str,
        tables: Callable[[], tuple[str, ...]],
        state: Callable[[], JackpotLedgerState],
        people: OrderPeople,
        seen: SeenCommands,
    ) -> None:
        self._jackpot, self._audience, self._tables = jackpot, audience, tables
        self._state, self._people, self._seen = state, people, seen
        self._waits = WaitingCommands()
        self._expired: tuple[WaitingCommand, ...] = ()
        """Orders that no longer wait, not yet reported."""
        prepare()

    def verify_signer(self, token: bytes, now: float) -> VerifiedCommand:
        """Verify an order's signature; ``now`` in seconds since 1970. From here on it counts as
        given. Raises ``RejectedError``.
        """
        return self._verified(token, now, self._seen)

    def accept(
        self, signed: VerifiedCommand, name: str, token: bytes, now: float, time: str
    ) -> OrderGiven:
        """Return the order on the topic ``command/<name>``, ready to be followed; ``now`` in
        seconds since 1970, also formatted as ``time``.

        Raises ``RejectedError`` with the reason, also if a second person must sign.
        """
        claims, role = signed.claims, signed.claims.role
        tag = _tag(claims)
        rights = ORDERS[ORDER_TYPES[tag]]
        if role not in rights.roles:
            raise RejectedError("role_not_allowed", role=role, roles=rights.roles)
        if level(claims.command) != name:
            raise RejectedError("command_other", command=claims.command, name=name)
        order = self._read(claims, tag, signed.person.name)
        signer = _signer_entry(signed, token)
        if not rights.two:
            return self._ordered(order, time, signer)
        self.expire(now)
        state = self._state()
        if (outdated := is_outdated(state, order)) is not None:
            raise outdated
        self._waits, first = add_signature(self._waits, order, signer, now, subject(state, order))
        if first is None:
            raise second_person_wanted(signer, rights.roles)
        first_token = first.token.encode()
        self._verified(
            first_token,
            min(now, claims_of(first_token).exp + CLOCK_TOLERANCE_SECONDS - 1),
            SeenCommands(),
        )
        first_order = self._read(claims_of(first_token), tag, first.name)
        return self._ordered(first_order, time, first, signer)

    def take_expired(self, now: float) -> tuple[WaitingCommand, ...]:
        """Return, and drop, the orders that no second person signed in time, or whose subject has
        changed.
        """
        self.expire(now)
        expired_orders, self._expired = self._expired, ()
        return expired_orders

    def expire(self, now: float) -> None:
        """Drop orders whose time is over or whose subject has changed; :meth:`take_expired` returns
        them.
        """
        if not self._waits.waiting:
            return
        self._waits, expired_orders = drop_expired(
            self._waits, now, partial(subject, self._state())
        )
        self._expired += expired_orders

    def _ordered(self, order: JackpotOrder, time: str, *signers: CommandSigner) -> OrderGiven:
        signed = tuple(map(_signature, signers))
        check_signers(order, signed)
        is_fix = isinstance(order, HitFix)
        return OrderGiven(time=time, order=order, signed=signed, with_withdrawn=is_fix)

    def _verified(self, token: bytes, now: float, seen: SeenCommands) -> VerifiedCommand:
        people = self._people.people
        if people is None:
            raise RejectedError("people_not_in_force", what=self._people.trouble or "")
        kid = kid_of(token)
        owner = people.owners[kid][0] if kid in people.owners else None
        tables = self._tables()
        table = next((name for name in tables if owner and people.may_be_at(owner, name)), None)
        return verify(token, now, self._audience, table or self._jackpot, people, seen)

    def _read(self, claims: Claims, tag: str, by: str) -> JackpotOrder:
        if reserved := sorted({"by", "role", "type", "client", "id"} & claims.fields.keys()):
            raise RejectedError("signed_claims", what=f"fields.{reserved[0]}")
        check_complete(self._state(), ORDER_TYPES[tag], claims.fields)
        fields = {**claims.fields, "type": tag, "by": by, "role": claims.role}
        try:
            order: JackpotOrder = msgspec.convert(fields, JackpotOrder)
        except msgspec.ValidationError as error:
            raise RejectedError(
                "order_field", order=tag, what=describe(error, JackpotOrder)
            ) from None
        return order


def _tag(claims: Claims) -> str:
    tag = _TAGS.get(level(claims.command))
    if tag is None:
        orders = tuple(sorted(_TAGS.values()))
        raise RejectedError("order_unknown", order=claims.command[:64], orders=orders)
    return tag


def order_not_followed(
    signed: VerifiedCommand, token: bytes, time: str, error: RejectedError
) -> OrderNotFollowed:
    """Return the ledger's record of a signed order that is not followed."""
    signature = _signature(_signer_entry(signed, token))
    return OrderNotFollowed(time=time, signed=(signature,), refusal=error.refusal.key)


def _signer_entry(signed: VerifiedCommand, token: bytes) -> CommandSigner:
    return CommandSigner(signed.person.id, signed.person.name, signed.claims.role, token.decode())


def _signature(signer: CommandSigner) -> Signature:
    fields = {"id": signer.person, "name": signer.name, "role": signer.role, "token": signer.token}
    return msgspec.convert(fields, Signature)
