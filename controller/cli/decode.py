"""``novamas decode``: prints the readings in a recording."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from common.places import WrittenDecimal, format_path
from common.readings import AnyReading, escape
from common.sections import Notes, read_section
from controller.cli import CommandLineError
from controller.cli.extensions import enable_extensions, extension_argument
from controller.cli.numbers import seconds
from controller.configuration.amounts import section_in_minor_units
from controller.configuration.profiles import text_of
from devices.codec import Codec, Driver
from devices.drivers import driver
from devices.profiles import profile
from devices.recording import (
    NOT_A_RECORDING,
    Chunk,
    Recording,
    RecordingError,
    RecordingProblem,
    read_recording,
)
from devices.watch import CodecDefectError, Watch

MAX_SHOWN_LINES = 20
"""Maximum number of unreadable lines to report."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """DRIVER RECORDING."""
    parser.add_argument(
        "driver", metavar="DRIVER", help="a name that `novamas devices` lists, or profile:FILE"
    )
    parser.add_argument("recording", type=Path, metavar="RECORDING")
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
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the driver; may be repeated",
    )
    extension_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print readings to stdout, and skipped lines to stderr."""
    enable_extensions(arguments)
    codec = make_codec(arguments.driver, arguments.device, arguments.option)
    recording = read_whole(arguments.recording)
    encoder = msgspec.json.Encoder()
    try:
        for reading in decode(
            Watch(codec, arguments.device, arguments.stale_after), with_progress(recording)
        ):
            print(encoder.encode(reading).decode())
    except CodecDefectError as defect:
        raise CommandLineError(
            f"bug in the driver {arguments.driver}; please report it: {defect}, at "
            f"{escape(defect.data)}"
        ) from defect
    return 0


def read_whole(path: Path) -> Recording:
    """Read a recording. Lines that were not completely written are reported on stderr. Raises
    ``CommandLineError``, also if the file was changed since it was recorded.
    """
    try:
        recording = read_recording(path)
    except RecordingError as error:
        raise rejected(error) from error
    report_skipped(path, recording.problems, recording.header)
    if not recording.chunks:
        raise empty_recording(path)
    return recording


def rejected(error: RecordingError) -> CommandLineError:
    """Return the error for a rejected recording, and report its changed lines on stderr."""
    report_skipped(error.path, error.problems, {})
    return CommandLineError(str(error))


def report_skipped(
    path: Path, problems: Sequence[RecordingProblem], header: Mapping[str, str]
) -> None:
    """Report on stderr the lines of a recording that were not read, and whether changes could go
    unnoticed.
    """
    for problem in problems[:MAX_SHOWN_LINES]:
        print(f"{path}:{problem.line}: {problem.what}", file=sys.stderr)
    if (more := len(problems) - MAX_SHOWN_LINES) > 0:
        print(f"{path}: and {more} more such lines", file=sys.stderr)
    if "started" in header and "check" not in header:
        print(
            f"{path}: recorded by an older version, without checks: lines changed since then "
            "cannot be detected",
            file=sys.stderr,
        )


def empty_recording(path: Path) -> CommandLineError:
    """Return the error for a file without chunks."""
    return CommandLineError(f"{path}: {NOT_A_RECORDING}")


def decode(watch: Watch, chunks: Iterable[Chunk]) -> Iterator[AnyReading]:
    """Yield the readings of chunks by the recording's own clock, with those of the silences between
    them.
    """
    opened = False
    for chunk in chunks:
        if not opened:
            # drop these readings: a recording does not contain the time when the link was opened
            watch.opened(chunk.at)
            opened = True
        elif chunk.gap:
            yield from watch.lost(chunk.at, chunk.gap)
            yield from watch.opened(chunk.at, kept=True)
        if not chunk.sent:
            yield from watch.feed(chunk.data, chunk.at)
    yield from watch.flush()


def make_codec(name: str, device: str, options: list[str]) -> Codec:
    """Create a codec of the driver of that name. Raises ``CommandLineError``."""
    return codec_maker(driver_named(name), dict(map(parse_option, options)))(device)


def codec_maker(driver_of: Driver, options: dict[str, Any]) -> Callable[[str], Codec]:
    """Return what makes codecs with these options, for a device's name. Raises
    ``CommandLineError``.
    """
    notes: Notes = []
    section = section_in_minor_units(driver_of.options, options, notes)
    values = read_section(driver_of.options, section, (), notes)
    if notes:
        raise CommandLineError("; ".join(f"option {format_path(at)}: {what}" for at, what in notes))
    return lambda device: driver_of.make(device, values)


def driver_named(name: str) -> Driver:
    """Return the driver of that name, or the one described by the profile in ``profile:FILE``.
    Raises ``CommandLineError``.
    """
    word, _, file = name.partition(":")
    try:
        found = driver(word)
        if found.described is None:
            return driver(name)
        if not file:
            raise CommandLineError(f"{word} needs a file: {word}:FILE")
        return found.described(
            msgspec.convert({"file": file, "text": text_of(Path(file))}, found.options)
        )
    except KeyError as error:
        raise CommandLineError(error.args[0]) from error
    except profile.ProfileError as mistaken:
        raise CommandLineError(
            "\n".join(
                [
                    "the profile has mistakes:",
                    *(mistake.describe(file) for mistake in mistaken.mistakes),
                ]
            )
        ) from mistaken
    except ValueError as error:
        raise CommandLineError(str(error)) from error


def parse_option(text: str) -> tuple[str, Any]:
    """Split KEY=VALUE; the value is TOML or JSON, or else plain text. A decimal number keeps its
    notation. Raises ``CommandLineError``.
    """
    key, separator, value = text.partition("=")
    if not separator:
        raise CommandLineError(f"{text!r}: expected KEY=VALUE")
    with suppress(tomllib.TOMLDecodeError):
        return key, tomllib.loads(f"value = {value}", parse_float=WrittenDecimal)["value"]
    try:
        return key, json.loads(value, parse_float=WrittenDecimal, object_pairs_hook=_unique_keys)
    except (json.JSONDecodeError, RecursionError):
        return key, value
    except ValueError as twice:
        raise CommandLineError(f"option {key}: {twice}") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object; raise ``ValueError`` for a repeated key."""
    object_ = dict(pairs)
    if len(object_) < len(pairs):
        repeated = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"{repeated!r} is given twice")
    return object_


def with_progress(recording: Recording) -> Iterable[Chunk]:
    """Return the chunks, with progress on the terminal if the readings go elsewhere."""
    if sys.stdout.isatty() or not sys.stderr.isatty():
        return recording
    from rich.console import Console
    from rich.progress import track

    return track(recording.chunks, "decoding", console=Console(stderr=True), transient=True)
