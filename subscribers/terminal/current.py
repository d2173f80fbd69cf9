"""Times for people, and a drawing without its colours."""

from __future__ import annotations

from datetime import datetime

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style

from common.contract.messages.messages import text

GREY = Style(color="bright_black")
END_OF_LINE, NO_BREAK_SPACE = "\n", "\u00a0"
"""Drawn, though they count as not printable. The space is that of amounts."""


class Greyed:
    """A picture drawn in grey, without its colours."""

    def __init__(self, drawn: RenderableType) -> None:
        self._drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._drawn, options):
            yield Segment(segment.text, None if segment.control else GREY, segment.control)


class Printable:
    """A picture without control characters, so that no text from outside moves the cursor."""

    def __init__(self, drawn: RenderableType) -> None:
        self._drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._drawn, options):
            shown = "".join(filter(_is_shown, segment.text))
            yield segment if segment.control else Segment(shown, segment.style)


def _is_shown(character: str) -> bool:
    return character.isprintable() or character in (END_OF_LINE, NO_BREAK_SPACE)


def since(state: str, time: str, language: str) -> str:
    """Return a text with the local time since when it applies. ``time``: UTC, ISO 8601."""
    return f"{state}, {text('display.since', language, time=clock(time))}" if time else state


def clock(time: str) -> str:
    """Return the local time of day; an unreadable time unchanged."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return time
