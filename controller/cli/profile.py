"""``novamas profile``: checks the description of a device, and tries it on a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from controller.cli import CommandLineError
from controller.cli.decode import decode, driver_named, read_whole, with_progress
from controller.cli.numbers import seconds
from controller.configuration.profiles import text_of
from devices.codec import Counters, Driver
from devices.links import check_link
from devices.profiles.profile import doubts, parse_profile
from devices.profiles.trial import count_unchecked_frames, find_checksum
from devices.readings import escape
from devices.recording import Recording
from devices.watch import CodecDefectError, Watch


def arguments(parser: argparse.ArgumentParser) -> None:
    """Check PROFILE, or test PROFILE RECORDING."""
    parser.add_argument(
        "action",
        choices=("check", "test"),
        help="check: check the profile; test: try it on a recording",
    )
    parser.add_argument("profile", metavar="PROFILE", help="the profile (TOML)")
    parser.add_argument(
        "recording",
        type=Path,
        nargs="?",
        metavar="RECORDING",
        help="for test: a recording of the device",
    )
    parser.add_argument(
        "--device", default="device", help="the name to put in the readings (default: device)"
    )
    parser.add_argument(
        "--stale-after",
        type=seconds,
        default=5.0,
        metavar="SECONDS",
        help="silence that counts as stale (default: 5)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Return 1 if the profile has mistakes, or understands nothing in the recording."""
    known = driver_named(f"profile:{arguments.profile}")
    if wrong := check_link(
        f"{known.scheme}://{'/port' if known.scheme == 'serial' else '0000:0000'}?{known.line}"
    ):
        raise CommandLineError(f"{arguments.profile}: line: {wrong}")
    if arguments.action == "check":
        if found := doubts(text_of(Path(arguments.profile))):
            raise CommandLineError(
                "\n".join(
                    ["the profile describes what may never come:"]
                    + [doubt.of(arguments.profile) for doubt in found]
                )
            )
        print(
            f"ok: {known.name}, {known.title}: {known.kind}; {known.line or known.scheme}; "
            f"{_commands(known)}"
        )
        return 0
    if arguments.recording is None:
        raise CommandLineError("profile test needs a recording; `novamas record` makes one")
    return _test(known, arguments)


def _commands(known: Driver) -> str:
    return f"commands: {', '.join(known.commands)}" if known.commands else "no commands"


def _test(known: Driver, arguments: argparse.Namespace) -> int:
    codec = known.make(arguments.device, known.options())
    recording = read_whole(arguments.recording)
    encoder = msgspec.json.Encoder()
    said = 0
    try:
        for reading in decode(
            Watch(codec, arguments.device, arguments.stale_after), with_progress(recording)
        ):
            print(encoder.encode(reading).decode())
            said += 1
    except CodecDefectError as defect:
        raise CommandLineError(
            f"defect in the codec of profiles; please report it: {defect}, at {escape(defect.data)}"
        ) from defect
    print(_summary(codec.counters, said), file=sys.stderr)
    if not codec.counters.frames:
        raise CommandLineError(
            f"{arguments.profile}: no frame of {arguments.recording} was understood"
            f"{_why_none(arguments.profile, recording)}"
        )
    return 0


def _why_none(file: str, recording: Recording) -> str:
    """Where to look: at the frames, or at their checksum."""
    described = parse_profile(text_of(Path(file)))
    data = b"".join(chunk.data for chunk in recording if not chunk.sent)
    if described.checksum is None or not (whole := count_unchecked_frames(described, data)):
        return "; check [framing] and the messages"
    found = find_checksum(described, data)
    if found is None:
        return f"; without a checksum, {whole} would be; check [checksum]"
    count, right = found
    return (
        f"; {count} would be with [checksum] kind = {right.kind!r}, from = {right.first}, "
        f"encoding = {right.encoding!r}; compare that with the maker's document"
    )


def _summary(counters: Counters, said: int) -> str:
    return (
        f"{counters.bytes} bytes: {counters.frames} frames, {counters.damaged} damaged, "
        f"{counters.unknown} unknown, "
        f"{counters.late} late; {said} readings"
    )
