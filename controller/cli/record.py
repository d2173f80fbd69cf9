"""``novamas record``: a device's bytes as they come, for a driver to be written or a fault to be
shown.
"""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import FrameType

import msgspec
from rich.console import Console

from controller.cli import CommandLineError
from controller.cli.decode import make_codec, named
from controller.cli.numbers import seconds
from devices.codec import Codec
from devices.links import Link, LinkFailedError, check_link, open_link
from devices.recording import RecordingWriter

HELP = "record the bytes of a device to a file"
LOOK = 0.25
"""Seconds between two looks at the signals and the progress line."""


class Tally(msgspec.Struct):
    """What was recorded so far."""

    bytes: int = 0
    chunks: int = 0


class Polls:
    """The harmless requests a device needs to speak at all, and when the next is due."""

    def __init__(self, codec: Codec | None, now: float) -> None:
        self._due = [(now, every, data) for every, data in codec.polls()] if codec else []

    def due(self, now: float) -> list[bytes]:
        """What to send now. One with an interval of 0 is sent once."""
        ready = [data for at, _, data in self._due if at <= now]
        later = [(now + every if at <= now else at, every, data) for at, every, data in self._due]
        self._due = [(at, every, data) for at, every, data in later if at > now]
        return ready


def arguments(parser: argparse.ArgumentParser) -> None:
    """URL FILE."""
    parser.add_argument(
        "url",
        metavar="URL",
        help="where the device is: serial:///dev/serial/by-id/...?baud=9600, tcp://host:port ...",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the recording; must not exist yet")
    parser.add_argument(
        "--driver",
        help=(
            "a name, or profile:FILE: also count the frames it understands, and send the "
            "requests that the device needs"
        ),
    )
    parser.add_argument(
        "--seconds", type=seconds, help="end after so long (default: Ctrl-C ends it)"
    )
    parser.add_argument(
        "--note", default="", help="what a reader should know: model, firmware, what happened"
    )


def run(arguments: argparse.Namespace) -> int:
    """Record until told to end, or until the device is gone."""
    if wrong := check_link(arguments.url):
        raise CommandLineError(f"{arguments.url}: {wrong}")
    if arguments.file.exists():
        raise CommandLineError(
            f"{arguments.file}: exists already, and a recording is never overwritten"
        )
    codec = make_codec(arguments.driver, "device", []) if arguments.driver else None
    tally = Tally()
    try:
        link = open_link(arguments.url)
        try:
            writer = RecordingWriter(arguments.file, _header(arguments, link), "raw")
            try:
                with _ending() as ended:
                    _record(link, writer, codec, tally, ended, arguments.seconds)
            finally:
                writer.close()
        finally:
            link.close()
    except LinkFailedError as error:
        raise CommandLineError(f"{error}{_kept(tally, codec)}") from error
    except OSError as error:
        raise CommandLineError(
            f"{arguments.file}: {error.strerror or error}{_kept(tally, codec)}"
        ) from error
    print(f"{arguments.file}: {_told(tally, codec)}", file=sys.stderr)
    if not tally.bytes:
        raise CommandLineError(
            f"{arguments.url}: not one byte came; is the device on, and are cable and speed right?"
        )
    return 0


def _record(
    link: Link,
    writer: RecordingWriter,
    codec: Codec | None,
    tally: Tally,
    ended: list[int],
    seconds: float | None,
) -> None:
    begin = time.monotonic()
    polls = Polls(codec, begin)
    with Console(stderr=True).status("recording, Ctrl-C ends it") as status:
        while not ended:
            now = time.monotonic()
            if seconds is not None and now - begin >= seconds:
                return
            for request in polls.due(now):
                link.write(request)
                writer.write(time.time(), request, sent=True)
            data = link.read(LOOK)
            if data:
                writer.write(time.time(), data)
                tally.bytes += len(data)
                tally.chunks += 1
                if codec is not None:
                    codec.feed(data, time.monotonic())
            status.update(f"recording, Ctrl-C ends it: {_told(tally, codec)}")


def _header(arguments: argparse.Namespace, link: Link) -> dict[str, str]:
    known = named(arguments.driver) if arguments.driver else None
    return {
        "device": known.title if known else "unknown",
        "driver": known.name if known else "unknown",
        "link": arguments.url,
        **{f"link-{key}": value for key, value in link.describe().items()},
        "host": socket.gethostname(),
        "writer": f"novamas {version('novamas')}",
        **({"note": arguments.note} if arguments.note else {}),
    }


def _told(tally: Tally, codec: Codec | None) -> str:
    told = f"{tally.bytes} bytes in {tally.chunks} chunks"
    return (
        f"{told}, {codec.counters.frames} frames, {codec.counters.damaged} damaged"
        if codec
        else told
    )


def _kept(tally: Tally, codec: Codec | None) -> str:
    return f"; recorded until then: {_told(tally, codec)}" if tally.bytes else ""


@contextmanager
def _ending() -> Iterator[list[int]]:
    """Ctrl-C and a termination end the recording between two reads, so that the file is whole."""
    ended: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        ended.append(number)

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
