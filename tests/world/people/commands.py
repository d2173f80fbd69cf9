"""What must hold of the commands of people."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from common.chain.schema import Entry
from common.contract.refusals import RejectedError
from common.contract.topics import level
from common.people.register import from_base64url
from common.people.signed_command import Claims, claims_of
from subscribers.console.outcomes import touch_outcome
from subscribers.console.sending import Touch
from subscribers.console.sessions import Session
from subscribers.console.words import console_text
from tests.world.broker.packets import Publish
from tests.world.checkers import Immediate, require
from tests.world.people.console import Desk
from tests.world.people.staff import ROOT

if TYPE_CHECKING:
    from tests.world.people.site import Site

QUERY_SECONDS = 8.0
"""An answer of a console about what was followed may be as old as this."""
WAITS = "second_person_wanted"
UNDECIDED = {"not_stored_yet"}
"""Refusals that leave open whether the command will be followed."""
OF_A_COPY = {
    "audience_other",
    "command_other",
    "key_revoked",
    "person_revoked",
    "retained_command",
    "signature_wrong",  # of a copy that was changed on its way
    "signed_already",
    "signed_before_start",
    "signed_expired",
    "signed_in_future",
}
"""Refusals that another copy of a command that was followed may get."""


def _is_signed(token: bytes, key: str) -> bool:
    """Verify a signature without the program's own code."""
    content, _, signature = token.decode().rpartition(".")
    try:
        VerifyKey(from_base64url(key)).verify(content.encode(), from_base64url(signature))
    except BadSignatureError:
        return False
    return True


class Place(NamedTuple):
    """Where a journal has a command that was followed."""

    owner: str
    position: int


class SignedEvent(NamedTuple):
    """An event that a person signed, and when it was stored."""

    at: float
    table: str
    person: str
    type: str


class Commands(Immediate):
    """A command is followed at most once, only as people in force have signed it; and what its
    sender is told of it is true.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.sent: list[Publish] = []
        """The signed commands that have reached the broker, also copies."""
        self._arrived: dict[str, float] = {}
        """By request id, when it first reached the broker."""
        self._followed: dict[str, tuple[Place, float]] = {}
        self._refused: dict[str, str] = {}
        """By request id, the refusal after which it must not be followed."""
        self._judged: dict[str, str] = {}
        """By request id, the refusal that a journal has."""
        self._unsent: set[str] = set()
        self._in_force: dict[int, float] = {}
        """By number of a people file, since when a daemon says that it is in force."""
        self._stored: dict[tuple[str, int], float] = {}
        """By boot and seq of an event, when it was stored."""
        self._events: dict[str, list[SignedEvent]] = defaultdict(list)
        self._touches: dict[str, Touch] = {}

    @property
    def _now(self) -> float:
        return self.site.world.loop.now

    def on_sent(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if "/command/" not in message.topic:
            return
        try:
            claims = claims_of(message.payload)
        except RejectedError:
            return
        self.site.world.note(
            f"sent       {message.topic} {claims.iss} {claims.jti} {claims.fields}"
        )
        self.sent.append(message)
        self._arrived.setdefault(claims.jti, self._now)
        require(claims.jti not in self._unsent, "sent and shown as not sent", claims)

    def on_entries(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        signers: list[str] = []
        for entry in entries:
            body = json.loads(entry.body) if entry.kind in {"input", "event"} else {}
            if entry.kind == "input":
                signers = [signature["id"] for signature in body.get("signed", ())]
                if body["type"] == "command.refused":
                    self._on_stored_refusal(body)
                elif "by" in body:
                    self._on_followed(Place(owner, entry.position), entry.table, body, signers)
            elif entry.kind == "event":
                self._on_event(entry, body, signers)

    def _on_event(self, entry: Entry, body: dict[str, Any], signers: list[str]) -> None:
        self._stored[entry.boot, entry.seq] = self._now
        named = [signer["id"] for signer in body.get("signed_by", ())]
        require(named in ([], signers), "an event names others than its command", body, signers)
        for person in named:
            self._events[entry.table].append(
                SignedEvent(self._now, entry.table, person, body["type"])
            )

    def _on_followed(
        self, place: Place, table: str, body: dict[str, Any], signers: list[str]
    ) -> None:
        signatures = body.get("signed", [])
        require(signatures, "followed without a signature", body)
        require(len(set(signers)) == len(signers), "one person signed twice", body)
        claims = [self._verify(table, body, signature) for signature in signatures]
        for claim in claims:
            before = self._followed.get(claim.jti)
            require(before is None, "followed twice", claim.jti, before, place, body)
            refusal = self._refused.get(claim.jti)
            require(refusal is None, "refused and followed", claim.jti, refusal, body)
            self._followed[claim.jti] = place, self._now
        last = max(self._arrived[claim.jti] for claim in claims)
        for number, since in self._in_force.items():
            gone = self.site.staff.revoked[number] & set(signers)
            require(
                not (gone and last > since), "revoked and followed", gone, number, since, last, body
            )

    def _on_stored_refusal(self, body: dict[str, Any]) -> None:
        """A journal names only who has signed, and each command once, unless it waited for a second
        person, or for the disk.
        """
        (signature,) = body["signed"]
        token = signature["token"].encode()
        claims = claims_of(token)
        key = self.site.staff.key(claims.iss)
        require(key is not None and _is_signed(token, key), "refused and forged", body)
        waited = body["refusal"] in UNDECIDED or self._judged.get(claims.jti) == WAITS
        known = claims.jti in self._judged or claims.jti in self._followed
        require(waited or not known, "judged twice", body)
        self._judged[claims.jti] = body["refusal"]

    def _verify(self, table: str, body: dict[str, Any], signature: dict[str, Any]) -> Claims:
        """A command has the signature of the person whom it names, who meant this table."""
        token = signature["token"].encode()
        claims = claims_of(token)
        key = self.site.staff.key(claims.iss)
        require(key is not None and _is_signed(token, key), "followed and forged", body)
        require(
            (claims.iss, claims.aud, level(claims.command))
            == (signature["id"], f"{ROOT}/{table}", level(body["type"])),
            "followed otherwise than signed",
            claims,
            body,
        )
        own = {name: value for name, value in claims.fields.items() if name != "note"}
        require(
            all(body.get(name) == value for name, value in own.items() if value is not False),
            "followed otherwise than signed",
            claims,
            body,
        )
        return claims

    def on_published(self, message: Publish) -> None:
        """See :class:`Checker`."""
        if message.topic.endswith("/health") and message.payload:
            people = json.loads(message.payload).get("people")
            if people is not None:
                self._in_force.setdefault(people["number"], self._now)
        elif "/reply/" in message.topic:
            self._on_reply(json.loads(message.payload))

    def _on_reply(self, reply: dict[str, Any]) -> None:
        number = reply["id"]
        if reply["ok"]:
            is_recall = "events" in reply
            require(is_recall or number in self._followed, "acknowledged and not stored", reply)
            return
        require("the daemon failed" not in reply["error"], "the daemon failed", reply)
        key = (reply.get("refusal") or {}).get("key")
        if key is None or key in UNDECIDED or key in OF_A_COPY or key == WAITS:
            return
        require(
            number not in self._followed, "followed and refused", reply, self._followed.get(number)
        )
        self._refused[number] = key

    def on_tick(self, now: float) -> None:
        """Read what the console shows of each touch that has changed."""
        del now
        desk = self.site.console.desk
        if desk is None:
            return
        for touch in list(desk.pit.sending.touches.values()):
            if self._touches.get(touch.number) != touch:
                self._touches[touch.number] = touch
                self._look_at(desk, touch)

    def _look_at(self, desk: Desk, touch: Touch) -> None:
        followed = self._followed.get(touch.number)
        if touch.how == "followed":
            require(followed, "shown as followed, and not stored", touch)
        elif touch.how in {"refused", "unsent"}:
            require(not followed, f"shown as {touch.how}, and followed", touch, followed)
        if touch.how == "unsent":
            require(touch.number not in self._arrived, "shown as not sent, and sent", touch)
            self._unsent.add(touch.number)
        sessions = desk.pit.door.sessions.all
        own = next((each for each in sessions if touch.number.startswith(each.tag)), None)
        if own is None:
            return
        outcome = touch_outcome(desk.pit.table_context(own, touch.table), touch)
        if outcome.found == console_text("pit.found_nothing", own.language):
            is_known = followed is not None and followed[1] < self._now - QUERY_SECONDS
            require(not is_known, "shown as not found, and followed", touch, followed)
        elif outcome.found is not None:
            self._check_found(touch)

    def _check_found(self, touch: Touch) -> None:
        """The events that a console has found are of later than the touch."""
        since = self._stored.get((touch.boot, touch.seq), 0.0)
        later = {
            event.type
            for event in self._events[touch.table]
            if event.person == touch.person.id and event.at >= since
        }
        require(later.issuperset(touch.events), "found what was not told since", touch, later)

    def look_at_keypad(self, desk: Desk, session: Session, table: str) -> None:
        """Read what a keypad shows of its last order."""
        view = desk.keypads.view(session, table)
        touches = desk.pit.sending.touches_of(session, table)
        order = next((touch for touch in touches if "-k" in touch.number), None)
        if view.sound == "done":
            is_followed = order is not None and order.number in self._followed
            require(is_followed, "a keypad shows what was not followed as done", view, order)
