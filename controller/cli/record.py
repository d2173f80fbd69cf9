"""``novamas record``: records the raw bytes of a device, for writing a driver or reporting a
fault.
"""

from __future__ import annotations

import argparse
import socket
import sys
from pathlib import Path

import msgspec
from rich.console import Console

from common import clock
from common.command_line import has_terminal
from common.contract.messages.messages import ENGLISH, LANGUAGES, text
from common.contract.version import SOFTWARE
from common.own_language import add_language
from controller.cli import CommandLineError
from controller.cli.decode import driver_named, make_codec
from controller.cli.identify import candidates, describe, ending_by_signal
from controller.cli.numbers import seconds
from controller.cli.speeds import SpeedResult, at_speed, listen_at_speeds, speed_of, why_not
from devices.codec import Codec, RequestingCodec, feed
from devices.identification import Identification
from devices.links import Link, LinkFailedError, check_link, open_link
from devices.recording_writer import ClockedWriter, RecordingWriter
from devices.watch import UNINTELLIGIBLE_ADVICE, UNINTELLIGIBLE_BYTES

CHECK_INTERVAL_SECONDS = 0.25
"""Seconds between two checks of the signals and updates of the progress line."""
MIN_READ_SECONDS = 0.005
"""Minimum seconds of one read, however soon a request is due."""


class RecordingCounters(msgspec.Struct):
    """Counters of a recording."""

    bytes: int = 0
    chunks: int = 0


class Polls:
    """Schedule of the harmless requests that some devices need before they send anything."""

    def __init__(self, codec: Codec | None, now: float) -> None:
        self._schedule = [(now, every, data) for every, data in codec.polls()] if codec else []
        self._codec = codec

    def due(self, now: float) -> list[bytes]:
        """Return the requests to send now. A request with an interval of 0 is sent once."""
        ready = [data for at, _, data in self._schedule if at <= now]
        rescheduled = [
            (now + every if at <= now else at, every, data) for at, every, data in self._schedule
        ]
        self._schedule = [(at, every, data) for at, every, data in rescheduled if at > now]
        if isinstance(self._codec, RequestingCodec) and (request := self._codec.ask(now)):
            ready.append(request)
        return ready

    def feed(self, data: bytes, now: float) -> None:
        """Pass received bytes to the driver, or the silence if the driver times its requests."""
        if self._codec is not None and (data or isinstance(self._codec, RequestingCodec)):
            feed(self._codec, data, now)

    def wait(self, now: float) -> float:
        """Return the seconds until a request may be due."""
        deadline = self._codec.deadline if isinstance(self._codec, RequestingCodec) else None
        return (
            CHECK_INTERVAL_SECONDS
            if deadline is None
            else min(CHECK_INTERVAL_SECONDS, max(MIN_READ_SECONDS, deadline - now))
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    """URL FILE."""
    parser.add_argument(
        "url",
        metavar="URL",
        help="address of the device: serial:///dev/serial/by-id/...?baud=9600, tcp://host:port ...",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the recording; must not exist yet")
    add_language(parser, LANGUAGES)
    parser.add_argument(
        "--driver",
        help=(
            "a name or profile:FILE; also counts the frames it understands, and sends the "
            "requests that the device requires"
        ),
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the driver, as for `novamas decode`; may be repeated",
    )
    parser.add_argument(
        "--seconds", type=seconds, help="stop after this long (default: stop with Ctrl-C)"
    )
    parser.add_argument(
        "--note", default="", help="a note for the reader: model, firmware, what happened"
    )


def run(arguments: argparse.Namespace) -> int:
    """Record until stopped, or until the device disconnects."""
    if wrong := check_link(arguments.url):
        raise CommandLineError(f"{arguments.url}: {wrong}")
    if arguments.file.exists():
        raise CommandLineError(f"{arguments.file} already exists; not overwritten")
    if arguments.option and not arguments.driver:
        raise CommandLineError("--option needs --driver")
    codec = make_codec(arguments.driver, "device", arguments.option) if arguments.driver else None
    identification = None if codec else Identification(candidates(arguments.url))
    tally = RecordingCounters()
    on_terminal = has_terminal()
    try:
        link = open_link(arguments.url)
        try:
            writer = RecordingWriter(arguments.file, _header(arguments, link), "raw")
            try:
                with ending_by_signal() as ended:
                    _record(
                        link,
                        ClockedWriter(writer),
                        codec or identification,
                        tally,
                        ended,
                        arguments.seconds,
                    )
            finally:
                writer.close()
        finally:
            link.close()
    except LinkFailedError as error:
        raise CommandLineError(f"{error}{_recorded_so_far(tally, codec)}") from error
    except OSError as error:
        if on_terminal and not has_terminal():  # the progress line could not be written
            return 0
        if not tally.chunks:
            arguments.file.unlink(missing_ok=True)  # it has a part of the header only
        raise CommandLineError(
            f"{arguments.file}: {error.strerror or error}{_recorded_so_far(tally, codec)}"
        ) from error
    if on_terminal and not has_terminal():
        return 0
    language = arguments.language
    print(f"{arguments.file}: {_counts(tally, codec, language)}", file=sys.stderr)
    if identification is not None and (match := identification.match) is not None:
        device = describe(match, language)
        print(text("terminal.understood", language, device=device), file=sys.stderr)
    if arguments.driver and (
        reason := (described := driver_named(arguments.driver)).blind(described.options())
    ):
        print(f"novamas: {arguments.driver}: {reason}", file=sys.stderr)
    if not tally.bytes:
        raise CommandLineError(text("terminal.recording_silent", language, link=arguments.url))
    if codec is not None and not codec.counters.frames and _should_have_frames(tally, codec):
        raise CommandLineError(_diagnose(arguments, tally, codec))
    return 0


def _should_have_frames(tally: RecordingCounters, codec: Codec) -> bool:
    """True if a frame would have been received at the right speed."""
    return codec.counters.damaged > 0 or tally.bytes >= UNINTELLIGIBLE_BYTES


def _diagnose(arguments: argparse.Namespace, tally: RecordingCounters, codec: Codec) -> str:
    """Try other speeds, and return the error message."""
    warning = f"{arguments.url}: {tally.bytes} {UNINTELLIGIBLE_ADVICE}"
    if reason := why_not(arguments.url, codec):
        return f"{warning} (no other speed is tried: {reason})"
    print(
        f"{tally.bytes} {UNINTELLIGIBLE_ADVICE}. "
        "Other speeds are tried; nothing is sent; Ctrl-C stops it",
        file=sys.stderr,
    )
    driver_speed = speed_of(f"serial:///?{driver_named(arguments.driver).line}")
    results: list[SpeedResult] = []
    with ending_by_signal() as ended:
        for result in listen_at_speeds(
            arguments.url, lambda: make_codec(arguments.driver, "device", []), [driver_speed], ended
        ):
            print(f"  {result}", file=sys.stderr, flush=True)
            results.append(result)
            if result.fits:
                break
    best = next((result for result in results if result.fits), None)
    if best is not None:
        url = at_speed(arguments.url, best.baud)
        return f"{warning}; {best}: record again with {url}"
    if not any(result.bytes for result in results):
        return f"{warning}; no bytes at other speeds: make the device send meanwhile"
    return f"{warning}; no frames at any usual speed: check the driver, parity and the wiring"


def _record(
    link: Link,
    writer: ClockedWriter,
    listener: Codec | Identification | None,
    tally: RecordingCounters,
    signals: list[int],
    seconds: float | None,
) -> None:
    with Console(stderr=True).status("recording; stop with Ctrl-C") as status:
        begin = clock.monotonic()
        codec = None if isinstance(listener, Identification) else listener
        polls = Polls(codec, begin)
        while not signals:
            now = clock.monotonic()
            if seconds is not None and now - begin >= seconds:
                return
            for request in polls.due(now):
                link.write(request)
                writer.write(clock.monotonic(), clock.wall(), request, sent=True)
            data = link.read(polls.wait(now))
            if data:
                writer.write(clock.monotonic(), clock.wall(), data)
                tally.bytes += len(data)
                tally.chunks += 1
            polls.feed(data, clock.monotonic())
            if isinstance(listener, Identification):
                listener.feed(data, clock.monotonic())
            status.update(f"recording; stop with Ctrl-C: {_counts(tally, codec)}")


def _header(arguments: argparse.Namespace, link: Link) -> dict[str, str]:
    driver = driver_named(arguments.driver) if arguments.driver else None
    return {
        "device": driver.title if driver else "unknown",
        "driver": driver.name if driver else "unknown",
        **({"options": ", ".join(arguments.option)} if arguments.option else {}),
        "link": arguments.url,
        **{f"link-{key}": value for key, value in link.describe().items()},
        "host": socket.gethostname(),
        "writer": SOFTWARE,
        **({"note": arguments.note} if arguments.note else {}),
    }


def _counts(tally: RecordingCounters, codec: Codec | None, language: str = ENGLISH) -> str:
    counts = text("terminal.recorded", language, count=tally.bytes, chunks=tally.chunks)
    if codec is None:
        return counts
    frames, damaged = codec.counters.frames, codec.counters.damaged
    return text("terminal.recorded_frames", language, counts=counts, frames=frames, damaged=damaged)


def _recorded_so_far(tally: RecordingCounters, codec: Codec | None) -> str:
    return f"; recorded until then: {_counts(tally, codec)}" if tally.bytes else ""
