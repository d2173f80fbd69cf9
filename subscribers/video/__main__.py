"""``python -m subscribers.video ACTION --settings JSON``: clips, subtitles, and how far receivers
of bookmarks are. ``novamas surveillance`` starts it with the settings of a configuration file.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from controller.contract.messages.messages import LANGUAGES
from controller.contract.times import utc
from devices.command_line import CommandLine, end_process
from subscribers.surveillance.archive import Query, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.video import subtitles
from subscribers.video.bookmarks import EVENTS, bookmark
from subscribers.video.clips import clip_of, write_subtitles
from subscribers.video.delivery import Progress, name_of
from subscribers.video.errors import ClipError
from subscribers.video.names import begins
from subscribers.video.recordings import look_at
from subscribers.video.settings import PicturesSettings, VideoSettings


def main(argv: list[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 impossible, 3 done, and something is missing."""
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
    """What it takes on the command line."""
    parser = CommandLine(prog="novamas surveillance", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    clip = actions.add_parser("clip", help="cut what shows a round from the recordings")
    clip.add_argument("--round", type=int, required=True, metavar="N")
    clip.add_argument(
        "--session", type=int, metavar="N", help="default: the latest that has the round"
    )
    clip.add_argument("out", type=Path, metavar="OUT.mp4")
    beside = actions.add_parser("subtitles", help="write subtitles beside recordings")
    beside.add_argument("recording", type=Path, nargs="+", metavar="RECORDING")
    for each in (clip, beside):
        each.add_argument("--table", required=True, metavar="ID")
        each.add_argument("--site", metavar="ID", help="default: the one of the configuration")
        each.add_argument("--language", choices=LANGUAGES, default="es")
    marks = actions.add_parser("bookmarks", help="how far each receiver of bookmarks is")
    for each in (clip, beside, marks):
        each.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    return parser


def _clip(archive: RecordArchive, settings: PicturesSettings, arguments: argparse.Namespace) -> int:
    made = clip_of(
        archive,
        _video(settings),
        arguments.out,
        site=arguments.site or settings.site,
        table=arguments.table,
        round=arguments.round,
        session=arguments.session,
        language=arguments.language,
    )
    print(f"{made.path}: from {made.begin} to {made.end}")  # noqa: T201
    for path in made.subtitles:
        print(path)  # noqa: T201
    for note in made.notes:
        print(note, file=sys.stderr)  # noqa: T201
    for since, until in made.missing:
        print(f"no recording from {since} to {until}", file=sys.stderr)  # noqa: T201
    return 3 if made.missing else 0


def _subtitles(
    archive: RecordArchive, settings: PicturesSettings, arguments: argparse.Namespace
) -> int:
    video, table = _video(settings), arguments.table
    camera, folder = video.cameras.get(table, table), Path(video.folder).resolve()
    for path in arguments.recording:
        whole = path.resolve()
        name = str(whole.relative_to(folder)) if whole.is_relative_to(folder) else None
        named = None if name is None else begins(video, camera, name)
        if named is None:
            raise ClipError(
                f"{path}: is not named as a recording of camera {camera} in {folder}: "
                f"{video.pattern!r}"
            )
        found = look_at(whole, named)
        if found is None:
            raise ClipError(f"{path}: there is no picture in it")
        shown = archive.find(
            Query(
                sites=(arguments.site or settings.site,),
                tables=(table,),
                kinds=("event",),
                types=EVENTS,
                since=utc(found.begin),
                until=utc(found.end),
            )
        )
        marks = [
            mark for row in shown if (mark := bookmark(row.record, arguments.language)) is not None
        ]
        cues = subtitles.cues(marks, partial(_since, found.begin), found.length)
        for written in write_subtitles(whole, cues):
            print(written)  # noqa: T201
    return 0


def _since(begin: float, at: float) -> float:
    return at - begin


def _bookmarks(archive: RecordArchive, settings: PicturesSettings) -> int:
    waiting = 0
    for name in settings.bookmarks:
        kept = archive.load_value(name_of(name))
        if kept is None:
            print(f"{name}: not begun; start `novamas surveillance`")  # noqa: T201
            continue
        at = msgspec.json.decode(kept, type=Progress)
        print(  # noqa: T201
            f"{name}: {at.sent} sent ({at.late} late), {at.refused} refused, {at.failed} attempts "
            f"made again, up to record {at.after}"
        )
        if at.trouble:
            waiting += 1
            print(f"{name}: waits since {at.since}: {at.trouble}", file=sys.stderr)  # noqa: T201
    return 3 if waiting else 0


def _video(settings: PicturesSettings) -> VideoSettings:
    if settings.video is None:
        raise ClipError("no recordings are configured; set `folder` of [video]")
    return settings.video


if __name__ == "__main__":
    end_process(main())
