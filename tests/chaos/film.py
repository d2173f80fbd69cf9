"""A camera over a simulated wheel: ffmpeg draws what the wheel shows, and the time, into each
picture of a stream, and another ffmpeg cuts the stream into recordings. And what can be read in
them afterwards, by tesseract.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from subscribers.video.recordings import picture_times
from tests.support.waiting import TIMEOUT_SECONDS, until

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf"
SIZE = "400x48"
SHOWN, CLOCK = "crop=180:48:0:0", "crop=220:48:180:0"
"""Positions of the wheel's display and of the clock in a picture."""
AT_ONCE = 40
"""Pictures that are read together."""
DIGITS = 6
"""Of what the wheel shows: its state, the spin in three digits, the number in two."""
NOTHING = "99"
"""Where the wheel shows no number."""


class Picture(msgspec.Struct, frozen=True):
    """The display as read from a picture."""

    at: float
    """Its timestamp: seconds since 1970."""
    state: int
    spin: int
    number: str


class Camera:
    """It records the display set by :meth:`show` at a fixed frame rate until :meth:`close`."""

    def __init__(self, folder: Path, rate: int, seconds: int = 4) -> None:
        self.folder, self.rate = folder, rate
        # in memory: a disk that is busy would hold up who renames a file after it is seen renamed
        memory = Path("/dev/shm")
        self._seen = TemporaryDirectory(dir=memory if memory.is_dir() else None)
        self._shown = Path(self._seen.name, "shown.txt")
        self._read: dict[Path, list[Picture]] = {}
        self._ended = threading.Event()
        (folder / "cam-1").mkdir(parents=True)
        self.show(6, 1, NOTHING)
        text = f"drawtext=fontfile={FONT}:fontsize=30:y=8"
        time = r"%{pts\:gmtime\:0\:%H%M%S}%{eif\:mod(t*1000\,1000)\:d\:3}"
        drawn = f"{text}:x=10:textfile={self._shown}:reload=1,{text}:x=190:text='{time}'"
        source = f"color=c=white:s={SIZE}:r={rate},settb=1/1000,realtime"
        soon = ["-fpsprobesize", "2", "-probesize", "32"]  # they would wait for thirty pictures
        draw = ["ffmpeg", "-v", "error", "-use_wallclock_as_timestamps", "1", "-f", "lavfi", *soon]
        draw += ["-i", source, "-copyts", "-fps_mode", "passthrough", "-enc_time_base", "1:1000"]
        draw += ["-vf", drawn, "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]
        draw += ["-threads", "1", "-g", str(rate), "-f", "nut", "-flush_packets", "1", "-"]
        cut = ["ffmpeg", "-v", "error", "-f", "nut", *soon, "-copyts", "-i", "pipe:0"]
        cut += ["-c", "copy", "-f", "segment"]
        cut += ["-segment_time", str(seconds), "-segment_atclocktime", "1", "-strftime", "1"]
        cut += ["-segment_format", "matroska", str(folder / "cam-1/%Y-%m-%d_%H-%M-%S.mkv")]
        self._drawing = subprocess.Popen(draw, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self._cutting = subprocess.Popen(
            cut, stdin=self._drawing.stdout, env={**os.environ, "TZ": "UTC"}
        )
        assert self._drawing.stdout is not None
        self._drawing.stdout.close()
        until("the camera films", self.recordings)
        self._reading = threading.Thread(target=self._read_them)
        self._reading.start()

    def show(self, state: int, spin: int, number: str) -> None:
        """The wheel shows this from now on."""
        new = self._shown.with_suffix(".new")
        new.write_text(f"{state} {spin:03d} {number}")
        new.replace(self._shown)

    def close(self) -> None:
        """End, when all is written."""
        if self._drawing.poll() is None:
            self._drawing.send_signal(signal.SIGINT)
        self._drawing.wait(TIMEOUT_SECONDS)
        self._cutting.wait(TIMEOUT_SECONDS)
        self._ended.set()
        self._reading.join()
        self._seen.cleanup()

    def recordings(self) -> list[Path]:
        """The files, by time; the last one is being written."""
        return sorted((self.folder / "cam-1").glob("*.mkv"))

    def pictures(self) -> list[Picture]:
        """Every picture of all recordings, by time. All is written."""
        return [picture for path in self.recordings() for picture in self._read[path]]

    def _read_them(self) -> None:
        """Read each recording while the next one is written."""
        while True:
            ended = self._ended.wait(0.2)
            for path in self.recordings()[: None if ended else -1]:
                if path not in self._read:
                    self._read[path] = read(path)
            if ended:
                return


def about(film: Sequence[Picture], at: float) -> list[Picture]:
    """The last picture before a moment, and one on each side of it."""
    # pictures have their time in whole milliseconds: in those the moment is compared with them
    index = bisect_right(film, round(at * 1000), key=lambda each: round(each.at * 1000)) - 1
    assert 0 < index < len(film) - 1, f"no picture was taken at {at}"
    return list(film[index - 1 : index + 2])


def read(path: Path) -> list[Picture]:
    """Read the display in each picture of a file. Every one must be readable."""
    found: list[Picture] = []
    times = [at for at, _ in picture_times(path)]
    for first in range(0, len(times), AT_ONCE):
        some = times[first : first + AT_ONCE]
        lines = _lines(path, first, len(some), SHOWN)
        if [len(line) for line in lines] != [DIGITS] * len(some):  # it saw no line, or too many
            lines = [_lines(path, first + n, 1, SHOWN)[0] for n in range(len(some))]
        for at, line in zip(some, lines, strict=True):
            assert len(line) == DIGITS, f"{path.name}: {at}: read {line!r}"
            found.append(Picture(at, int(line[0]), int(line[1:4]), line[4:]))
    return found


def clock(path: Path) -> int:
    """The time that is drawn in the first picture of a file: milliseconds of the day."""
    [told] = _lines(path, 0, 1, CLOCK)
    hours, minutes, seconds = int(told[:2]), int(told[2:4]), int(told[4:6])
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + int(told[6:])


def _lines(path: Path, first: int, count: int, part: str) -> list[str]:
    page = path.with_suffix(".png")
    chosen = f"select='between(n\\,{first}\\,{first + count - 1})',{part},tile=1x{count}"
    words = ["ffmpeg", "-v", "error", "-y", "-threads", "1", "-i", str(path), "-vf", chosen]
    subprocess.run([*words, "-frames:v", "1", str(page)], check=True, stdin=subprocess.DEVNULL)
    words = ["tesseract", str(page), "-", "--psm", "6" if count > 1 else "7", "-c"]
    completed = subprocess.run(
        [*words, "tessedit_char_whitelist=0123456789 "],
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        text=True,
    )
    page.unlink()
    lines = (line.replace(" ", "") for line in completed.stdout.splitlines())
    return [line for line in lines if line]


def milliseconds(at: float) -> int:
    """The time of day of a moment, as a picture has it."""
    day = datetime.fromtimestamp(at, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return round((at - day.timestamp()) * 1000)
