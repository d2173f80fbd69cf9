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
from controller.cli.decode import (
    decode,
    driver_named,
    empty_recording,
    make_codec,
    rejected,
    report_skipped,
)
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

APART = "the recording between these two files is missing"
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
    if what := unsuited(driver_named(arguments.driver), arguments.driver, arguments.game):
        raise CommandLineError(what)
    recordings = Recordings(arguments.recording)
    said: Counter[str] = Counter()
    inputs = decode(Watch(codec, arguments.device, arguments.stale_after), recordings)
    try:
        if not arguments.no_session:
            _take(table, SessionOpen(at=0.0, by="replay", role="inspector"), recordings, said)
        if arguments.shoe is not None:
            _take(
                table,
                ShoeStart(at=0.0, by="replay", role="inspector", shoe=arguments.shoe),
                recordings,
                said,
            )
        for reading in inputs:
            _take(table, reading, recordings, said)
    except CodecDefectError as error:
        raise CommandLineError(
            f"driver {arguments.driver}: {error}, given {error.data!r}"
        ) from error
    skipped = sum(len(recording.problems) for recording in recordings.files)
    counts = [f"{said[kind]} {name}" for kind, name in _TOLD.items()]
    counts.insert(4, f"{codec.counters.damaged} damaged lines")
    print(", ".join([*counts, f"{skipped} unreadable lines skipped"]), file=sys.stderr)
    return 0


class Recordings:
    """Recordings of one device as one. Raises ``CommandLineError`` where they cannot be read."""

    def __init__(self, paths: list[Path]) -> None:
        self.files = _in_order([RecordingReader(path) for path in paths])
        # from when on, in seconds of the replay, which time of day the replay began at
        self._began = [(0.0, self.files[0].start)]

    def time_of(self, at: float) -> float:
        """The time of day, in seconds since 1970, at so many seconds of the replay: as the device's
        machine had it then, also after its clock was set.
        """
        return at + next(began for since, began in reversed(self._began) if since <= at)

    def __iter__(self) -> Iterator[Chunk]:
        """All chunks, timed from the start of the first recording, with progress on the terminal
        unless the events go there.
        """
        total, done, latest = sum(each.path.stat().st_size for each in self.files), 0, 0.0
        before: RecordingReader | None = None
        with Percent("replaying", unless=sys.stdout) as percent:
            for recording in self.files:
                began = self._began[-1][1]
                offset, stepped = round(recording.start - began, 6), 0.0
                if offset < latest:
                    raise CommandLineError(
                        f"{recording.path}: starts before the previous recording ends; replay them "
                        "one by one"
                    )
                gap = "" if before is None else before.gap
                if before is not None and not _continues(recording, before):
                    gap = APART
                try:
                    for number, chunk in enumerate(recording):
                        if not number % 1000:
                            percent.show(done + recording.read, total)
                        latest = round(offset + chunk.at, 6)
                        if recording.stepped != stepped:
                            stepped = recording.stepped
                            self._began.append((latest, began + stepped))
                        yield Chunk(latest, chunk.data, chunk.sent, chunk.gap or gap)
                        gap = ""
                except RecordingError as error:
                    raise rejected(error) from error
                if recording.stepped != stepped:
                    self._began.append((latest, began + recording.stepped))
                done, before = done + recording.read, recording
                report_skipped(recording.path, recording.problems, recording.header)


def _take(table: Table, given: Input, recordings: Recordings, said: Counter[str]) -> None:
    try:
        time = utc(recordings.time_of(given.at))
        events = table.handle(given, time, round(given.at * 1e9)).events
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


def _in_order(recordings: list[RecordingReader]) -> list[RecordingReader]:
    """The recordings in the order in which they were written: each behind the one that it follows,
    as its header says, the others by their start. Raises ``CommandLineError``.
    """
    for recording in recordings:
        try:
            first = next(iter(recording), None)
        except RecordingError as error:
            raise rejected(error) from error
        if first is None:
            report_skipped(recording.path, recording.problems, recording.header)
            raise empty_recording(recording.path)
    left = sorted(recordings, key=lambda recording: recording.start)
    if len(left) == 1:
        return left
    try:
        ends = {recording.path: recording.last_check() for recording in left}
    except RecordingError as error:
        raise rejected(error) from error
    found: list[RecordingReader] = []
    while left:
        end = ends[found[-1].path] if found else None
        here = next(
            (each for each in left if end is not None and each.follows == end),
            next((each for each in left if each.follows not in _ends_of(left, ends)), left[0]),
        )
        left.remove(here)
        found.append(here)
    return found


def _ends_of(recordings: list[RecordingReader], ends: dict[Path, int | None]) -> set[int]:
    return {end for each in recordings if (end := ends[each.path]) is not None}


def _continues(recording: RecordingReader, before: RecordingReader) -> bool:
    """Whether a recording begins where the other one ends. Older ones do not say so."""
    return "check" not in recording.header or (
        recording.follows is not None and recording.follows == before.check
    )
