"""Subtitles for a video: WebVTT and SRT, with the true time of each event. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from common.contract.times import parse_utc
from subscribers.video.bookmarks import Bookmark, clean

MAX_CUE_SECONDS = 6.0
"""Time for which a text is shown, unless the next one begins earlier."""


class Cue(msgspec.Struct, frozen=True):
    """A text, and when it is shown, in seconds from the beginning of the video."""

    begin: float
    end: float
    text: str


def cues(
    marks: Sequence[Bookmark], placed: Callable[[float], float | None], length: float
) -> tuple[Cue, ...]:
    """Return the cues of a video that lasts ``length`` seconds, in order. ``placed`` returns the
    position of a moment (UTC) in the video, or None if it is not shown.
    """
    texts: list[tuple[float, str]] = []
    for mark in marks:
        at = placed(parse_utc(mark.time))
        if at is not None and 0 <= at <= length:
            texts.append((at, f"{mark.time[:23]}Z {clean(mark.text)}"))
    texts.sort(key=lambda item: item[0])
    ends = [*(begin for begin, _ in texts[1:]), length]
    shown: list[Cue] = []
    for (begin, text), end in zip(texts, ends, strict=True):
        if shown and begin - shown[-1].begin < 0.001:  # simultaneous texts become one cue
            last = shown.pop()
            begin, text = last.begin, f"{last.text}\n{text}"
        shown.append(Cue(begin, min(end, begin + MAX_CUE_SECONDS), text))
    return tuple(item for item in shown if item.end > item.begin)


def webvtt(all_cues: Sequence[Cue]) -> str:
    """Format cues as WebVTT (w3.org/TR/webvtt1)."""
    parts = ["WEBVTT\n"]
    for cue in all_cues:
        text = cue.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        parts.append(f"{_clock(cue.begin, '.')} --> {_clock(cue.end, '.')}\n{text}\n")
    return "\n".join(parts)


def srt(all_cues: Sequence[Cue]) -> str:
    """Format cues as SubRip: numbered texts, with a comma before the milliseconds."""
    return "\n".join(
        f"{number}\n{_clock(cue.begin, ',')} --> {_clock(cue.end, ',')}\n"
        f"{cue.text.replace('-->', '->')}\n"
        for number, cue in enumerate(all_cues, 1)
    )


def _clock(seconds: float, point: str) -> str:
    whole = round(seconds * 1000)
    minutes, thousandths = divmod(whole, 60_000)
    return (
        f"{minutes // 60:02}:{minutes % 60:02}:{thousandths // 1000:02}{point}"
        f"{thousandths % 1000:03}"
    )
