"""The recordings of a camera: which there are, when each begins, and how long it lasts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import msgspec

from subscribers.video.errors import ClipError
from subscribers.video.names import begin_of, search_patterns
from subscribers.video.settings import VideoSettings

MIN_CLOCK_TIMESTAMP = 1e9
"""Timestamps above this many seconds are clock times: no recording is that long."""
DAY_SECONDS = 86_400.0
MAX_NAME_DELAY_SECONDS = 10.0
"""Maximum delay of the time in a name: some recorders name a file when they begin to write it."""
MAX_GAP_BY_NAME_SECONDS, MAX_GAP_BY_CLOCK_SECONDS = 1.5, 0.25
"""Maximum time between two consecutive recordings, if times come from names in whole seconds, and
if they come from clock timestamps.
"""
MAX_PICTURE_SECONDS = 5.0
"""Maximum time between two pictures of a camera with a low frame rate."""
MAX_PICTURE_RATIO = 2.5
"""Maximum duration of a picture relative to the one before it: a camera may drop one."""
PROBE_TIMEOUT_SECONDS = 120.0
"""Timeout of ffmpeg and ffprobe."""


class VideoRecording(msgspec.Struct, frozen=True, kw_only=True):
    """One video file."""

    path: Path
    begin: float
    """Time of its first picture: seconds since 1970."""
    length: float
    """Duration in seconds."""
    start: float
    """Timestamp of its first picture in the file."""
    exact: bool
    """Whether its timestamps are clock times; otherwise its name gives the begin."""
    form: tuple[object, ...]
    """Codec, size and pixel format, which must be the same in recordings that are joined."""

    @property
    def end(self) -> float:
        """End of its last picture, in seconds since 1970."""
        return self.begin + self.length


class _ProbeStream(msgspec.Struct, frozen=True):
    codec_name: str = ""
    profile: str | int = ""
    width: int = 0
    height: int = 0
    pix_fmt: str = ""


class _ProbeFormat(msgspec.Struct, frozen=True):
    start_time: str = ""
    """Empty if there are too few pictures for ffprobe to know their order."""
    duration: str = ""


class _ProbeOutput(msgspec.Struct, frozen=True):
    streams: tuple[_ProbeStream, ...] = ()
    format: _ProbeFormat = _ProbeFormat()


def find_recordings(
    settings: VideoSettings, table: str, since: float, until: float
) -> tuple[VideoRecording, ...]:
    """Return the recordings that overlap a time span, by time. Raises :class:`ClipError`."""
    camera, folder = settings.cameras.get(table, table), Path(settings.folder)
    if not folder.is_dir():
        raise ClipError(f"{folder}: no such folder; set `folder` of [video]")
    named: list[tuple[float, Path]] = []
    for pattern in search_patterns(settings, camera, since, until + MAX_NAME_DELAY_SECONDS):
        for path in folder.glob(pattern):
            begin = begin_of(settings, camera, str(path.relative_to(folder)))
            if begin is not None and begin < until + MAX_NAME_DELAY_SECONDS:
                named.append((begin, path))
    named.sort()
    probed: list[VideoRecording] = []
    for index, (begin, path) in enumerate(named):
        next_begin = named[index + 1][0] if index + 1 < len(named) else begin + settings.longest
        if (
            next_begin + MAX_NAME_DELAY_SECONDS > since
            and (recording := probe_recording(path, begin)) is not None
        ):
            probed.append(recording)
    extended = map(_extend, probed, [*probed[1:], None])
    return tuple(item for item in extended if item.begin < until and item.end > since)


def _extend(recording: VideoRecording, later: VideoRecording | None) -> VideoRecording:
    """Extend a recording to the begin of a ``later`` one, if its last picture then lasts about as
    long as the others: at low frame rates many files state too short a duration for it.
    """
    if later is None or not (recording.exact and later.exact):
        return recording
    if not MAX_GAP_BY_CLOCK_SECONDS < later.begin - recording.end < MAX_PICTURE_SECONDS:
        return recording
    times = [time for time, _ in picture_times(recording.path)]
    last_duration = later.begin - recording.begin - (times[-1] - recording.start) if times else 0.0
    if len(times) < 2 or last_duration > MAX_PICTURE_RATIO * (times[-1] - times[-2]):
        return recording
    return msgspec.structs.replace(recording, length=later.begin - recording.begin)


def probe_recording(path: Path, named: float) -> VideoRecording | None:
    """Return the contents of a file that begins at ``named`` according to its name; None if it has
    no pictures (it may still be empty, or already deleted). Raises :class:`ClipError` without
    ffprobe.
    """
    output = ffprobe(
        path, "format=start_time,duration:stream=codec_name,profile,width,height,pix_fmt"
    )
    try:
        probe = msgspec.json.decode(output, type=_ProbeOutput)
        stream, begins_at = probe.streams[0], probe.format.start_time
        start = float(begins_at) if begins_at else picture_times(path)[0][0]
        length = float(probe.format.duration) if probe.format.duration else 0.0
    except (msgspec.MsgspecError, ValueError, IndexError):
        return None
    if start > MIN_CLOCK_TIMESTAMP and length > MIN_CLOCK_TIMESTAMP:
        length -= start  # some formats count it from 1970
    if length <= 0:  # still being written, or not finalised
        length = (picture_times(path) or [(start, True)])[-1][0] - start
    exact = start > MIN_CLOCK_TIMESTAMP and abs(start - named) < DAY_SECONDS
    return VideoRecording(
        path=path,
        begin=start if exact else named,
        length=length,
        start=start,
        exact=exact,
        form=msgspec.structs.astuple(stream),
    )


def picture_times(path: Path) -> list[tuple[float, bool]]:
    """Return the timestamps of a file's pictures, sorted, and whether each is a key frame. Raises
    :class:`ClipError` without ffprobe.
    """
    output = ffprobe(path, "packet=pts_time,flags", "csv=p=0")
    times = []
    for row in output.decode(errors="replace").splitlines():
        time, _, flags = row.partition(",")
        try:
            times.append((float(time), "K" in flags))
        except ValueError:
            continue
    return sorted(times)


def ffprobe(path: Path, entries: str, form: str = "json") -> bytes:
    """Return the output of ffprobe for the pictures of a file. Raises :class:`ClipError` without
    ffprobe.
    """
    arguments = ["-v", "error", "-select_streams", "v:0", "-show_entries", entries, "-of", form]
    return run_program("ffprobe", *arguments, str(path)).stdout


def run_program(name: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run ffmpeg or ffprobe. Raises :class:`ClipError` if it is not installed or does not end."""
    executable = shutil.which(name)
    if executable is None:
        raise ClipError(f"{name} is not installed; on Debian: apt-get install ffmpeg")
    try:
        return subprocess.run(  # noqa: S603 - no shell
            [executable, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ClipError(
            f"{name} did not end in {PROBE_TIMEOUT_SECONDS:g} s: {' '.join(arguments)}"
        ) from None
