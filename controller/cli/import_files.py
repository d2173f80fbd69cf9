"""``novamas import``: converts data that other programs recorded of a device: the history that a
shuffler sent to a PC, or a plain capture of a line, which becomes a recording.
"""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import get_args

import msgspec

from common.contract.version import SOFTWARE
from common.new_file import replacing
from controller.cli import CommandLineError
from controller.cli.decode import driver_named, make_codec
from devices.captures import Capture, CaptureError, Form, read_capture
from devices.recording_lines import parse_time
from devices.recording_writer import format_recording

HISTORY_FORM = "deck-mate-1"
LINE_ENDS = {"crlf": b"\r\n", "lf": b"\n", "cr": b"\r", "none": b""}


def arguments(parser: argparse.ArgumentParser) -> None:
    """DEVICE FILE [--made TIME], or FORM FILE RECORDING --driver DRIVER."""
    parser.add_argument(
        "form",
        choices=(HISTORY_FORM, *get_args(Form)),
        metavar="FORM",
        help=(
            f"{HISTORY_FORM}: the history that this shuffler sent; a capture of what any device "
            "sent: raw (its bytes), hex (hexadecimal text, also of xxd or hexdump -C), text (its "
            "lines). Lines of hex and text may begin with their time"
        ),
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="what to read")
    parser.add_argument(
        "recording",
        type=Path,
        nargs="?",
        metavar="RECORDING",
        help="of a capture: the recording to write; must not exist yet",
    )
    parser.add_argument(
        "--driver",
        help="of a capture: the device that sent it, a name that `novamas devices` lists",
    )
    parser.add_argument(
        "--line-end",
        choices=LINE_ENDS,
        default="crlf",
        help="of a text: the line end that the device sent (default: crlf)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the driver; may be repeated",
    )
    parser.add_argument("--note", default="", help="of a capture: a note for the reader")
    parser.add_argument(
        "--made",
        metavar="TIME",
        type=_time,
        help=(
            f"of a {HISTORY_FORM}: the correct local time when the history was requested, such as "
            "2026-11-19T14:05:00; corrects the machine's clock"
        ),
    )


def run(arguments: argparse.Namespace) -> int:
    """Read a history, or write a recording."""
    try:
        data = arguments.file.read_bytes()
    except OSError as error:
        raise CommandLineError(f"{arguments.file}: cannot be read: {error.strerror}") from None
    if data.startswith(b"# ") and b"\n# framing: " in data[:4096]:
        raise CommandLineError(
            f"{arguments.file}: is a recording already; read it with `novamas decode DRIVER FILE`"
        )
    return (
        _history(arguments, data) if arguments.form == HISTORY_FORM else _capture(arguments, data)
    )


def _history(arguments: argparse.Namespace, data: bytes) -> int:
    """Print the head, the events in order of their cycles, and the counters. Returns 1 if a line
    could not be read.
    """
    from devices.shuffler.deck_mate_1_history import read_history

    try:
        history = read_history(data.decode("latin-1"), arguments.made)
    except ValueError as error:
        raise CommandLineError(f"{arguments.file}: {error}") from None
    for part in (history.head, *history.events, history.totals):
        print(msgspec.json.encode(part).decode())
    for line, what in history.problems:
        print(f"novamas: {arguments.file}: line {line}: {what}", file=sys.stderr)
    if any(event.doubtful for event in history.events):
        print(
            f"novamas: {arguments.file}: the machine's clock was set back; earlier times are "
            "uncertain",
            file=sys.stderr,
        )
    return 1 if history.problems else 0


def _capture(arguments: argparse.Namespace, data: bytes) -> int:
    """Write the recording, and print on stderr how much of it the driver can decode."""
    if arguments.driver is None or arguments.recording is None:
        raise CommandLineError(
            f"a capture becomes a recording of a device: "
            f"novamas import {arguments.form} FILE RECORDING --driver DRIVER"
        )
    if arguments.recording.exists():
        raise CommandLineError(f"{arguments.recording} already exists; not overwritten")
    device_driver, codec = (
        driver_named(arguments.driver),
        make_codec(arguments.driver, "device", arguments.option),
    )
    try:
        captured = read_capture(data, arguments.form, LINE_ENDS[arguments.line_end])
    except CaptureError as error:
        raise CommandLineError(f"{arguments.file}: {error}") from error
    if not captured.chunks:
        raise CommandLineError(f"{arguments.file}: the capture is empty")
    header = {
        "device": device_driver.title,
        "driver": device_driver.name,
        **({"options": ", ".join(arguments.option)} if arguments.option else {}),
        "imported": f"{arguments.file.name} ({arguments.form}), sha256 {sha256(data).hexdigest()}",
        "times": captured.times,
        **(
            {"line-ends": f"{arguments.line_end}, put back behind each line of the text"}
            if arguments.form == "text"
            else {}
        ),
        "writer": SOFTWARE,
        **({"note": arguments.note} if arguments.note else {}),
    }
    with replacing(arguments.recording) as file:
        file.writelines(format_recording(header, captured.chunks))
    for at, part in captured.chunks:
        codec.feed(part, parse_time(at)[0])
    print(
        f"{arguments.recording}: {_summary(captured)}, {codec.counters.frames} frames, "
        f"{codec.counters.damaged} damaged; times: {captured.times}",
        file=sys.stderr,
    )
    return 0


def _summary(captured: Capture) -> str:
    return f"{sum(len(part) for _, part in captured.chunks)} bytes in {len(captured.chunks)} chunks"


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is not a time; expected a time such as 2026-11-19T14:05:00"
        ) from None
