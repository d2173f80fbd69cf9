"""Cuts the clip of a round from recordings: from *place your bets* to its result.

Pictures are copied, never re-encoded: a clip begins with the last key frame before its moment. Only
recordings of different formats, which cannot be joined in one file, are re-encoded, and this is
reported.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from common.contract.times import format_utc, parse_utc
from common.new_file import named_in_errors, replace_file
from subscribers.surveillance.archive import ArchiveRecord, Query, RecordArchive
from subscribers.video import subtitles
from subscribers.video.bookmarks import BOOKMARK_EVENT_TYPES, bookmark
from subscribers.video.errors import ClipError
from subscribers.video.recordings import (
    MAX_GAP_BY_CLOCK_SECONDS,
    MAX_GAP_BY_NAME_SECONDS,
    VideoRecording,
    find_recordings,
    picture_times,
    run_program,
)
from subscribers.video.settings import VideoSettings

ROUND_END_TYPES = ("round.result", "round.void")
CUT_OFFSET_SECONDS = 0.0005
"""Offset of each cut, so that a rounded timestamp does not drop its picture."""


class ClipPiece(msgspec.Struct, frozen=True):
    """A part of a clip, from one recording."""

    recording: VideoRecording
    begin: float
    """Time of its first picture: seconds since 1970."""
    length: float
    at: float
    """Its position in the clip, in seconds."""


class Clip(msgspec.Struct, frozen=True, kw_only=True):
    """A finished clip."""

    path: Path
    subtitles: tuple[Path, ...]
    begin: str
    """Time of its first picture: UTC."""
    end: str
    missing: tuple[tuple[str, str], ...]
    """Requested times without a recording: UTC, from and to."""
    notes: tuple[str, ...]


def clip_of(
    archive: RecordArchive,
    settings: VideoSettings,
    out: Path,
    *,
    site: str,
    table: str,
    round: int,  # noqa: A002 - the project's term
    session: int | None = None,
    language: str = "en",
) -> Clip:
    """Write the clip of a round to ``out``, and subtitles beside it. ``session``: None for the
    latest that has the round. Raises :class:`ClipError` and ``ArchiveError``.
    """
    if out.suffix != ".mp4":
        raise ClipError(f"{out}: clips are MP4 files; use a name that ends with .mp4")
    events = find_round(archive, site, table, session, round)
    first, last = span(events)
    begin, end = first - settings.margin, last + settings.margin
    sources = find_recordings(settings, table, begin, end)
    if not sources:
        camera = settings.cameras.get(table, table)
        raise ClipError(
            f"no recording of camera {camera} from {format_utc(begin)} to {format_utc(end)} in "
            f"{settings.folder}; compare the names there with {settings.pattern!r}, and the clock "
            f"of the names with {settings.clock!r}"
        )
    notes = [] if events[0].type == "round.opened" else [
        f"the archive has no event for the opening of bets; the clip begins with {events[0].type}"
    ]  # fmt: skip
    pieces = cut_pieces(sources, begin, end)
    if len({piece.recording.form for piece in pieces}) > 1:
        notes.append("the recordings differ in codec or size, so the pictures were re-encoded")
        _encode(pieces, out)
    else:
        _copy(pieces, out)
    length = pieces[-1].at + pieces[-1].length
    rows = archive.find(
        Query(
            sites=(site,),
            tables=(table,),
            kinds=("event",),
            types=BOOKMARK_EVENT_TYPES,
            since=format_utc(pieces[0].begin),
            until=format_utc(pieces[-1].begin + pieces[-1].length),
        )
    )
    marks = [mark for row in rows if (mark := bookmark(row.record, language)) is not None]
    cues = subtitles.cues(marks, partial(clip_position, pieces), length)
    return Clip(
        path=out,
        subtitles=write_subtitles(out, cues),
        begin=format_utc(pieces[0].begin),
        end=format_utc(pieces[-1].begin + pieces[-1].length),
        missing=tuple(
            (format_utc(since), format_utc(until))
            for since, until in find_gaps(sources, begin, end)
        ),
        notes=tuple(notes),
    )


def find_round(
    archive: RecordArchive, site: str, table: str, session: int | None, number: int
) -> tuple[ArchiveRecord, ...]:
    """Return the events of a round, by time. Raises :class:`ClipError`."""
    query = Query(
        sites=(site,),
        tables=(table,),
        kinds=("event",),
        session=session,
        round=number,
        order="latest",
    )
    events: list[ArchiveRecord] = []
    for row in archive.find(query):
        if events and row.record.session != events[0].session:
            break
        events.append(row.record)
    if not events:
        in_session = "" if session is None else f" of session {session}"
        raise ClipError(
            f"the archive has no event of round {number}{in_session} at table {table} of site "
            f"{site}; `novamas surveillance search` finds what it has"
        )
    events.reverse()
    opened = next((index for index, event in enumerate(events) if event.type == "round.opened"), 0)
    return tuple(events[opened:])


def span(events: Sequence[ArchiveRecord]) -> tuple[float, float]:
    """Return the time from the first of these events to the result of their round; without one, to
    the last event.
    """
    ends = [event for event in events if event.type in ROUND_END_TYPES] or [events[-1]]
    return parse_utc(events[0].time), parse_utc(ends[0].time)


def cut_pieces(
    sources: Sequence[VideoRecording], begin: float, end: float
) -> tuple[ClipPiece, ...]:
    """Return the parts of recordings for a time span. The first begins with a key frame. Raises
    :class:`ClipError` without ffprobe.
    """
    pieces: list[ClipPiece] = []
    offset, covered = 0.0, 0.0
    for index, recording in enumerate(sources):
        since = max(recording.begin, covered)  # where two overlap, the earlier one is used
        if index == 0 or since > recording.begin:
            target = max(begin, since) - recording.begin + recording.start
            key_frames = [
                time for time, is_key in picture_times(recording.path) if is_key and time <= target
            ]
            since = (
                recording.begin
                + (key_frames[-1] if key_frames else recording.start)
                - recording.start
            )
        until = min(recording.end, end)
        if until <= since or until <= covered:
            continue
        pieces.append(ClipPiece(recording, since, until - since, offset))
        offset, covered = offset + until - since, until
    return tuple(pieces)


def clip_position(pieces: Sequence[ClipPiece], at: float) -> float | None:
    """Return the position of a moment in the clip; None if it is not shown."""
    for piece in pieces:
        if piece.begin <= at <= piece.begin + piece.length:
            return piece.at + at - piece.begin
    return None


def find_gaps(
    sources: Sequence[VideoRecording], begin: float, end: float
) -> list[tuple[float, float]]:
    """Return the parts of a time span that no recording covers."""
    gaps, covered = [], begin
    for recording in sources:
        if recording.begin - covered > (
            MAX_GAP_BY_CLOCK_SECONDS if recording.exact else MAX_GAP_BY_NAME_SECONDS
        ):
            gaps.append((covered, recording.begin))
        covered = max(covered, recording.end)
    if end - covered > (
        MAX_GAP_BY_CLOCK_SECONDS if sources and sources[-1].exact else MAX_GAP_BY_NAME_SECONDS
    ):
        gaps.append((covered, end))
    return gaps


def write_subtitles(beside: Path, cues: Sequence[subtitles.Cue]) -> tuple[Path, ...]:
    """Write subtitles beside a video, as WebVTT and SRT."""
    vtt, srt = beside.with_suffix(".vtt"), beside.with_suffix(".srt")
    replace_file(vtt, subtitles.webvtt(cues).encode())
    replace_file(srt, subtitles.srt(cues).encode())
    return vtt, srt


def _copy(pieces: Sequence[ClipPiece], out: Path) -> None:
    """Join the pieces without re-encoding."""
    with (
        named_in_errors(out),
        tempfile.NamedTemporaryFile("w", suffix=".ffconcat", encoding="utf-8") as listed,
    ):
        listed.write("ffconcat version 1.0\n")
        for piece in pieces:
            name = str(piece.recording.path.resolve()).replace("'", r"'\''")
            first = piece.recording.start + piece.begin - piece.recording.begin
            listed.write(f"file 'file:{name}'\n")
            if piece.begin > piece.recording.begin:
                listed.write(f"inpoint {first + CUT_OFFSET_SECONDS:.6f}\n")
            listed.write(f"outpoint {first + piece.length:.6f}\n")
        listed.flush()
        _write(out, "-f", "concat", "-safe", "0", "-i", listed.name, "-map", "0:v:0", "-c", "copy")


def _encode(pieces: Sequence[ClipPiece], out: Path) -> None:
    """Join pieces of different formats, scaled to the size of the first."""
    words: list[str] = []
    for piece in pieces:
        words += ["-ss", f"{piece.begin - piece.recording.begin:.6f}", "-t", f"{piece.length:.6f}"]
        words += ["-i", f"file:{piece.recording.path}"]
    _, _, width, height, _ = pieces[0].recording.form
    scaled = "".join(
        f"[{n}:v:0]scale={width}:{height},setsar=1,format=yuv420p[v{n}];"
        for n in range(len(pieces))
    )
    joined = "".join(f"[v{n}]" for n in range(len(pieces)))
    graph = f"{scaled}{joined}concat=n={len(pieces)}:v=1[v]"
    _write(out, *words, "-filter_complex", graph, "-map", "[v]", "-c:v", "libx264", "-crf", "18")


def _write(out: Path, *arguments: str) -> None:
    """Write to a temporary file and rename it, so that the result is always complete."""
    part = out.with_name(f".{out.stem}.part{out.suffix}")
    process = run_program(
        "ffmpeg", "-v", "error", "-y", *arguments, "-movflags", "+faststart", str(part)
    )
    if process.returncode or not part.exists() or not picture_times(part):
        part.unlink(missing_ok=True)
        lines = process.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"ended with {process.returncode} and wrote no picture"
        raise ClipError(f"{out}: ffmpeg: {reason}")
    part.replace(out)
