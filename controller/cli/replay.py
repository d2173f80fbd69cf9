"""``novamas replay``: prints the events that recordings lead to. The clock is the times in the
recordings, so the same files always give the same events.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from common.contract.commands import SessionOpen, ShoeStart
from common.contract.notation import Input, write
from common.contract.refusals import RejectedError
from common.contract.times import format_utc
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
from controller.configuration.table_checks import unsuited
from controller.tables.table import Table
from devices.recording import Chunk, RecordingError, RecordingReader
from devices.watch import CodecDefectError, Watch

MISSING_PART = "the recording between these two files is missing"
_SUMMARY = {
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
    """Print events to stdout; skipped lines and a summary to stderr."""
    table = make_table("replay", arguments.game, arguments.decree, arguments.set)
    codec = make_codec(arguments.driver, arguments.device, arguments.option)
    if problem := unsuited(driver_named(arguments.driver), arguments.driver, arguments.game):
        raise CommandLineError(problem)
    recordings = RecordingSeries(arguments.recording)
    counts_by_type: Counter[str] = Counter()
    inputs = decode(Watch(codec, arguments.device, arguments.stale_after), recordings)
    try:
        if not arguments.no_session:
            _handle(
                table,
                SessionOpen(at=0.0, by="replay", role="inspector"),
                recordings,
                counts_by_type,
            )
        if arguments.shoe is not None:
            _handle(
                table,
                ShoeStart(at=0.0, by="replay", role="inspector", shoe=arguments.shoe),
                recordings,
                counts_by_type,
            )
        for reading in inputs:
            _handle(table, reading, recordings, counts_by_type)
    except CodecDefectError as error:
        raise CommandLineError(
            f"driver {arguments.driver}: {error}, given {error.data!r}"
        ) from error
    skipped = sum(len(recording.problems) for recording in recordings.files)
    counts = [f"{counts_by_type[kind]} {name}" for kind, name in _SUMMARY.items()]
    counts.insert(4, f"{codec.counters.damaged} damaged lines")
    print(", ".join([*counts, f"{skipped} unreadable lines skipped"]), file=sys.stderr)
    return 0


class RecordingSeries:
    """Several recordings of one device, as one. Raises ``CommandLineError`` if unreadable."""

    def __init__(self, paths: list[Path]) -> None:
        self.files = _in_order([RecordingReader(path) for path in paths])
        # pairs: a replay time, in seconds, and the time of day at replay time 0 from then on
        self._began = [(0.0, self.files[0].start)]

    def time_of(self, at: float) -> float:
        """Convert a replay time to the time of day, in seconds since 1970, by the clock of the
        recording machine, including later changes of that clock.
        """
        return at + next(began for since, began in reversed(self._began) if since <= at)

    def __iter__(self) -> Iterator[Chunk]:
        """Yield all chunks, timed from the start of the first recording, with progress on the
        terminal unless the events go there.
        """
        total, done, latest = sum(file.path.stat().st_size for file in self.files), 0, 0.0
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
                    gap = MISSING_PART
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


def _handle(
    table: Table, item: Input, recordings: RecordingSeries, counts_by_type: Counter[str]
) -> None:
    try:
        time = format_utc(recordings.time_of(item.at))
        events = table.handle(item, time, round(item.at * 1e9)).events
    except RejectedError as refusal:
        if isinstance(item, ShoeStart):
            raise CommandLineError(f"the shoe cannot be started: {refusal}") from refusal
        raise CommandLineError(
            f"the session cannot be opened: {refusal}; try --no-session"
        ) from refusal
    for event in events:
        line = write(event).decode()
        counts_by_type[str(event.__struct_config__.tag)] += 1
        print(line)


def _in_order(recordings: list[RecordingReader]) -> list[RecordingReader]:
    """Sort the recordings in the order in which they were written: each after the one named in its
    header, the others by start. Raises ``CommandLineError``.
    """
    for recording in recordings:
        try:
            first = next(iter(recording), None)
        except RecordingError as error:
            raise rejected(error) from error
        if first is None:
            report_skipped(recording.path, recording.problems, recording.header)
            raise empty_recording(recording.path)
    remaining = sorted(recordings, key=lambda recording: recording.start)
    if len(remaining) == 1:
        return remaining
    try:
        ends = {recording.path: recording.last_check() for recording in remaining}
    except RecordingError as error:
        raise rejected(error) from error
    ordered: list[RecordingReader] = []
    while remaining:
        end = ends[ordered[-1].path] if ordered else None
        next_recording = next(
            (recording for recording in remaining if end is not None and recording.follows == end),
            next(
                (
                    recording
                    for recording in remaining
                    if recording.follows not in _ends_of(remaining, ends)
                ),
                remaining[0],
            ),
        )
        remaining.remove(next_recording)
        ordered.append(next_recording)
    return ordered


def _ends_of(recordings: list[RecordingReader], ends: dict[Path, int | None]) -> set[int]:
    return {end for recording in recordings if (end := ends[recording.path]) is not None}


def _continues(recording: RecordingReader, previous: RecordingReader) -> bool:
    """True if a recording begins where the other ends, or is too old to state it."""
    return "check" not in recording.header or (
        recording.follows is not None and recording.follows == previous.check
    )
