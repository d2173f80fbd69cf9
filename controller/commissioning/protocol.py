"""Data of an acceptance: its notes in order, and the protocol that a person signs.

A protocol contains everything that its verdict follows from, so the verdict can be derived again.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from nacl.signing import SigningKey

from common.contract.retained import Identity
from common.errors import NovamasError
from common.people.signed_bytes import is_signed, sign_bytes
from common.plain_errors import describe

FORMAT = "novamas commission 1"
MAX_PROTOCOL_BYTES = 16_000_000
"""Maximum bytes of a protocol."""

Outcome = Literal["passed", "failed", "not done"]
Verdict = Literal["accepted", "not accepted", "incomplete"]


class ProtocolError(NovamasError):
    """A file is not a protocol, or was changed since it was signed. The message says which."""


class _AcceptanceNote(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower
):
    at: str
    """UTC, ISO 8601."""


class Began(_AcceptanceNote, frozen=True):
    """Start of a run; an interrupted acceptance has several."""

    by: str
    recording: str
    """Name of the file with all bytes of the run."""


class Plate(_AcceptanceNote, frozen=True):
    """The type plate as read by a person; empty: missing."""

    maker: str
    model: str
    serial: str


class AnswerNote(_AcceptanceNote, frozen=True, tag="answer"):
    """A result as a person saw it (``seen``), entered before the device's value (``reported``; None
    without one) was shown. ``first``: the first entry, if it was corrected; ``ms``: milliseconds
    from the arrival of its bytes to the result; ``unasked``: further results since the previous
    answer.
    """

    seen: str = msgspec.field(name="said")
    reported: str | None = msgspec.field(name="told")
    first: str | None = None
    ms: float | None = None
    unasked: int = 0


class PhaseNote(_AcceptanceNote, frozen=True, tag="phase"):
    """A phase of the game: whether the device ``reported`` it, and whether the person saw the same
    (``right``).
    """

    phase: str
    reported: bool = msgspec.field(name="told")
    right: bool = False


class Provoked(_AcceptanceNote, frozen=True):
    """A fault that a person provoked, the readings that ``reported`` it, and whether its end was
    reported too (``over``).
    """

    fault: str
    reported: tuple[str, ...] = msgspec.field(name="told")
    over: bool


class ParameterNote(_AcceptanceNote, frozen=True, tag="parameter"):
    """A parameter as the device stated it; None: it did not answer. ``expected``: what was expected
    in place of a value that makes no sense.
    """

    parameter: str
    value: str | None
    expected: str | None = None


AnyNote = Began | Plate | AnswerNote | PhaseNote | Provoked | ParameterNote


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """The readings required of the device. ``values``: numbers or cards; ``parameters``: those that
    it is asked for.
    """

    kind: Literal["wheel", "shoe"]
    values: tuple[str, ...]
    phases: tuple[str, ...]
    faults: tuple[str, ...]
    parameters: tuple[str, ...] = ()


class RecordingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A recording of the acceptance, with counts of its bytes and frames."""

    file: str
    sha256: str
    bytes: int
    frames: int
    damaged: int


class AcceptanceCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the acceptance. ``what``: its basis, or what is missing."""

    name: str
    outcome: Outcome
    what: str


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """One acceptance. ``by``: name of the person who led it; ``person``: that person's id in the
    people file, if any; ``usb``: facts of the USB connection.
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
    recordings: tuple[RecordingSummary, ...]
    checks: tuple[AcceptanceCheck, ...]
    verdict: Verdict


class SignedProtocol(msgspec.Struct, frozen=True, kw_only=True):
    """The signed file. It contains the protocol in exactly the bytes that were signed."""

    format: str
    key: str
    """Public key, base64url."""
    signature: str
    """Ed25519 signature of the format, a line end and the protocol; base64url."""
    protocol: msgspec.Raw


def write_signed(protocol: Protocol, key: SigningKey) -> bytes:
    """Return the signed file of a protocol."""
    body = msgspec.json.encode(protocol)
    public, signature = sign_bytes(FORMAT, body, key)
    return msgspec.json.encode(
        SignedProtocol(format=FORMAT, key=public, signature=signature, protocol=msgspec.Raw(body))
    )


def read_signed(data: bytes) -> tuple[SignedProtocol, Protocol]:
    """Read a protocol and verify its signature. Raises :class:`ProtocolError`."""
    if len(data) > MAX_PROTOCOL_BYTES:
        raise ProtocolError(f"is not a protocol: longer than {MAX_PROTOCOL_BYTES} bytes")
    try:
        signed = msgspec.json.decode(data, type=SignedProtocol)
        body = bytes(signed.protocol)
        if signed.format != FORMAT:
            raise ProtocolError(f"has the format {signed.format[:64]!r}; this reads {FORMAT}")
        if not is_signed(FORMAT, body, signed.key, signed.signature):
            raise ProtocolError("is not as it was signed: the signature is wrong")
        return signed, msgspec.json.decode(body, type=Protocol)
    except (ValueError, TypeError, RecursionError) as error:
        raise ProtocolError(
            f"is not a protocol of an acceptance: {describe(error, Protocol)}"
        ) from None
