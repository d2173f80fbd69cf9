"""``novamas replay``: the events that recordings lead to. The times in the recordings are the
clock, so the same files always give the same events.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from controller.cli import CommandLineError
from controller.cli.decode import decode, make_codec, named, nothing_in, tell_skipped
from controller.cli.numbers import seconds
from controller.cli.play import add_rules, make_table
from controller.cli.progress import Percent
from controller.configuration.checks import unsuited
from controller.contract.commands import SessionOpen, ShoeStart
from controller.contract.notation import Input, write
from controller.contract.refusals import RejectedError
from controller.contract.times import utc
from controller.tables.table import Table
from devices.recording import Chunk, RecordingError, RecordingReader
from devices.watch import CodecDefectError, Watch

HELP = "print the events that recordings of a device lead to, as JSON lines"

_TOLD = {
    "round.result": "results",
    "round.unresolved": "unresolved",
    "round.void": "void",
    "irregularity": "irregularities",
    "data.late": "late bursts",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """RECORDING... --driver D --game G --decree D."""
    parser.add_argument(
        "recording",
        nargs="+",
        type=Path,
        metavar="RECORDING",
        help="files of one device, in any order",
    )
    parser.add_argument(
        "--driver", required=True, help="a name that `novamas devices` lists, or profile:FILE"
    )
    parser.add_argument("--game", required=True, help="a name that `novamas games` lists")
    add_rules(parser)
    parser.add_argument(
        "--device", default="device", help="the name to put in the events (default: device)"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the driver; may be repeated",
    )
    parser.add_argument(
        "--stale-after",
        type=seconds,
        default=5.0,
        metavar="SECONDS",
        help="silence that counts as stale (default: 5)",
    )
    parser.add_argument("--no-session", action="store_true", help="do not open a session first")
    parser.add_argument(
        "--shoe",
        metavar="NUMBER",
        help="number of the shoe in use from the first line on",
    )


def run(arguments: argparse.Namespace) -> int:
    """Events to stdout; skipped lines and a summary to stderr."""
    table = make_table("replay", arguments.game, arguments.decree, arguments.set)
    codec = make_codec(arguments.driver, arguments.device, arguments.option)
    if what := unsuited(named(arguments.driver), arguments.driver, arguments.game):
        raise CommandLineError(what)
    recordings = _in_order(arguments.recording)
    start = recordings[0].start
    said: Counter[str] = Counter()
    inputs = decode(Watch(codec, arguments.device, arguments.stale_after), _chunks(recordings))
    try:
        if not arguments.no_session:
            _take(table, SessionOpen(at=0.0, by="replay", role="inspector"), start, said)
        if arguments.shoe is not None:
            _take(
                table,
                ShoeStart(at=0.0, by="replay", role="inspector", shoe=arguments.shoe),
                start,
                said,
            )
        for reading in inputs:
            _take(table, reading, start, said)
    except CodecDefectError as error:
        raise CommandLineError(
            f"driver {arguments.driver}: {error}, given {error.data!r}"
        ) from error
    skipped = sum(len(recording.problems) for recording in recordings)
    counts = [f"{said[kind]} {name}" for kind, name in _TOLD.items()]
    counts.insert(4, f"{codec.counters.damaged} damaged lines")
    print(", ".join([*counts, f"{skipped} unreadable lines skipped"]), file=sys.stderr)
    return 0


def _take(table: Table, given: Input, start: float, said: Counter[str]) -> None:
    try:
        events = table.take(given, utc(start + given.at), round(given.at * 1e9)).events
    except RejectedError as refusal:
        if isinstance(given, ShoeStart):
            raise CommandLineError(f"the shoe cannot be started: {refusal}") from refusal
        raise CommandLineError(
            f"the session cannot be opened: {refusal}; try --no-session"
        ) from refusal
    for event in events:
        line = write(event).decode()
        said[str(event.__struct_config__.tag)] += 1
        print(line)


def _in_order(paths: list[Path]) -> list[RecordingReader]:
    """The recordings in order of their start. Raises ``CommandLineError``."""
    recordings = [RecordingReader(path) for path in paths]
    for recording in recordings:
        try:
            first = next(iter(recording), None)
        except RecordingError as error:
            raise CommandLineError(str(error)) from error
        if first is None:
            tell_skipped(recording.path, recording.problems)
            raise nothing_in(recording.path)
    return sorted(recordings, key=lambda recording: recording.start)


def _chunks(recordings: list[RecordingReader]) -> Iterator[Chunk]:
    """All chunks, timed from the start of the first recording, with progress on the terminal
    unless the events go there. Raises ``CommandLineError``.
    """
    total, done, latest = sum(each.path.stat().st_size for each in recordings), 0, 0.0
    with Percent("replaying", unless=sys.stdout) as percent:
        for recording in recordings:
            offset = round(recording.start - recordings[0].start, 6)
            if offset < latest:
                raise CommandLineError(
                    f"{recording.path}: starts before the previous recording ends; replay them "
                    "one by one"
                )
            try:
                for number, chunk in enumerate(recording):
                    if not number % 1000:
                        percent.show(done + recording.read, total)
                    latest = round(offset + chunk.at, 6)
                    yield Chunk(latest, chunk.data, chunk.sent)
            except RecordingError as error:
                raise CommandLineError(str(error)) from error
            done += recording.read
            tell_skipped(recording.path, recording.problems)
