"""Whether what a picture shows still holds, and since when not, in words; and how it is drawn then:
without a colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style

from controller.contract.messages.messages import text, word
from subscribers.terminal.table_view import TableView

GREY = Style(color="bright_black")
UNRESOLVED = "round-unresolved"
"""The alert of rounds that have no result."""
SILENT = ("stale", "lost", "unintelligible", "open")
"""States of a link whose device is silent."""


class Greyed:
    """A picture drawn in grey, without its colours."""

    def __init__(self, drawn: RenderableType) -> None:
        self._drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._drawn, options):
            yield Segment(segment.text, None if segment.control else GREY, segment.control)


def outdated(view: TableView) -> list[str]:
    """Why the result that is shown is not the current one: one line for each reason; none if it
    is.
    """
    return [*_stands_still(view), *_unresolved(view)]


def _stands_still(view: TableView) -> Iterator[str]:
    """The table gives no results: it is at fault, or a device is silent."""
    status, language = view.state.get("status"), view.language
    if status == "fault":
        yield since(word("status", "fault", language), str(view.state.get("time") or ""), language)
    if status != "stale":
        return
    for device, link in (view.state.get("devices") or {}).items():
        if link.get("state") in SILENT:
            state = word("link", str(link["state"]), language)
            yield since(f"{device} {state}", str(link.get("since") or ""), language)


def _unresolved(view: TableView) -> Iterator[str]:
    """Rounds without a result after the last one that has one."""
    raised = str((view.alerts.get(UNRESOLVED) or {}).get("raised") or "")
    for number in view.unresolved:
        if number > view.decided:
            said = text("display.round_without", view.language, round=number)
            at = next(
                (each.time for each in view.spins if each.round == number and each.time), raised
            )
            yield since(said, at, view.language)


def since(what: str, time: str, language: str) -> str:
    """Something that is so since a time: UTC, ISO 8601, by the clock of this machine."""
    return f"{what}, {text('display.since', language, time=clock(time))}" if time else what


def clock(time: str) -> str:
    """The time of day of this machine; as it is where it cannot be read."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return time
