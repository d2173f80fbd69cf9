"""``python -m subscribers.video ACTION --settings JSON``: clips, subtitles, and the progress of
bookmark receivers. ``novamas surveillance`` starts it with the settings from a configuration file.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from common.command_line import CommandLine, end_process
from common.contract.messages.messages import LANGUAGES
from common.contract.times import format_utc
from subscribers.surveillance.archive import Query, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.video import subtitles
from subscribers.video.bookmarks import BOOKMARK_EVENT_TYPES, bookmark
from subscribers.video.clips import clip_of, write_subtitles
from subscribers.video.delivery import DeliveryProgress, progress_key
from subscribers.video.errors import ClipError
from subscribers.video.names import begin_of
from subscribers.video.recordings import probe_recording
from subscribers.video.settings import PicturesSettings, VideoSettings


def main(argv: list[str] | None = None) -> int:
    """Run an action. Return the exit code: 0 done, 1 failed, 3 done but incomplete."""
    arguments = command_line().parse_args(argv)
    settings = msgspec.json.decode(arguments.settings, type=PicturesSettings)
    try:
        with closing(open_archive(settings.archive, read_only=True)) as archive:
            match arguments.action:
                case "clip":
                    return _clip(archive, settings, arguments)
                case "subtitles":
                    return _subtitles(archive, settings, arguments)
            return _bookmarks(archive, settings)
    except (ArchiveError, ClipError, OSError) as error:
        print(f"novamas surveillance {arguments.action}: {error}", file=sys.stderr)  # noqa: T201
        return 1


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = CommandLine(prog="novamas surveillance", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    clip = actions.add_parser("clip", help="cut the clip of a round from the recordings")
    clip.add_argument("--round", type=int, required=True, metavar="N")
    clip.add_argument(
        "--session", type=int, metavar="N", help="default: the latest session with this round"
    )
    clip.add_argument("out", type=Path, metavar="OUT.mp4")
    beside = actions.add_parser("subtitles", help="write subtitles beside recordings")
    beside.add_argument("recording", type=Path, nargs="+", metavar="RECORDING")
    for action in (clip, beside):
        action.add_argument("--table", required=True, metavar="ID")
        action.add_argument("--site", metavar="ID", help="default: the site in the configuration")
        action.add_argument("--language", choices=LANGUAGES, default="es")
    marks = actions.add_parser("bookmarks", help="report the progress of each bookmark receiver")
    for action in (clip, beside, marks):
        action.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    return parser


def _clip(archive: RecordArchive, settings: PicturesSettings, arguments: argparse.Namespace) -> int:
    clip = clip_of(
        archive,
        _video(settings),
        arguments.out,
        site=arguments.site or settings.site,
        table=arguments.table,
        round=arguments.round,
        session=arguments.session,
        language=arguments.language,
    )
    print(f"{clip.path}: from {clip.begin} to {clip.end}")  # noqa: T201
    for path in clip.subtitles:
        print(path)  # noqa: T201
    for note in clip.notes:
        print(note, file=sys.stderr)  # noqa: T201
    for since, until in clip.missing:
        print(f"no recording from {since} to {until}", file=sys.stderr)  # noqa: T201
    return 3 if clip.missing else 0


def _subtitles(
    archive: RecordArchive, settings: PicturesSettings, arguments: argparse.Namespace
) -> int:
    video, table = _video(settings), arguments.table
    camera, folder = video.cameras.get(table, table), Path(video.folder).resolve()
    for path in arguments.recording:
        full_path = path.resolve()
        name = str(full_path.relative_to(folder)) if full_path.is_relative_to(folder) else None
        begin_by_name = None if name is None else begin_of(video, camera, name)
        if begin_by_name is None:
            raise ClipError(
                f"{path}: is not named like a recording of camera {camera} in {folder}: "
                f"{video.pattern!r}"
            )
        recording = probe_recording(full_path, begin_by_name)
        if recording is None:
            raise ClipError(f"{path}: contains no pictures")
        shown = archive.find(
            Query(
                sites=(arguments.site or settings.site,),
                tables=(table,),
                kinds=("event",),
                types=BOOKMARK_EVENT_TYPES,
                since=format_utc(recording.begin),
                until=format_utc(recording.end),
            )
        )
        marks = [
            mark for row in shown if (mark := bookmark(row.record, arguments.language)) is not None
        ]
        cues = subtitles.cues(marks, partial(_since, recording.begin), recording.length)
        for written in write_subtitles(full_path, cues):
            print(written)  # noqa: T201
    return 0


def _since(begin: float, at: float) -> float:
    return at - begin


def _bookmarks(archive: RecordArchive, settings: PicturesSettings) -> int:
    waiting = 0
    for name in settings.bookmarks:
        stored = archive.load_value(progress_key(name))
        if stored is None:
            print(f"{name}: not started; start `novamas surveillance`")  # noqa: T201
            continue
        progress = msgspec.json.decode(stored, type=DeliveryProgress)
        print(  # noqa: T201
            f"{name}: {progress.sent} sent ({progress.late} late), {progress.refused} refused, "
            f"{progress.failed} attempts repeated, up to record {progress.after}"
        )
        if progress.trouble:
            waiting += 1
            print(f"{name}: waiting since {progress.since}: {progress.trouble}", file=sys.stderr)  # noqa: T201
    return 3 if waiting else 0


def _video(settings: PicturesSettings) -> VideoSettings:
    if settings.video is None:
        raise ClipError("no recordings are configured; set `folder` of [video]")
    return settings.video


if __name__ == "__main__":
    end_process(main())
