"""``novamas decode``: the readings in a recording."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from controller.cli import CommandLineError
from controller.cli.numbers import seconds
from controller.configuration.amounts import section_in_minor_units
from controller.configuration.profiles import text_of
from devices.codec import Codec, Driver
from devices.drivers import driver
from devices.places import WrittenDecimal, format_path
from devices.profiles import profile
from devices.readings import AnyReading, escape
from devices.recording import (
    NOT_A_RECORDING,
    Chunk,
    Recording,
    RecordingError,
    RecordingProblem,
    read_recording,
)
from devices.sections import Notes, read_section
from devices.watch import CodecDefectError, Watch

SHOWN = 20
"""Lines that cannot be read, of which each is reported."""


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


def run(arguments: argparse.Namespace) -> int:
    """Readings to stdout, what had to be skipped to stderr."""
    codec = make_codec(arguments.driver, arguments.device, arguments.option)
    recording = skipped(arguments.recording)
    encoder = msgspec.json.Encoder()
    try:
        for reading in decode(
            Watch(codec, arguments.device, arguments.stale_after), shown(recording)
        ):
            print(encoder.encode(reading).decode())
    except CodecDefectError as defect:
        raise CommandLineError(
            f"defect in the driver {arguments.driver}; please report it: {defect}, at "
            f"{escape(defect.data)}"
        ) from defect
    return 0


def skipped(path: Path) -> Recording:
    """A recording. What the writer could not write whole is reported on stderr. Raises
    ``CommandLineError``, also if the file is not as it was recorded.
    """
    try:
        recording = read_recording(path)
    except RecordingError as error:
        raise refused(error) from error
    tell_skipped(path, recording.problems, recording.header)
    if not recording.chunks:
        raise nothing_in(path)
    return recording


def refused(error: RecordingError) -> CommandLineError:
    """That a file is not used. Reports each of its changed lines on stderr."""
    tell_skipped(error.path, error.problems, {})
    return CommandLineError(str(error))


def tell_skipped(
    path: Path, problems: Sequence[RecordingProblem], header: Mapping[str, str]
) -> None:
    """Report on stderr the lines of a recording that were not read, and if nothing shows whether it
    was changed.
    """
    for problem in problems[:SHOWN]:
        print(f"{path}:{problem.line}: {problem.what}", file=sys.stderr)
    if (more := len(problems) - SHOWN) > 0:
        print(f"{path}: and {more} more such lines", file=sys.stderr)
    if "started" in header and "check" not in header:
        print(
            f"{path}: recorded by an older version, without checks: if lines were changed since, "
            "nothing shows it",
            file=sys.stderr,
        )


def nothing_in(path: Path) -> CommandLineError:
    """That a file has no chunk."""
    return CommandLineError(f"{path}: {NOT_A_RECORDING}")


def decode(watch: Watch, chunks: Iterable[Chunk]) -> Iterator[AnyReading]:
    """The readings of some chunks by the recording's own clock, with what a watch says about the
    silences between them.
    """
    opened = False
    for chunk in chunks:
        if not opened:
            # its readings are dropped: no recording tells when the link was opened
            watch.opened(chunk.at)
            opened = True
        elif chunk.gap:
            yield from watch.lost(chunk.at, chunk.gap)
            yield from watch.opened(chunk.at, kept=True)
        if not chunk.sent:
            yield from watch.feed(chunk.data, chunk.at)
    yield from watch.rest()


def make_codec(name: str, device: str, options: list[str]) -> Codec:
    """A new codec with options given as KEY=VALUE. A value is TOML or JSON, or else plain text.
    Raises ``CommandLineError``.
    """
    known = named(name)
    notes: Notes = []
    given = section_in_minor_units(known.options, dict(map(pair, options)), notes)
    made = read_section(known.options, given, (), notes)
    if notes:
        raise CommandLineError("; ".join(f"option {format_path(at)}: {what}" for at, what in notes))
    return known.make(device, made)


def named(name: str) -> Driver:
    """The driver of that name, or the one that the profile in ``profile:FILE`` describes. Raises
    ``CommandLineError``.
    """
    word, _, file = name.partition(":")
    try:
        known = driver(word)
        if known.described is None:
            return driver(name)
        if not file:
            raise CommandLineError(f"{word} needs a file: {word}:FILE")
        return known.described(
            msgspec.convert({"file": file, "text": text_of(Path(file))}, known.options)
        )
    except KeyError as error:
        raise CommandLineError(error.args[0]) from error
    except profile.ProfileError as mistaken:
        raise CommandLineError(
            "\n".join(
                ["the profile has mistakes:", *(mistake.of(file) for mistake in mistaken.mistakes)]
            )
        ) from mistaken
    except ValueError as error:
        raise CommandLineError(str(error)) from error


def pair(text: str) -> tuple[str, Any]:
    """Split KEY=VALUE; the value is TOML or JSON, or else plain text, and a number with a point
    stays as it is written. Raises ``CommandLineError``.
    """
    key, given, value = text.partition("=")
    if not given:
        raise CommandLineError(f"{text!r}: expected KEY=VALUE")
    with suppress(tomllib.TOMLDecodeError):
        return key, tomllib.loads(f"value = {value}", parse_float=WrittenDecimal)["value"]
    try:
        return key, json.loads(value, parse_float=WrittenDecimal, object_pairs_hook=_once)
    except (json.JSONDecodeError, RecursionError):
        return key, value
    except ValueError as twice:
        raise CommandLineError(f"option {key}: {twice}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, of which no key may be given twice."""
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"{twice!r} is given twice")
    return made


def shown(recording: Recording) -> Iterable[Chunk]:
    """The chunks, with progress on the terminal if the readings go elsewhere."""
    if sys.stdout.isatty() or not sys.stderr.isatty():
        return recording
    from rich.console import Console
    from rich.progress import track

    return track(recording.chunks, "decoding", console=Console(stderr=True), transient=True)
