"""``replay:///path/of/a.rec?speed=1``: plays a recording as if the device were connected.

The device's bytes arrive at the recorded pace; with ``speed=0``, as fast as they are read. Writes
are discarded. At the end the link fails; a device that reopens it starts the recording again.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from common import clock
from devices.links.link import Address, Link, LinkFailedError, parse_options
from devices.loop_watch import running_seconds
from devices.recording import Recording, RecordingError, read_recording


class ReplaySettings(msgspec.Struct, frozen=True):
    """Options of an address. ``speed``: recorded seconds per second; 0: do not wait."""

    speed: Annotated[float, msgspec.Meta(ge=0, le=1_000_000)] = 1.0


def check(address: Address) -> None:
    """Raise ``ValueError`` if the address is invalid."""
    if address.host or not address.path.strip("/"):
        raise ValueError(
            "give the full path of the recording, with three slashes: replay:///var/lib/..."
        )
    parse_options(address, ReplaySettings)


def connect(address: Address) -> Link:
    """Load the recording. Raises :class:`LinkFailedError`."""
    try:
        return ReplayLink(
            address.path, read_recording(address.path), parse_options(address, ReplaySettings).speed
        )
    except RecordingError as error:
        raise LinkFailedError(str(error)) from error


class ReplayLink:
    """A recording that starts playing when it is opened."""

    def __init__(self, path: str, recording: Recording, speed: float) -> None:
        self._facts = {
            "recording": path,
            **({"device": recording.header["device"]} if "device" in recording.header else {}),
        }
        self._chunks = [chunk for chunk in recording if not chunk.sent]
        self._next = 0
        self._speed = speed
        self._first = self._chunks[0].at if self._chunks else 0.0
        self._opened = clock.monotonic()
        self.silent_at = running_seconds()
        self.poll_seconds = 0.0
        """See :class:`devices.links.link.SilenceAware`."""

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.link.Link`."""
        if self._next == len(self._chunks):
            raise LinkFailedError("the recording has ended")
        chunk = self._chunks[self._next]
        if self._speed:
            wait = self._opened + (chunk.at - self._first) / self._speed - clock.monotonic()
            if wait > timeout:
                self.silent_at = running_seconds()
                clock.block(timeout)
                return b""
            self.silent_at = running_seconds() + wait
            clock.block(max(wait, 0.0))
        else:
            self.silent_at = running_seconds()
        self._next += 1
        return chunk.data

    def write(self, data: bytes) -> None:
        """See :class:`devices.links.link.Link`."""

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return dict(self._facts)
