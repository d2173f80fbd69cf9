"""Listens to a device, at any of the usual speeds. Nothing is sent to it.

Whether one known driver understands it is judged here, for ``novamas record``: damaged frames
before the first valid one do not count. Which of all drivers understands it is judged by
``devices.identification``, where they do: to a wrong driver, a valid frame may come by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from urllib.parse import parse_qsl, urlsplit

import msgspec

from common import clock
from devices.codec import Codec, RequestingCodec, feed
from devices.links import LinkFailedError, open_link

USUAL_SPEEDS = (9600, 19200, 115200, 4800, 38400, 57600, 2400, 1200)
"""Baud rates, the most common first."""
LISTEN_SECONDS = 3.0
"""Seconds at each speed: devices that send periodically do so once or twice a second."""
ENOUGH_FRAMES = 5
"""Frames after which a speed is accepted."""
READ_SECONDS = 0.1
"""Maximum seconds of one read."""
SCHEMES = ("serial", "rfc2217")
"""Link schemes whose speed this side sets."""


class SpeedResult(msgspec.Struct, frozen=True):
    """Result of listening at one speed."""

    baud: int
    bytes: int
    frames: int
    damaged: int
    damaged_since: int = 0
    """Damaged frames after the first valid one. Earlier ones may be the end of a frame that began
    before, or bytes that were sent at the previous speed.
    """
    failed: str = ""
    """Why the link could not be read."""

    @property
    def fits(self) -> bool:
        """True if this is probably the right speed."""
        enough = self.frames >= ENOUGH_FRAMES and self.frames > self.damaged_since
        return enough or self.frames > self.damaged

    def __str__(self) -> str:
        if self.failed:
            return f"{self.baud} baud: {self.failed}"
        if not self.bytes:
            return f"{self.baud} baud: no bytes"
        return f"{self.baud} baud: {self.frames} of {self.frames + self.damaged} frames"


def why_not(url: str, codec: Codec) -> str | None:
    """Return why other speeds cannot be tried, or None."""
    scheme = urlsplit(url).scheme
    if scheme not in SCHEMES:
        return "the device server sets the speed" if scheme == "tcp" else "the link has no speed"
    if isinstance(codec, RequestingCodec) or any(every > 0 for every, _ in codec.polls()):
        return (
            "the device sends only when requested, and nothing is sent to it at a speed that "
            "may be wrong"
        )
    return None


def at_speed(url: str, baud: int) -> str:
    """Return the address with another speed."""
    target, _, query = url.partition("?")
    others = [part for part in query.split("&") if part and not part.startswith("baud=")]
    return f"{target}?{'&'.join([f'baud={baud}', *others])}"


def speed_of(url: str) -> int:
    """Return the speed of an address."""
    return int(dict(parse_qsl(urlsplit(url).query)).get("baud", USUAL_SPEEDS[0]))


def listen_at_speeds(
    url: str, make: Callable[[], Codec], preferred: Sequence[int], stop_signals: Sequence[int]
) -> Iterator[SpeedResult]:
    """Listen at each other speed, those of ``preferred`` first, until ``stop_signals`` is not
    empty.
    """
    for baud in dict.fromkeys((*preferred, *USUAL_SPEEDS)):
        if stop_signals:
            return
        if baud != speed_of(url):
            yield _listen(at_speed(url, baud), baud, make(), stop_signals)


def listen_to(
    url: str,
    until: float,
    stop_signals: Sequence[int],
    on_data: Callable[[bytes, float], bool],
) -> None:
    """Pass what a device sends to ``on_data``, with the time (monotonic clock, seconds), until that
    returns True, until the time ``until``, or until ``stop_signals`` is not empty. ``on_data`` is
    called after each read, also with no bytes. Raises ``LinkFailedError``.
    """
    link = open_link(url)
    try:
        while not stop_signals and (now := clock.monotonic()) < until:
            data = link.read(min(READ_SECONDS, until - now))
            if on_data(data, clock.monotonic()):
                return
    finally:
        link.close()


def _listen(url: str, baud: int, codec: Codec, stop_signals: Sequence[int]) -> SpeedResult:
    size, failed, damaged_before = 0, "", 0
    counters = codec.counters

    def on_data(data: bytes, now: float) -> bool:
        nonlocal size, damaged_before
        size += len(data)
        for byte in data:  # byte by byte, so that the result is independent of read sizes
            feed(codec, bytes([byte]), now)
            if not counters.frames:
                damaged_before = counters.damaged
            if counters.frames == ENOUGH_FRAMES:
                return True
        return False

    try:
        listen_to(url, clock.monotonic() + LISTEN_SECONDS, stop_signals, on_data)
    except LinkFailedError as error:
        failed = str(error)
    return SpeedResult(
        baud, size, counters.frames, counters.damaged, counters.damaged - damaged_before, failed
    )
