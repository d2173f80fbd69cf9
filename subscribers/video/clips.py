"""Cuts from recordings what shows a round: from *place your bets* to its result.

Pictures are copied as they are, never encoded anew: a clip begins with the last picture before its
moment that can be shown without others. Only recordings of different forms, which no file can hold
together, are encoded anew, and it is said.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from controller.contract.times import moment, utc
from devices.new_file import named_in_errors, replace_file
from subscribers.surveillance.archive import ArchiveRecord, Query, RecordArchive
from subscribers.video import subtitles
from subscribers.video.bookmarks import EVENTS, bookmark
from subscribers.video.errors import ClipError
from subscribers.video.recordings import COARSE, FINE, Recording, pictures, program, recordings
from subscribers.video.settings import VideoSettings

ENDS = ("round.result", "round.void")
HALF_FRAME = 0.0005
"""Seconds that a cut is moved by, so that a rounded timestamp does not leave out its picture."""


class Piece(msgspec.Struct, frozen=True):
    """A part of a clip, from one recording."""

    of: Recording
    begin: float
    """When its first picture was taken: seconds since 1970."""
    length: float
    at: float
    """Where it begins in the clip, in seconds."""


class Clip(msgspec.Struct, frozen=True, kw_only=True):
    """What was made, and what there is to say of it."""

    path: Path
    subtitles: tuple[Path, ...]
    begin: str
    """When its first picture was taken: UTC."""
    end: str
    missing: tuple[tuple[str, str], ...]
    """From when to when there is no recording of what was asked for: UTC."""
    notes: tuple[str, ...]


def clip_of(
    archive: RecordArchive,
    settings: VideoSettings,
    out: Path,
    *,
    site: str,
    table: str,
    round: int,  # noqa: A002 - it is called so everywhere
    session: int | None = None,
    language: str = "en",
) -> Clip:
    """Write the clip of a round to ``out``, and subtitles beside it. ``session``: None for the
    latest that has the round. Raises :class:`ClipError` and ``ArchiveError``.
    """
    if out.suffix != ".mp4":
        raise ClipError(f"{out}: a clip is an MP4; let its name end with .mp4")
    events = of_round(archive, site, table, session, round)
    first, last = span(events)
    begin, end = first - settings.margin, last + settings.margin
    found = recordings(settings, table, begin, end)
    if not found:
        camera = settings.cameras.get(table, table)
        raise ClipError(
            f"no recording of camera {camera} from {utc(begin)} to {utc(end)} in "
            f"{settings.folder}; compare the names there with {settings.pattern!r}, and the clock "
            f"of the names with {settings.clock!r}"
        )
    notes = [] if events[0].type == "round.opened" else [
        f"the archive does not have when bets were opened; the clip begins with {events[0].type}"
    ]  # fmt: skip
    pieces = cut(found, begin, end)
    if len({each.of.form for each in pieces}) > 1:
        notes.append("the recordings differ in codec or size, so the pictures were encoded anew")
        _encode(pieces, out)
    else:
        _copy(pieces, out)
    length = pieces[-1].at + pieces[-1].length
    shown = archive.find(
        Query(
            sites=(site,),
            tables=(table,),
            kinds=("event",),
            types=EVENTS,
            since=utc(pieces[0].begin),
            until=utc(pieces[-1].begin + pieces[-1].length),
        )
    )
    marks = [mark for row in shown if (mark := bookmark(row.record, language)) is not None]
    cues = subtitles.cues(marks, partial(placed, pieces), length)
    return Clip(
        path=out,
        subtitles=write_subtitles(out, cues),
        begin=utc(pieces[0].begin),
        end=utc(pieces[-1].begin + pieces[-1].length),
        missing=tuple((utc(since), utc(until)) for since, until in missing(found, begin, end)),
        notes=tuple(notes),
    )


def of_round(
    archive: RecordArchive, site: str, table: str, session: int | None, number: int
) -> tuple[ArchiveRecord, ...]:
    """The events of a round, by time. Raises :class:`ClipError`."""
    query = Query(
        sites=(site,),
        tables=(table,),
        kinds=("event",),
        session=session,
        round=number,
        order="latest",
    )
    found: list[ArchiveRecord] = []
    for row in archive.find(query):
        if found and row.record.session != found[0].session:
            break
        found.append(row.record)
    if not found:
        of = "" if session is None else f" of session {session}"
        raise ClipError(
            f"the archive has no event of round {number}{of} at table {table} of site {site}; "
            "`novamas surveillance search` finds what it has"
        )
    found.reverse()
    opened = next((index for index, each in enumerate(found) if each.type == "round.opened"), 0)
    return tuple(found[opened:])


def span(events: Sequence[ArchiveRecord]) -> tuple[float, float]:
    """From the first of these events to the result of their round; without one, to the last."""
    ends = [each for each in events if each.type in ENDS] or [events[-1]]
    return moment(events[0].time), moment(ends[0].time)


def cut(found: Sequence[Recording], begin: float, end: float) -> tuple[Piece, ...]:
    """The parts of recordings that show it. The first one begins with a picture that can be shown
    without others. Raises :class:`ClipError` without ffprobe.
    """
    pieces: list[Piece] = []
    at, upto = 0.0, 0.0
    for index, each in enumerate(found):
        since = max(each.begin, upto)  # of two that overlap, the earlier one
        if index == 0 or since > each.begin:
            wanted = max(begin, since) - each.begin + each.start
            whole = [time for time, alone in pictures(each.path) if alone and time <= wanted]
            since = each.begin + (whole[-1] if whole else each.start) - each.start
        until = min(each.end, end)
        if until <= since or until <= upto:
            continue
        pieces.append(Piece(each, since, until - since, at))
        at, upto = at + until - since, until
    return tuple(pieces)


def placed(pieces: Sequence[Piece], at: float) -> float | None:
    """Where in the clip a moment is; None: it is not shown."""
    for piece in pieces:
        if piece.begin <= at <= piece.begin + piece.length:
            return piece.at + at - piece.begin
    return None


def missing(found: Sequence[Recording], begin: float, end: float) -> list[tuple[float, float]]:
    """What of the time from ``begin`` to ``end`` none of these shows."""
    gaps, upto = [], begin
    for each in found:
        if each.begin - upto > (FINE if each.exact else COARSE):
            gaps.append((upto, each.begin))
        upto = max(upto, each.end)
    if end - upto > (FINE if found and found[-1].exact else COARSE):
        gaps.append((upto, end))
    return gaps


def write_subtitles(beside: Path, cues: Sequence[subtitles.Cue]) -> tuple[Path, ...]:
    """Write them beside a picture, as WebVTT and SRT."""
    vtt, srt = beside.with_suffix(".vtt"), beside.with_suffix(".srt")
    replace_file(vtt, subtitles.webvtt(cues).encode())
    replace_file(srt, subtitles.srt(cues).encode())
    return vtt, srt


def _copy(pieces: Sequence[Piece], out: Path) -> None:
    """Join the pieces without touching a picture."""
    with (
        named_in_errors(out),
        tempfile.NamedTemporaryFile("w", suffix=".ffconcat", encoding="utf-8") as listed,
    ):
        listed.write("ffconcat version 1.0\n")
        for piece in pieces:
            name = str(piece.of.path.resolve()).replace("'", r"'\''")
            first = piece.of.start + piece.begin - piece.of.begin
            listed.write(f"file 'file:{name}'\n")
            if piece.begin > piece.of.begin:
                listed.write(f"inpoint {first + HALF_FRAME:.6f}\n")
            listed.write(f"outpoint {first + piece.length:.6f}\n")
        listed.flush()
        _write(out, "-f", "concat", "-safe", "0", "-i", listed.name, "-map", "0:v:0", "-c", "copy")


def _encode(pieces: Sequence[Piece], out: Path) -> None:
    """Join pieces of different forms: all get the size of the first."""
    words: list[str] = []
    for piece in pieces:
        words += ["-ss", f"{piece.begin - piece.of.begin:.6f}", "-t", f"{piece.length:.6f}"]
        words += ["-i", f"file:{piece.of.path}"]
    _, _, width, height, _ = pieces[0].of.form
    scaled = "".join(
        f"[{n}:v:0]scale={width}:{height},setsar=1,format=yuv420p[v{n}];"
        for n in range(len(pieces))
    )
    joined = "".join(f"[v{n}]" for n in range(len(pieces)))
    graph = f"{scaled}{joined}concat=n={len(pieces)}:v=1[v]"
    _write(out, *words, "-filter_complex", graph, "-map", "[v]", "-c:v", "libx264", "-crf", "18")


def _write(out: Path, *words: str) -> None:
    """Write beside the place and rename, so that what is there is whole."""
    part = out.with_name(f".{out.stem}.part{out.suffix}")
    ended = program("ffmpeg", "-v", "error", "-y", *words, "-movflags", "+faststart", str(part))
    if ended.returncode or not part.exists() or not pictures(part):
        part.unlink(missing_ok=True)
        told = ended.stderr.decode(errors="replace").strip().splitlines()
        why = told[-1] if told else f"ended with {ended.returncode} and wrote no picture"
        raise ClipError(f"{out}: ffmpeg: {why}")
    part.replace(out)
