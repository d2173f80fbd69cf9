"""What is kept of an acceptance: its notes, in their order, and the protocol that a person signs.

A protocol holds everything that its verdict follows from, so whoever has it can judge it again.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.contract.retained import Identity
from controller.people.register import spelled, unspelled
from devices.errors import NovamasError

FORMAT = "novamas commission 1"
LARGEST = 16_000_000
"""The most bytes of a protocol."""

Outcome = Literal["passed", "failed", "not done"]
Verdict = Literal["accepted", "not accepted", "incomplete"]


class ProtocolError(NovamasError):
    """A file is no protocol, or not as it was signed. The message says what is wrong."""


class _Note(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower
):
    at: str
    """UTC, ISO 8601."""


class Began(_Note, frozen=True):
    """A run began: an acceptance that was interrupted has several."""

    by: str
    recording: str
    """The name of the file with all bytes of the run."""


class Plate(_Note, frozen=True):
    """What a person read on the plate; empty: it is not there."""

    maker: str
    model: str
    serial: str


class Answer(_Note, frozen=True):
    """What a person saw, said before the device's own word was shown. ``first``: what the person
    said before looking once more; ``told``: what the device said, None: nothing; ``ms``: from the
    arrival of its bytes to the result; ``unasked``: results told since the answer before, beside
    this one.
    """

    said: str
    told: str | None
    first: str | None = None
    ms: float | None = None
    unasked: int = 0


class Phase(_Note, frozen=True):
    """What the device said of the game, and whether the person saw the same. ``told`` False: it
    did not say it.
    """

    phase: str
    told: bool
    right: bool = False


class Provoked(_Note, frozen=True):
    """A fault that a person made. ``told``: the readings by which the device told it; ``over``: it
    told the end too.
    """

    fault: str
    told: tuple[str, ...]
    over: bool


AnyNote = Began | Plate | Answer | Phase | Provoked


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What is accepted, and what has to be seen of it. ``values``: numbers or cards."""

    kind: Literal["wheel", "shoe"]
    values: tuple[str, ...]
    phases: tuple[str, ...]
    faults: tuple[str, ...]


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """A recording of the acceptance, and what its bytes come to."""

    file: str
    sha256: str
    bytes: int
    frames: int
    damaged: int


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the acceptance. ``what``: what it rests on, or what is missing."""

    name: str
    outcome: Outcome
    what: str


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """One acceptance. ``by``: who led it; ``person``: that person in the people file, if there is
    one; ``usb``: what USB told of the connection.
    """

    site: str
    table: str
    game: str
    decree: str
    device: str
    driver: str
    evidence: str
    link: str
    configured: Identity
    usb: dict[str, str]
    software: str
    by: str
    person: str | None
    ended: str
    expected: Expected
    notes: tuple[AnyNote, ...]
    recordings: tuple[Recorded, ...]
    checks: tuple[Check, ...]
    verdict: Verdict


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """The file: the protocol in the very bytes that were signed."""

    format: str
    key: str
    """The public key, base64url."""
    signature: str
    """Ed25519 over the format, a line end and the protocol; base64url."""
    protocol: msgspec.Raw


def write_signed(protocol: Protocol, key: SigningKey) -> bytes:
    """The file of a protocol."""
    body = msgspec.json.encode(protocol)
    return msgspec.json.encode(
        Signed(
            format=FORMAT,
            key=spelled(key.verify_key.encode()),
            signature=spelled(key.sign(_signed(body)).signature),
            protocol=msgspec.Raw(body),
        )
    )


def read_signed(data: bytes) -> tuple[Signed, Protocol]:
    """A protocol whose signature is right. Raises :class:`ProtocolError`."""
    if len(data) > LARGEST:
        raise ProtocolError(f"is no protocol: longer than {LARGEST} bytes")
    try:
        signed = msgspec.json.decode(data, type=Signed)
        body = bytes(signed.protocol)
        if signed.format != FORMAT:
            raise ProtocolError(f"has the format {signed.format[:64]!r}; this reads {FORMAT}")
        VerifyKey(unspelled(signed.key)).verify(_signed(body), unspelled(signed.signature))
        return signed, msgspec.json.decode(body, type=Protocol)
    except BadSignatureError:
        raise ProtocolError("is not as it was signed: the signature is wrong") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise ProtocolError(f"is no protocol of an acceptance: {error}") from None


def _signed(body: bytes) -> bytes:
    return FORMAT.encode() + b"\n" + body
