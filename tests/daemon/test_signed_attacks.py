"""What people try who may not, at a running daemon with a real broker, while the wheel turns:
nothing is followed, everything is answered and counted, and every result comes in its order. Each
attack is tried ten thousand times without a broker in ``tests/controller/people``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from common.people.signed_command import Claims
from controller.proof.audit import audit
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import NODE, TABLE, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.people.signing import (
    GONE,
    LASA,
    RIERA,
    SIGNED,
    VIDAL,
    claims,
    enrol,
    give,
    say,
    token,
)
from tests.support.waiting import until

EACH = 12
"""How often each is tried: fewer than a queue of commands holds."""


class Floor:
    def __init__(self, subscriber: Subscriber, running: Daemon, wheel: Wheel) -> None:
        self.subscriber, self.running, self.wheel = subscriber, running, wheel
        self.refused: dict[str, int] = {}
        self.spins: list[int] = []
        self._tried = 0

    def turn(self) -> None:
        """One spin of the wheel."""
        number = len(self.spins) % 36 + 1
        self.spins.append(number)
        spin(self.wheel, self.subscriber, str(number), len(self.spins))

    def attack(self, key: str, bodies: Sequence[bytes], retain: bool = False) -> None:
        """Each body is answered with this refusal, while the wheel turns."""
        self._tried += 1
        correlation = str(self._tried).encode()
        properties: Any = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        properties.ResponseTopic = f"{TABLE}/reply/attacker"
        properties.CorrelationData = correlation
        for body in bodies:
            self.subscriber.publish_nowait(
                f"{TABLE}/command/round-void", body, retain=retain, properties=properties
            )
        self.turn()

        def answers() -> list[Any]:
            return [
                message.body
                for message in self.subscriber.on("/reply/attacker")
                if message.properties.CorrelationData == correlation
            ]

        until(f"answers: {key}", lambda: len(answers()) == len(bodies), self.running.log)
        told = [answer["refusal"]["key"] for answer in answers() if not answer["ok"]]
        assert told == [key] * len(bodies)
        self.refused[key] = self.refused.get(key, 0) + len(bodies)


@pytest.fixture
def floor(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> Floor:
    running = daemon(configuration(mosquitto.port, table("r1", wheel), people=SIGNED))
    enrol(running.folder)
    running.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running)
    assert give(subscriber, LASA, "session.open")["ok"]
    return Floor(subscriber, running, wheel)


def voids(who: str = LASA, role: str = "table_head", key: str | None = None, **changed: Any) -> Any:
    """Tokens that would void the round."""
    return [
        token(claims(who, "round.void", role, reason="ball_out", **changed), key)
        for _ in range(EACH)
    ]


def earlier(seconds: int) -> list[bytes]:
    """An order signed that number of seconds ago."""
    made = [claims(LASA, "round.void", reason="ball_out") for _ in range(EACH)]
    return [token(replace(each, iat=each.iat - seconds, exp=each.exp - seconds)) for each in made]


def b64(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def rewritten(body: bytes, header: dict[str, str]) -> bytes:
    """With another header, and the same signature."""
    _, text, signature = body.split(b".")
    return b".".join((b64(json.dumps(header).encode()), text, signature))


def doubled(given: Claims) -> bytes:
    """Properly signed, with the role twice."""
    import jwt
    import msgspec
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from tests.support.people.staff import public, secret

    text = msgspec.json.encode(given).replace(
        b'"role":"table_head"', b'"role":"croupier","role":"table_head"'
    )
    secret_key = Ed25519PrivateKey.from_private_bytes(secret("lasa"))
    key = {"kid": public("lasa").id}
    return jwt.PyJWS().encode(text, secret_key, "EdDSA", headers=key).encode()


def test_commands_without_authority_are_refused(floor: Floor) -> None:
    subscriber, running = floor.subscriber, floor.running
    good = voids()
    floor.attack("role_not_allowed", voids(RIERA, "croupier"))
    floor.attack("role_not_held", voids(RIERA))
    floor.attack("signed_expired", earlier(75))
    floor.attack("signed_in_future", earlier(-75))
    floor.attack("audience_other", voids(aud="novamas/v1/palma/r2"))
    floor.attack("audience_other", voids(aud=TABLE.replace("novamas/", "novamas-sim/")))
    floor.attack("key_unknown", voids(key="stranger"))
    floor.attack("signer_other", voids(key="riera"))
    floor.attack("person_revoked", voids(GONE, "director"))
    floor.attack("retained_command", voids(), retain=True)
    floor.attack("signed_header", [rewritten(each, {"alg": "none"}) for each in good])
    floor.attack("signed_header", [rewritten(each, {"alg": "HS256"}) for each in good])
    floor.attack("signed_form", [each.rpartition(b".")[0] + b"." for each in good])
    floor.attack(
        "signed_claims",
        [doubled(claims(LASA, "round.void", reason="ball_out")) for _ in range(EACH)],
    )
    floor.attack("signed_too_long", [b"A" * size for size in (16_385, 16_500, 17_000)])
    for size in (300_000, 3_000_000, 30_000_000):  # unreadable
        subscriber.publish(f"{TABLE}/command/round-void", b"A" * size)
    floor.attack("signed_form", [b'{"by":"M. Lasa","role":"table_head","reason":"ball_out"}'])

    taken = claims(LASA, "session.close")
    body = token(taken)
    assert say(subscriber, taken, body)["ok"]
    assert give(subscriber, LASA, "session.open")["ok"]
    for count in range(2, 5):
        reply = say(subscriber, taken, body, count)
        assert reply["refusal"]["key"] == "signed_already"
    kept = [claims(VIDAL, "session.close", "director") for _ in range(EACH)]
    revoked = voids()

    def health(number: int) -> Any:
        """The daemon's health once it has loaded these people."""

        def told() -> Any:
            found = subscriber.latest(f"{NODE}/health")
            return found["people"]["number"] == number and found

        return until("the change", told, running.log)

    enrol(running.folder, 8, revoked="2026-11-22T12:00:00Z")
    health(8)
    floor.attack("person_revoked", revoked)
    enrol(running.folder, 9)
    found = health(9)
    assert found["refusals"] == {**floor.refused, "signed_already": 3}
    assert found["commands_followed"] == 3
    assert say(subscriber, kept[0], token(kept[0]))["ok"]

    before = len(subscriber.on(f"/reply/{VIDAL}"))
    running.kill()
    running.start()
    until_up(subscriber, running)
    for record in kept[:3]:  # followed before, and signed before
        assert say(subscriber, record, token(record), 1 + (record is kept[0]))["refusal"][
            "key"
        ] == ("signed_before_start")
    assert len(subscriber.on(f"/reply/{VIDAL}")) == before + 3
    running.stop()

    told = [event["outcome"]["number"] for event in subscriber.events("round.result")]
    assert told == floor.spins
    assert subscriber.events("round.void") == []
    assert len(subscriber.events("session.closed")) == 2
    assert running.log().count("broker connected") == 2
    proof = audit(running.folder / "journal.sqlite3")
    assert (proof.proves, proof.signed, proof.commands) == (True, 4, 4)
