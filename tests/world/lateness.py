"""A late reading is never live: what gives a result was read within seconds of its arrival."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from common.chain.schema import Entry
from common.readings import unescape
from devices.codec import MAX_LIVE_DELAY_SECONDS
from tests.world.bodies import decoded
from tests.world.checkers import Immediate, require
from tests.world.device import Device, Sent

RECENT_PIECES = 50


class Prompt(Immediate):
    """The frame that decided a live result was read within :data:`MAX_LIVE_DELAY_SECONDS` of its
    arrival at the port, whatever the device. ``ports``: the devices by the ids of table and device;
    ``owners``: the machines that read them.
    """

    def __init__(self, ports: Mapping[tuple[str, str], Device], owners: Sequence[str]) -> None:
        self._ports, self._owners = ports, owners

    def on_stored(self, entries: list[Entry], owner: str) -> None:
        """See :class:`Checker`."""
        for entry in entries if owner in self._owners else ():
            if entry.kind == "event" and b'"frames":' in entry.body:
                body = decoded(entry.body)
                is_live = body["type"] == "round.result" and not body.get("confirmed_by")
                if is_live and body["frames"]:  # a card that may be face down is never evidence
                    self._check(entry.table, body["frames"][-1], body)

    def _check(self, table: str, frame: dict[str, Any], body: dict[str, Any]) -> None:
        port = self._ports.get((table, frame.get("device", "")))
        if port is None:
            return
        line = unescape(frame["frame"]).split(b"\r\n")[-1]  # two that agree need not be adjacent
        # most frames are among the last pieces that were read
        waited = least_wait(list(port.read)[-RECENT_PIECES:], line)
        if waited is None or waited > MAX_LIVE_DELAY_SECONDS:
            waited = least_wait(port.read, line)
        require(waited is not None, "a frame that was not read", frame, body)
        assert waited is not None
        require(waited <= MAX_LIVE_DELAY_SECONDS, "a late frame in a result", waited, frame, body)


def least_wait(read: Iterable[Sent], frame: bytes) -> float | None:
    """Return for how long the frame waited to be read: the least of all the times that it was sent.
    None if it was not read.
    """
    pieces = list(read)
    stream = b"".join(piece.data for piece in pieces)
    waits = []
    at = stream.find(frame)
    while at >= 0:
        waits.append(_longest(pieces, at, at + len(frame)))
        at = stream.find(frame, at + 1)
    return min(waits, default=None)


def _longest(pieces: list[Sent], first: int, end: int) -> float:
    """Return for how long the slowest byte of a range waited."""
    longest, at = 0.0, 0
    for piece in pieces:
        if at < end and at + len(piece.data) > first:
            longest = max(longest, piece.waited)
        at += len(piece.data)
    return longest
