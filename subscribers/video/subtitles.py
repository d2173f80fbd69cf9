"""Subtitles beside a picture: WebVTT and SRT, with the true time of what happened. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from controller.contract.times import moment
from subscribers.video.bookmarks import Bookmark, clean

SHOWN = 6.0
"""Seconds for which a text stands, unless the next one comes before."""


class Cue(msgspec.Struct, frozen=True):
    """A text and when it stands over the picture, in seconds from its beginning."""

    begin: float
    end: float
    text: str


def cues(
    marks: Sequence[Bookmark], placed: Callable[[float], float | None], length: float
) -> tuple[Cue, ...]:
    """The texts of a picture that lasts ``length`` seconds, in the order of the picture.
    ``placed``: where a moment in UTC is in it; None: it is not shown.
    """
    found: list[tuple[float, str]] = []
    for mark in marks:
        at = placed(moment(mark.time))
        if at is not None and 0 <= at <= length:
            found.append((at, f"{mark.time[:23]}Z {clean(mark.text)}"))
    found.sort(key=lambda each: each[0])
    ends = [*(begin for begin, _ in found[1:]), length]
    shown: list[Cue] = []
    for (begin, told), end in zip(found, ends, strict=True):
        if shown and begin - shown[-1].begin < 0.001:  # at the same moment: one text
            last = shown.pop()
            begin, told = last.begin, f"{last.text}\n{told}"
        shown.append(Cue(begin, min(end, begin + SHOWN), told))
    return tuple(each for each in shown if each.end > each.begin)


def webvtt(found: Sequence[Cue]) -> str:
    """Source: w3.org/TR/webvtt1."""
    parts = ["WEBVTT\n"]
    for each in found:
        told = each.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        parts.append(f"{_clock(each.begin, '.')} --> {_clock(each.end, '.')}\n{told}\n")
    return "\n".join(parts)


def srt(found: Sequence[Cue]) -> str:
    """SubRip: numbered texts, with a comma before the milliseconds."""
    return "\n".join(
        f"{number}\n{_clock(each.begin, ',')} --> {_clock(each.end, ',')}\n"
        f"{each.text.replace('-->', '->')}\n"
        for number, each in enumerate(found, 1)
    )


def _clock(seconds: float, point: str) -> str:
    whole = round(seconds * 1000)
    minutes, thousandths = divmod(whole, 60_000)
    return (
        f"{minutes // 60:02}:{minutes % 60:02}:{thousandths // 1000:02}{point}"
        f"{thousandths % 1000:03}"
    )
