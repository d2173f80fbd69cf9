"""Listens to a device at the usual speeds, if at its own nothing of it is understood. Nothing is
sent to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import parse_qsl, urlsplit

import msgspec

from devices.codec import Codec, RequestingCodec, feed
from devices.links import LinkFailedError, open_link

USUAL = (9600, 19200, 115200, 4800, 38400, 57600, 2400, 1200)
"""Baud, the most usual first."""
LISTEN = 3.0
"""Seconds at each speed: a device that repeats itself does so twice a second, or once."""
ENOUGH = 5
"""Frames after which a speed is left."""
LOOK = 0.1
"""Seconds of one read."""
SCHEMES = ("serial", "rfc2217")
"""The links whose speed we set."""


class Heard(msgspec.Struct, frozen=True):
    """What came at a speed."""

    baud: int
    bytes: int
    frames: int
    damaged: int
    damaged_since: int = 0
    """Of the damaged frames, those after the first valid one. What came before it may be the end of
    a frame that began before we listened, or bytes that the device sent at the speed of before.
    """
    failed: str = ""
    """Why the link could not be read."""

    @property
    def fits(self) -> bool:
        """Whether it is most likely the right one."""
        enough = self.frames >= ENOUGH and self.frames > self.damaged_since
        return enough or self.frames > self.damaged

    def __str__(self) -> str:
        if self.failed:
            return f"{self.baud} baud: {self.failed}"
        if not self.bytes:
            return f"{self.baud} baud: nothing came"
        return f"{self.baud} baud: {self.frames} of {self.frames + self.damaged} frames"


def why_not(url: str, codec: Codec) -> str | None:
    """Why no other speed is tried. None: they can be."""
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        return "the device server sets the speed" if scheme == "tcp" else "the link has no speed"
    if isinstance(codec, RequestingCodec) or any(every > 0 for every, _ in codec.polls()):
        return (
            "the device speaks only when it is asked, and nothing is sent to it at a speed that "
            "may be wrong"
        )
    return None


def at_speed(url: str, baud: int) -> str:
    """The same address with another speed."""
    begin, _, query = url.partition("?")
    others = [each for each in query.split("&") if each and not each.startswith("baud=")]
    return f"{begin}?{'&'.join([f'baud={baud}', *others])}"


def speed_of(url: str) -> int:
    """The speed of an address."""
    return int(dict(parse_qsl(urlsplit(url).query)).get("baud", USUAL[0]))


def listened(
    url: str, make: Callable[[], Codec], usual: Sequence[int], ended: Sequence[int]
) -> Iterator[Heard]:
    """What comes at each other speed, those of ``usual`` first, until ``ended`` has something."""
    for baud in dict.fromkeys((*usual, *USUAL)):
        if ended:
            return
        if baud != speed_of(url):
            yield _listened_at(at_speed(url, baud), baud, make(), ended)


def _listened_at(url: str, baud: int, codec: Codec, ended: Sequence[int]) -> Heard:
    size, until, failed, before = 0, time.monotonic() + LISTEN, "", 0
    counters = codec.counters
    try:
        link = open_link(url)
        try:
            while not ended and (now := time.monotonic()) < until and counters.frames < ENOUGH:
                data = link.read(min(LOOK, until - now))
                size += len(data)
                for byte in data:  # one by one: the verdict must not depend on the size of a read
                    feed(codec, bytes([byte]), time.monotonic())
                    if not counters.frames:
                        before = counters.damaged
                    if counters.frames == ENOUGH:
                        break
        finally:
            link.close()
    except LinkFailedError as error:
        failed = str(error)
    return Heard(baud, size, counters.frames, counters.damaged, counters.damaged - before, failed)
