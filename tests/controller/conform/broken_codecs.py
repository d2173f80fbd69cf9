"""Codecs with one mistake each, around a correct one, and the requirement that each violates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from msgspec.structs import replace

from common.readings import (
    AnyReading,
    CardDrawn,
    LinkGarbage,
    MaybeLate,
)
from devices.codec import DAMAGE_SUBSTITUTE, Codec
from devices.drivers import driver


def make(name: str) -> Codec:
    found = driver(name)
    return found.make("device", found.options())


class Around:
    """A correct codec of a Bee-Tek shoe, to be changed."""

    name = "bee-tek"

    def __init__(self) -> None:
        self.inner: Any = make(self.name)
        self.counters = self.inner.counters
        self.steady = self.inner.steady
        self.proof = self.inner.proof

    @property
    def deadline(self) -> float | None:
        due: float | None = self.inner.deadline
        return due

    @property
    def opening(self) -> float | None:
        seconds: float | None = self.inner.opening
        return seconds

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        readings: list[AnyReading] = self.inner.feed(data, now)
        return readings

    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:
        readings: list[AnyReading] = self.inner.damaged(byte, now)
        return readings

    def reconnected(self, now: float) -> None:
        self.inner.reconnected(now)

    def kept(self, now: float) -> None:
        self.inner.kept(now)

    def delayed(self, since: float, now: float) -> None:
        self.inner.delayed(since, now)

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        return ()

    def encode(self, command: str, argument: str = "") -> bytes:
        raise ValueError(f"{command} {argument}")


class DropsAPartialLine(Around):
    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        readings = super().feed(data, now)
        self.inner.reconnected(now)
        return readings


class SwapsSuits(Around):
    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        return [
            replace(each, card=each.card.translate(str.maketrans("hs", "sh")))
            if isinstance(each, CardDrawn) and each.card is not None
            else each
            for each in super().feed(data, now)
        ]


class RaisesOnGarbage(Around):
    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        readings = super().feed(data, now)
        if any(isinstance(each, LinkGarbage) for each in readings):
            raise ValueError("not a line of a shoe")
        return readings


class KeepsAllBytes(Around):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[bytes] = []

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        self.log.append(bytes(data))
        return super().feed(data, now)


class TakesJunkForACard(Around):
    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        return [
            CardDrawn(at=now, device="device", frame=each.frame, card="As")
            if isinstance(each, LinkGarbage)
            else each
            for each in super().feed(data, now)
        ]


class EndsAtGarbage(Around):
    def __init__(self) -> None:
        super().__init__()
        self.ended = False

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        readings: list[AnyReading] = []
        for byte in data:
            if not self.ended:
                readings += super().feed(bytes((byte,)), now)
                self.ended = any(isinstance(each, LinkGarbage) for each in readings)
        return readings or super().feed(b"", now)


class CompletesAFrame(Around):
    def __init__(self) -> None:
        super().__init__()
        self.left: list[AnyReading] = []

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        left, self.left = self.left, []
        return left + super().feed(data, now)

    def reconnected(self, now: float) -> None:
        self.left = super().feed(b"S>\r\n", now)


class ReadsADamagedByte(Around):
    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:
        return super().feed(byte, now)


class TakesABacklogForLive(Around):
    opening = 0.0

    def kept(self, now: float) -> None:
        pass

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        return [
            replace(each, late=False) if isinstance(each, MaybeLate) else each
            for each in super().feed(data, now)
        ]


class IsAlwaysLate(Around):
    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        return [
            replace(each, late=True) if isinstance(each, MaybeLate) else each
            for each in super().feed(data, now)
        ]


class CountsNoise(Around):
    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        self.counters.frames += data.count(b"\x80")
        return super().feed(data, now)


class KeepsAPartialLine(Around):
    def reconnected(self, now: float) -> None:
        pass


class ForgetsTheSpin(Around):
    name = "cammegh-ss2"

    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:
        return self.feed(DAMAGE_SUBSTITUTE * len(byte), now)

    def reconnected(self, now: float) -> None:
        super().reconnected(now)
        self.inner = make(self.name)
        self.inner.counters = self.counters


class SharesItsState(Around):
    latest: ClassVar[list[tuple[float, int]]] = [(0.0, 0)]

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        at, owner = self.latest[0]
        self.latest[0] = now, id(self)
        readings = super().feed(data, now)
        return [] if data and at == now and owner != id(self) else readings


class HasNoEvidence(Around):
    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        return [
            replace(each, frame=None) if isinstance(each, CardDrawn) else each
            for each in super().feed(data, now)
        ]


class LooksAtItsOwnClock(Around):
    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        return [
            replace(each, at=each.at + 3600.0) if isinstance(each, CardDrawn) else each
            for each in super().feed(data, now)
        ]


class IsAlwaysDue(Around):
    deadline = 0.0


class TakesAnyCommand(Around):
    def encode(self, command: str, argument: str = "") -> bytes:
        return f"{command} {argument}".encode()


class BrokenCodec(NamedTuple):
    """``id``: the requirement that it violates; ``follows``: others that fail with it."""

    make: Callable[[], Around]
    id: str
    follows: frozenset[str] = frozenset()


GOLDEN = frozenset({"DRV-GOLDEN"})
BROKEN = (
    BrokenCodec(DropsAPartialLine, "DRV-SPLIT"),
    BrokenCodec(SwapsSuits, "DRV-GOLDEN"),
    BrokenCodec(RaisesOnGarbage, "DRV-GARBAGE"),
    BrokenCodec(KeepsAllBytes, "DRV-BOUNDED"),
    BrokenCodec(TakesJunkForACard, "DRV-JUNK", frozenset({"DRV-TRUNCATED", "DRV-DAMAGED"})),
    BrokenCodec(EndsAtGarbage, "DRV-RECOVER"),
    BrokenCodec(CompletesAFrame, "DRV-TRUNCATED"),
    BrokenCodec(ReadsADamagedByte, "DRV-DAMAGED"),
    BrokenCodec(TakesABacklogForLive, "DRV-LATE"),
    BrokenCodec(IsAlwaysLate, "DRV-LIVE", GOLDEN),
    BrokenCodec(CountsNoise, "DRV-SILENCE"),
    BrokenCodec(KeepsAPartialLine, "DRV-RESET"),
    BrokenCodec(ForgetsTheSpin, "DRV-ONCE", frozenset({"DRV-GOLDEN", "DRV-TRUNCATED"})),
    BrokenCodec(SharesItsState, "DRV-PURE", frozenset({"DRV-SPLIT"})),
    BrokenCodec(HasNoEvidence, "DRV-EVIDENCE", GOLDEN),
    BrokenCodec(LooksAtItsOwnClock, "DRV-EVIDENCE", GOLDEN),
    BrokenCodec(IsAlwaysDue, "DRV-DEADLINE", frozenset({"DRV-SILENCE"})),
    BrokenCodec(TakesAnyCommand, "DRV-COMMANDS"),
)
