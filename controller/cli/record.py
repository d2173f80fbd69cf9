"""``novamas record``: records the raw bytes of a device, for writing a driver or showing a
fault.
"""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import msgspec
from rich.console import Console

from controller.cli import CommandLineError
from controller.cli.decode import driver_named, make_codec
from controller.cli.numbers import seconds
from controller.cli.speeds import Heard, at_speed, listened, speed_of, why_not
from controller.contract.version import SOFTWARE
from devices.codec import Codec, RequestingCodec, feed
from devices.command_line import has_terminal, stop_signals
from devices.links import Link, LinkFailedError, check_link, open_link
from devices.recording import ClockedWriter, RecordingWriter
from devices.watch import UNINTELLIGIBLE_ADVICE, UNINTELLIGIBLE_BYTES

LOOK = 0.25
"""Seconds between two checks of the signals and updates of the progress line."""
SOONEST = 0.005
"""Seconds for which the port is read at least, however soon something is due."""


class Tally(msgspec.Struct):
    """What was recorded so far."""

    bytes: int = 0
    chunks: int = 0


class Polls:
    """The harmless requests that some devices need before they send anything, and when each is
    due.
    """

    def __init__(self, codec: Codec | None, now: float) -> None:
        self._due = [(now, every, data) for every, data in codec.polls()] if codec else []
        self._codec = codec

    def due(self, now: float) -> list[bytes]:
        """The requests to send now. A request with an interval of 0 is sent once."""
        ready = [data for at, _, data in self._due if at <= now]
        later = [(now + every if at <= now else at, every, data) for at, every, data in self._due]
        self._due = [(at, every, data) for at, every, data in later if at > now]
        if isinstance(self._codec, RequestingCodec) and (request := self._codec.ask(now)):
            ready.append(request)
        return ready

    def take(self, data: bytes, now: float) -> None:
        """Give the driver what was read, or the silence at its deadline if it asks by itself."""
        if self._codec is not None and (data or isinstance(self._codec, RequestingCodec)):
            feed(self._codec, data, now)

    def wait(self, now: float) -> float:
        """Seconds until something may be due."""
        deadline = self._codec.deadline if isinstance(self._codec, RequestingCodec) else None
        return LOOK if deadline is None else min(LOOK, max(SOONEST, deadline - now))


def arguments(parser: argparse.ArgumentParser) -> None:
    """URL FILE."""
    parser.add_argument(
        "url",
        metavar="URL",
        help="address of the device: serial:///dev/serial/by-id/...?baud=9600, tcp://host:port ...",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the recording; must not exist yet")
    parser.add_argument(
        "--driver",
        help=(
            "a name or profile:FILE; also counts the frames it understands, and sends the "
            "requests that the device needs"
        ),
    )
    parser.add_argument(
        "--seconds", type=seconds, help="stop after this long (default: stop with Ctrl-C)"
    )
    parser.add_argument(
        "--note", default="", help="a note for the reader: model, firmware, what happened"
    )


def run(arguments: argparse.Namespace) -> int:
    """Record until stopped, or until the device is gone."""
    if wrong := check_link(arguments.url):
        raise CommandLineError(f"{arguments.url}: {wrong}")
    if arguments.file.exists():
        raise CommandLineError(f"{arguments.file} already exists; not overwritten")
    codec = make_codec(arguments.driver, "device", []) if arguments.driver else None
    tally = Tally()
    attended = has_terminal()
    try:
        link = open_link(arguments.url)
        try:
            writer = RecordingWriter(arguments.file, _header(arguments, link), "raw")
            try:
                with _ending() as ended:
                    _record(link, ClockedWriter(writer), codec, tally, ended, arguments.seconds)
            finally:
                writer.close()
        finally:
            link.close()
    except LinkFailedError as error:
        raise CommandLineError(f"{error}{_kept(tally, codec)}") from error
    except OSError as error:
        if attended and not has_terminal():  # what failed is the picture on it
            return 0
        if not tally.chunks:
            arguments.file.unlink(missing_ok=True)  # nothing but a part of its header
        raise CommandLineError(
            f"{arguments.file}: {error.strerror or error}{_kept(tally, codec)}"
        ) from error
    if attended and not has_terminal():
        return 0
    print(f"{arguments.file}: {_counts(tally, codec)}", file=sys.stderr)
    if arguments.driver and (
        why := (known := driver_named(arguments.driver)).blind(known.options())
    ):
        print(f"novamas: {arguments.driver}: {why}", file=sys.stderr)
    if not tally.bytes:
        raise CommandLineError(
            f"{arguments.url}: no bytes were received; check power, cable and speed of the device"
        )
    if codec is not None and not codec.counters.frames and _is_much(tally, codec):
        raise CommandLineError(_not_understood(arguments, tally, codec))
    return 0


def _is_much(tally: Tally, codec: Codec) -> bool:
    """Whether there would be a frame if it were the right speed."""
    return codec.counters.damaged > 0 or tally.bytes >= UNINTELLIGIBLE_BYTES


def _not_understood(arguments: argparse.Namespace, tally: Tally, codec: Codec) -> str:
    """What to say where nothing was understood; tries other speeds."""
    what = f"{arguments.url}: {tally.bytes} {UNINTELLIGIBLE_ADVICE}"
    if reason := why_not(arguments.url, codec):
        return f"{what} (no other speed is tried: {reason})"
    print(
        f"{tally.bytes} {UNINTELLIGIBLE_ADVICE}. "
        "Other speeds are tried; nothing is sent; Ctrl-C stops it",
        file=sys.stderr,
    )
    usual = speed_of(f"serial:///?{driver_named(arguments.driver).line}")
    found: list[Heard] = []
    with _ending() as ended:
        for heard in listened(
            arguments.url, lambda: make_codec(arguments.driver, "device", []), [usual], ended
        ):
            print(f"  {heard}", file=sys.stderr, flush=True)
            found.append(heard)
            if heard.fits:
                break
    best = next((heard for heard in found if heard.fits), None)
    if best is not None:
        again = at_speed(arguments.url, best.baud)
        return f"{what}; {best}: record again with {again}"
    if not any(heard.bytes for heard in found):
        return f"{what}; nothing came at other speeds: make the device send meanwhile"
    return f"{what}; no usual speed gives frames: check the driver, parity and the wiring"


def _record(
    link: Link,
    writer: ClockedWriter,
    codec: Codec | None,
    tally: Tally,
    ended: list[int],
    seconds: float | None,
) -> None:
    with Console(stderr=True).status("recording; stop with Ctrl-C") as status:
        begin = time.monotonic()
        polls = Polls(codec, begin)
        while not ended:
            now = time.monotonic()
            if seconds is not None and now - begin >= seconds:
                return
            for request in polls.due(now):
                link.write(request)
                writer.write(time.monotonic(), time.time(), request, sent=True)
            data = link.read(polls.wait(now))
            if data:
                writer.write(time.monotonic(), time.time(), data)
                tally.bytes += len(data)
                tally.chunks += 1
            polls.take(data, time.monotonic())
            status.update(f"recording; stop with Ctrl-C: {_counts(tally, codec)}")


def _header(arguments: argparse.Namespace, link: Link) -> dict[str, str]:
    known = driver_named(arguments.driver) if arguments.driver else None
    return {
        "device": known.title if known else "unknown",
        "driver": known.name if known else "unknown",
        "link": arguments.url,
        **{f"link-{key}": value for key, value in link.describe().items()},
        "host": socket.gethostname(),
        "writer": SOFTWARE,
        **({"note": arguments.note} if arguments.note else {}),
    }


def _counts(tally: Tally, codec: Codec | None) -> str:
    counts = f"{tally.bytes} bytes in {tally.chunks} chunks"
    return (
        f"{counts}, {codec.counters.frames} frames, {codec.counters.damaged} damaged"
        if codec
        else counts
    )


def _kept(tally: Tally, codec: Codec | None) -> str:
    return f"; recorded until then: {_counts(tally, codec)}" if tally.bytes else ""


@contextmanager
def _ending() -> Iterator[list[int]]:
    """Make Ctrl-C, SIGTERM and a closed terminal end the recording between two reads, so that the
    file is complete.
    """
    ended: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        ended.append(number)

    before = {number: signal.signal(number, end) for number in stop_signals()}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
