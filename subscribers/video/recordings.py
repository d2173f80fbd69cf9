"""The recordings of a camera: which there are, when each begins, and how long it lasts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import msgspec

from subscribers.video.errors import ClipError
from subscribers.video.names import begins, globs
from subscribers.video.settings import VideoSettings

CLOCK = 1e9
"""Timestamps beyond this many seconds are the time of day: no recording lasts for so long."""
DAY = 86_400.0
LAG = 10.0
"""Seconds by which a name may be late: some recorders name a file when they begin to write it."""
COARSE, FINE = 1.5, 0.25
"""Seconds between two recordings that are no gap: where names are whole seconds, and where the
timestamps are the time of day.
"""
SPARSE = 5.0
"""Seconds between two pictures of a camera that takes few."""
SILENT = 2.5
"""A picture stands so many times as long as the one before it, at the most: a camera may miss one.
"""
PATIENCE = 120.0
"""Seconds for a look at one recording."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One file of pictures."""

    path: Path
    begin: float
    """When its first picture was taken: seconds since 1970."""
    length: float
    """How long it lasts, in seconds."""
    start: float
    """The timestamp of its first picture in the file."""
    exact: bool
    """Its timestamps are the time of day; otherwise its name says when it begins."""
    form: tuple[object, ...]
    """Codec, size and pixels: what must be the same in recordings that are joined."""

    @property
    def end(self) -> float:
        """When its last picture ends."""
        return self.begin + self.length


class _Stream(msgspec.Struct, frozen=True):
    codec_name: str = ""
    profile: str | int = ""
    width: int = 0
    height: int = 0
    pix_fmt: str = ""


class _Format(msgspec.Struct, frozen=True):
    start_time: str = ""
    """Nothing, where there are too few pictures for ffprobe to know their order."""
    duration: str = ""


class _Probe(msgspec.Struct, frozen=True):
    streams: tuple[_Stream, ...] = ()
    format: _Format = _Format()


def recordings(
    settings: VideoSettings, table: str, since: float, until: float
) -> tuple[Recording, ...]:
    """Those that show anything from ``since`` to ``until``, by time. Raises :class:`ClipError`."""
    camera, folder = settings.cameras.get(table, table), Path(settings.folder)
    if not folder.is_dir():
        raise ClipError(f"{folder}: no such folder; set `folder` of [video]")
    named: list[tuple[float, Path]] = []
    for each in globs(settings, camera, since, until + LAG):
        for path in folder.glob(each):
            begin = begins(settings, camera, str(path.relative_to(folder)))
            if begin is not None and begin < until + LAG:
                named.append((begin, path))
    named.sort()
    looked: list[Recording] = []
    for index, (begin, path) in enumerate(named):
        later = named[index + 1][0] if index + 1 < len(named) else begin + settings.longest
        if later + LAG > since and (recording := look_at(path, begin)) is not None:
            looked.append(recording)
    found = map(_until, looked, [*looked[1:], None])
    return tuple(each for each in found if each.begin < until and each.end > since)


def _until(recording: Recording, later: Recording | None) -> Recording:
    """It, until a ``later`` one begins, where its last picture stands about as long as the others:
    of few pictures a second, many a file says too short a time for the last one.
    """
    if later is None or not (recording.exact and later.exact):
        return recording
    if not FINE < later.begin - recording.end < SPARSE:
        return recording
    times = [time for time, _ in pictures(recording.path)]
    stands = later.begin - recording.begin - (times[-1] - recording.start) if times else 0.0
    if len(times) < 2 or stands > SILENT * (times[-1] - times[-2]):
        return recording
    return msgspec.structs.replace(recording, length=later.begin - recording.begin)


def look_at(path: Path, named: float) -> Recording | None:
    """What a file is, which by its name begins at ``named``; None: there is no picture in it, yet
    or any more. Raises :class:`ClipError` without ffprobe.
    """
    said = ffprobe(
        path, "format=start_time,duration:stream=codec_name,profile,width,height,pix_fmt"
    )
    try:
        probe = msgspec.json.decode(said, type=_Probe)
        stream, begins_at = probe.streams[0], probe.format.start_time
        start = float(begins_at) if begins_at else pictures(path)[0][0]
        length = float(probe.format.duration) if probe.format.duration else 0.0
    except (msgspec.MsgspecError, ValueError, IndexError):
        return None
    if start > CLOCK and length > CLOCK:
        length -= start  # some forms count it from 1970
    if length <= 0:  # it is being written, or was not ended
        length = (pictures(path) or [(start, True)])[-1][0] - start
    exact = start > CLOCK and abs(start - named) < DAY
    return Recording(
        path=path,
        begin=start if exact else named,
        length=length,
        start=start,
        exact=exact,
        form=msgspec.structs.astuple(stream),
    )


def pictures(path: Path) -> list[tuple[float, bool]]:
    """The timestamps of the pictures of a file, by time, and whether each can be shown without
    others. Raises :class:`ClipError` without ffprobe.
    """
    said = ffprobe(path, "packet=pts_time,flags", "csv=p=0")
    found = []
    for row in said.decode(errors="replace").splitlines():
        time, _, flags = row.partition(",")
        try:
            found.append((float(time), "K" in flags))
        except ValueError:
            continue
    return sorted(found)


def ffprobe(path: Path, entries: str, form: str = "json") -> bytes:
    """What ffprobe says of the pictures of a file. Raises :class:`ClipError` without ffprobe."""
    words = ["-v", "error", "-select_streams", "v:0", "-show_entries", entries, "-of", form]
    return program("ffprobe", *words, str(path)).stdout


def program(name: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run ffmpeg or ffprobe. Raises :class:`ClipError` where it is not installed or never ends."""
    found = shutil.which(name)
    if found is None:
        raise ClipError(f"{name} is not installed; on Debian: apt-get install ffmpeg")
    try:
        return subprocess.run(  # noqa: S603 - no shell
            [found, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ClipError(f"{name} did not end in {PATIENCE:g} s: {' '.join(words)}") from None
