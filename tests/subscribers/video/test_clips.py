"""Clips of rounds from real recordings made with ffmpeg; their pictures are decoded and
compared.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from common.contract.times import format_utc
from subscribers.surveillance.archive import ArchiveRecord, RecordArchive
from subscribers.surveillance.open_archive import open_archive
from subscribers.video.__main__ import main
from subscribers.video.clips import clip_of, find_round, span
from subscribers.video.errors import ClipError
from subscribers.video.names import begin_of, search_patterns
from subscribers.video.recordings import picture_times, probe_recording
from subscribers.video.settings import PicturesSettings, VideoSettings
from subscribers.video.subtitles import Cue, cues, srt, webvtt
from tests.subscribers.video.test_bookmarks import marked

BEGIN = 1_790_000_000  # 2026-09-21 14:13:20 UTC
FPS, LENGTH = 10, 4


def record(path: Path, seconds: int, of: str = "testsrc=size=160x120", gop: int = FPS) -> None:
    """Make a recording of this many seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"{of}:rate={FPS}:duration={seconds}"]
    words += [
        "-c:v",
        "libx264",
        "-preset",
        "ultrafast",
        "-g",
        str(gop),
        "-pix_fmt",
        "yuv420p",
        "-threads",
        "1",
    ]
    subprocess.run([*words, str(path)], check=True, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def folder(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make four recordings of four seconds, the third of another size; the fifth place is empty."""
    made = tmp_path_factory.mktemp("recordings")
    for index, size in enumerate(("160x120", "160x120", "160x120", "200x100")):
        at = format_utc(BEGIN + index * LENGTH)
        name = f"cam-1/{at[:10]}/{at[11:19].replace(':', '-')}.mp4"
        record(made / name, LENGTH, f"testsrc=size={size}")
    return made


@pytest.fixture
def settings(folder: Path) -> VideoSettings:
    return VideoSettings(folder=str(folder), cameras={"r1": "cam-1"}, margin=0.5)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[RecordArchive]:
    opened = open_archive(str(tmp_path / "archive.sqlite3"))
    yield opened
    opened.close()


def played(archive: RecordArchive, number: int, at: float, length: float, session: int = 1) -> None:
    """Archive a void round, ``at`` seconds after the first recording began."""
    kinds = ((at, "round.opened"), (at + length / 2, "bets.closed"), (at + length, "round.void"))
    body = b'"reason":"ball_out","law":"A","article":"art. 12","last_number":null'
    archive.store(
        [
            ArchiveRecord(
                site="palma",
                kind="event",
                key=f"{session}/{number}/{kind}",
                time=format_utc(BEGIN + when),
                received=format_utc(BEGIN + when),
                body=b'{"type":"%b",%b}' % (kind.encode(), body),
                table="r1",
                boot="b1",
                seq=number * 10 + index,
                type=kind,
                session=session,
                round=number,
            )
            for index, (when, kind) in enumerate(kinds)
        ]
    )


def frames(path: Path) -> list[bytes]:
    """Return the digest of each decoded picture."""
    completed = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(path), "-f", "framemd5", "-"],
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    ).stdout
    return [line.split(b",")[-1].strip() for line in completed.splitlines() if line[:1] != b"#"]


def test_a_clip_is_the_pictures_of_its_round_across_recordings(
    archive: RecordArchive, settings: VideoSettings, folder: Path, tmp_path: Path
) -> None:
    played(archive, 7, at=2.6, length=3.0)
    out = tmp_path / "clip.mp4"
    made = clip_of(archive, settings, out, site="palma", table="r1", round=7)
    first, second = sorted(folder.rglob("*.mp4"))[:2]
    # from the whole picture at 2.0, the last before 2.6 - 0.5, to 5.6 + 0.5: as they were recorded
    assert frames(out) == [*frames(first)[20:], *frames(second)[:21]]
    assert made.begin == format_utc(BEGIN + 2)
    assert made.missing == ()
    assert made.notes == ()
    shown = (tmp_path / "clip.vtt").read_text()
    assert (
        f"00:00:00.600 --> 00:00:02.100\n{format_utc(BEGIN + 2.6)[:23]}Z round 7: place your"
        in shown
    )
    assert "00:00:03.600 --> 00:00:04.100" in shown
    assert "void: the ball left the cylinder (art. 12)" in (tmp_path / "clip.srt").read_text()


def test_the_latest_session_is_meant_and_another_may_be_named(archive: RecordArchive) -> None:
    played(archive, 1, at=1.0, length=1.0, session=1)
    played(archive, 1, at=5.5, length=1.0, session=2)
    assert span(find_round(archive, "palma", "r1", None, 1)) == (BEGIN + 5.5, BEGIN + 6.5)
    assert span(find_round(archive, "palma", "r1", 1, 1)) == (BEGIN + 1.0, BEGIN + 2.0)


def test_times_without_a_recording_are_reported(
    archive: RecordArchive, settings: VideoSettings, folder: Path, tmp_path: Path
) -> None:
    played(archive, 1, at=5.0, length=9.0)
    lost = sorted(folder.rglob("*.mp4"))[2]
    away = lost.rename(tmp_path / "lost.mp4")
    try:
        one = msgspec.structs.replace(settings, margin=0.0)
        with_gap = tmp_path / "clip.mp4"
        made = clip_of(archive, one, with_gap, site="palma", table="r1", round=1)
    finally:
        away.rename(lost)
    assert made.missing == ((format_utc(BEGIN + 8), format_utc(BEGIN + 12)),)
    assert [note for note in made.notes if "re-encoded" in note]  # the last one has another size


def test_a_missing_recording_or_round_is_reported_with_advice(
    archive: RecordArchive, settings: VideoSettings, tmp_path: Path
) -> None:
    played(archive, 1, at=1000.0, length=9.0)
    out = tmp_path / "clip.mp4"
    with pytest.raises(ClipError, match=r"no recording of camera cam-1 from .*; compare the names"):
        clip_of(archive, settings, out, site="palma", table="r1", round=1)
    with pytest.raises(ClipError, match="has no event of round 2 of session 5 at table r1"):
        clip_of(archive, settings, out, site="palma", table="r1", round=2, session=5)
    gone = msgspec.structs.replace(settings, folder=str(tmp_path / "gone"))
    with pytest.raises(ClipError, match="no such folder"):
        clip_of(archive, gone, out, site="palma", table="r1", round=1)
    with pytest.raises(ClipError, match=r"use a name that ends with \.mp4"):
        clip_of(archive, settings, tmp_path / "x.avi", site="palma", table="r1", round=1)
    assert not out.exists()


def test_the_command_writes_a_clip_and_subtitles_of_recordings(
    archive: RecordArchive,
    settings: VideoSettings,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    played(archive, 1, at=1.0, length=2.0)
    given = msgspec.json.encode(
        PicturesSettings(archive=str(tmp_path / "archive.sqlite3"), site="palma", video=settings)
    ).decode()
    words = ["--settings", given, "--table", "r1", "--language", "es"]
    assert main(["clip", *words, "--round", "1", str(tmp_path / "c.mp4")]) == 0
    assert f"c.mp4: from {format_utc(BEGIN)} to" in capsys.readouterr().out
    first = min(folder.rglob("*.mp4"))
    assert main(["subtitles", *words, str(first)]) == 0
    told = first.with_suffix(".srt").read_text()
    for suffix in (".srt", ".vtt"):
        first.with_suffix(suffix).unlink()
    assert "00:00:01,000 --> " in told
    assert "nula: la bola" in told
    assert main(["clip", *words, "--round", "9", str(tmp_path / "d.mp4")]) == 1
    assert "has no event of round 9" in capsys.readouterr().err
    assert main(["bookmarks", "--settings", given]) == 0


@pytest.mark.usefixtures("programs")
def test_timestamps_that_are_the_time_of_day_are_more_exact_than_a_name(tmp_path: Path) -> None:
    path = tmp_path / "x.mkv"
    words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=rate={FPS}:duration=2"]
    words += ["-vf", f"setpts=PTS+{BEGIN + 0.2}/TB", "-c:v", "libx264", "-copyts"]
    subprocess.run([*words, str(path)], check=True, stdin=subprocess.DEVNULL)
    found = probe_recording(path, BEGIN)
    assert found is not None
    assert found.exact
    assert found.begin == pytest.approx(BEGIN + 0.2, abs=0.001)
    assert found.length == pytest.approx(2, abs=0.15)
    assert len(picture_times(path)) == 2 * FPS
    (tmp_path / "y.mkv").write_bytes(b"")
    assert probe_recording(tmp_path / "y.mkv", BEGIN) is None


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("last", [1000, 41])
def test_a_camera_of_one_picture_a_second_gives_clips_too(
    archive: RecordArchive, tmp_path: Path, last: int
) -> None:
    """With so few pictures ffprobe reports no start. ``last``: duration of each last picture in ms,
    according to the files.
    """
    folder = tmp_path / "cam-1"
    folder.mkdir()
    whole: list[bytes] = []
    for begin in range(BEGIN, BEGIN + 3 * LENGTH, LENGTH):
        words = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=rate=1:duration={LENGTH}"]
        words += ["-vf", f"settb=1/1000,setpts=PTS+{begin + 0.25}/TB", "-copyts"]
        words += ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]
        words += ["-threads", "1", "-g", "1", "-enc_time_base", "1:1000"]
        words += ["-bsf:v", f"setts=duration={last}"]
        path = folder / f"{begin}.mkv"
        subprocess.run([*words, str(path)], check=True, stdin=subprocess.DEVNULL)
        whole += frames(path)
    settings = VideoSettings(
        folder=str(tmp_path), pattern="{camera}/%s.mkv", cameras={"r1": "cam-1"}, margin=1.0
    )
    played(archive, 1, at=4.5, length=3.0)
    made = clip_of(archive, settings, tmp_path / "clip.mp4", site="palma", table="r1", round=1)
    assert made.begin == format_utc(BEGIN + 3.25)  # the last picture before 4.5 - 1.0
    assert frames(tmp_path / "clip.mp4") == whole[3:9]
    assert made.missing == ()


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("pattern", "name", "when"),
    [
        ("{camera}/%Y-%m-%d/%H-%M-%S.mp4", "c1/2026-09-21/14-13-20.mp4", BEGIN),
        ("%Y-%m-%d/%H/{camera}/%M.%S.mp4", "2026-09-21/14/c1/13.20.mp4", BEGIN),
        ("{camera}/%Y-%m-%d_%H-%M-%S-%f.mp4", "c1/2026-09-21_14-13-20-250000.mp4", BEGIN + 0.25),
        ("{camera}-%s.mkv", f"c1-{BEGIN}.mkv", BEGIN),
        ("{camera}/%Y%m%d/%Y%m%d%H%M%S.mp4", "c1/20260921/20260921141320.mp4", BEGIN),
        ("{camera}/%Y%m%d/%Y%m%d%H%M%S.mp4", "c1/20260920/20260921141320.mp4", None),
        ("{camera}/%Y-%m-%d/%H-%M-%S.mp4", "c2/2026-09-21/14-13-20.mp4", None),
        ("{camera}/%Y-%m-%d/%H-%M-%S.mp4", "c1/2026-02-31/14-13-20.mp4", None),
        ("[{camera}]/%Y-%m-%d/%H-%M-%S.mp4", "[c1]/2026-09-21/14-13-20.mp4", BEGIN),
    ],
)
def test_a_name_contains_the_start_of_its_recording(
    pattern: str, name: str, when: float | None, tmp_path: Path
) -> None:
    settings = VideoSettings(folder=str(tmp_path), pattern=pattern)
    assert begin_of(settings, "c1", name) == when
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    found = {
        each
        for glob in search_patterns(settings, "c1", BEGIN, BEGIN + 1)
        for each in tmp_path.glob(glob)
    }
    if when is not None:
        assert found == {path}


def test_texts_stay_until_the_next_and_not_beyond_the_end() -> None:
    marks = [
        marked(time=format_utc(BEGIN + at), text=text)
        for at, text in ((9.0, "late"), (1.0, "a & <b>"), (1.0, "c --> d"), (3.0, "e"), (-1.0, "x"))
    ]
    found = cues(marks, lambda at: at - BEGIN, 10.0)
    assert [(each.begin, each.end) for each in found] == [(1.0, 3.0), (3.0, 9.0), (9.0, 10.0)]
    assert found[0].text.count("\n") == 1
    assert "a &amp; &lt;b&gt;" in webvtt(found)
    assert "--&gt;" in webvtt(found)
    assert "c -> d" in srt(found)
    assert webvtt([Cue(3661.5, 3662.0, "x")]).splitlines()[2] == "01:01:01.500 --> 01:01:02.000"
    assert srt([Cue(0.0, 0.9996, "x")]).splitlines()[1] == "00:00:00,000 --> 00:00:01,000"
