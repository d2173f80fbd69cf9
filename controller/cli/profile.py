"""``novamas profile``: checks the description of a device, tries it on a recording, or proposes
one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from common.device_health import Counters
from common.readings import escape
from controller.cli import CommandLineError
from controller.cli.decode import decode, driver_named, read_whole, with_progress
from controller.cli.numbers import seconds
from controller.cli.profile_new import create_profile, shown_numbers
from controller.configuration.profiles import text_of
from devices.codec import Driver
from devices.links import check_link
from devices.profiles.profile import doubts, parse_profile
from devices.profiles.proposal.questions import open_questions
from devices.profiles.trial import count_unchecked_frames, find_checksum
from devices.recording import Recording
from devices.watch import CodecDefectError, Watch

SAMPLE_ADDRESSES = {
    "serial": "/port?",
    "usb": "0000:0000?",
    "mqtt": "192.0.2.7:1883/base?",
    "http": "192.0.2.5:8900/camera?secret_file=/camera.token&",
}
"""An address of each scheme, to check the settings of a line without a device."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION PROFILE [RECORDING], or new RECORDING."""
    parser.add_argument(
        "action",
        choices=("check", "test", "new"),
        help=(
            "check: check the profile; test: try it on a recording; new: propose one for an "
            "unknown wheel from a recording"
        ),
    )
    parser.add_argument(
        "profile", metavar="PROFILE", help="the profile (TOML); for new: the recording"
    )
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
    parser.add_argument(
        "--shown",
        type=shown_numbers,
        metavar="NUMBERS",
        help="for new: all numbers that the wheel showed, as in 17,4,0,00 (asked on a terminal)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="for new: the file to write (default: the recording's name, with .toml)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Return 0, or raise if the profile has errors or no frame of the recording is valid."""
    if arguments.action == "new":
        if arguments.recording is not None:
            raise CommandLineError(
                "profile new takes one file, the recording; --output FILE names the profile"
            )
        return create_profile(Path(arguments.profile), arguments.output, arguments.shown)
    described = driver_named(f"profile:{arguments.profile}")
    address = SAMPLE_ADDRESSES[described.scheme]
    if problem := check_link(f"{described.scheme}://{address}{described.line}"):
        raise CommandLineError(f"{arguments.profile}: line: {problem}")
    if arguments.action == "check":
        if unreachable := doubts(text_of(Path(arguments.profile))):
            raise CommandLineError(
                "\n".join(
                    ["the profile describes parts that can never occur:"]
                    + [doubt.describe(arguments.profile) for doubt in unreachable]
                )
            )
        print(
            f"ok: {described.name}, {described.title}: {described.kind}; "
            f"{described.line or described.scheme}; {_commands(described)}"
        )
        print("".join(_missing(described, arguments.profile)), end="")
        return 0
    if arguments.recording is None:
        raise CommandLineError("profile test needs a recording; `novamas record` makes one")
    return _test(described, arguments)


def _missing(described: Driver, file: str) -> Iterator[str]:
    """List what a sound profile lacks: a reading of the number, answers to its questions, and a
    question where a card may be lost.
    """
    if described.blind is not None and (reason := described.blind(described.options())):
        yield f"missing: {reason}\n"
    if problem := described.unsafe(described.options()):
        yield f"unsafe: {problem}\n"
    for line, question in open_questions(text_of(Path(file))):
        yield f"{file}:{line}: open question: {question}\n"


def _commands(described: Driver) -> str:
    return f"commands: {', '.join(described.commands)}" if described.commands else "no commands"


def _test(described: Driver, arguments: argparse.Namespace) -> int:
    codec = described.make(arguments.device, described.options())
    recording = read_whole(arguments.recording)
    encoder = msgspec.json.Encoder()
    readings = 0
    try:
        for reading in decode(
            Watch(codec, arguments.device, arguments.stale_after), with_progress(recording)
        ):
            print(encoder.encode(reading).decode())
            readings += 1
    except CodecDefectError as defect:
        raise CommandLineError(
            f"bug in the codec of profiles; please report it: {defect}, at {escape(defect.data)}"
        ) from defect
    print(_summary(codec.counters, readings), file=sys.stderr)
    if not codec.counters.frames:
        raise CommandLineError(
            f"{arguments.profile}: no frame of {arguments.recording} was understood"
            f"{_hint(arguments.profile, recording)}"
        )
    return 0


def _hint(file: str, recording: Recording) -> str:
    """Return a hint where to look: at the frames, or at their checksum."""
    parsed = parse_profile(text_of(Path(file)))
    data = b"".join(chunk.data for chunk in recording if not chunk.sent)
    if parsed.checksum is None or not (unchecked := count_unchecked_frames(parsed, data)):
        return "; check [framing] and the messages"
    match = find_checksum(parsed, data)
    if match is None:
        return f"; without a checksum, {unchecked} would be; check [checksum]"
    count, checksum = match
    return (
        f"; {count} would be with [checksum] kind = {checksum.kind!r}, from = {checksum.first}, "
        f"encoding = {checksum.encoding!r}; compare that with the maker's document"
    )


def _summary(counters: Counters, readings: int) -> str:
    return (
        f"{counters.bytes} bytes: {counters.frames} frames, {counters.damaged} damaged, "
        f"{counters.unknown} unknown, "
        f"{counters.late} late; {readings} readings"
    )
