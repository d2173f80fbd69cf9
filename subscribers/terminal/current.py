"""Reasons why a picture is outdated, as text with their times, and its drawing without colours."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style

from common.contract.messages.messages import text, word
from subscribers.terminal.table_view import TableView

GREY = Style(color="bright_black")
UNRESOLVED = "round-unresolved"
"""Id of the alert about rounds without a result."""
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
    """Return the reasons why the displayed result is outdated, one line each; empty if it is
    current.
    """
    return [*_stopped(view), *_unresolved(view)]


def _stopped(view: TableView) -> Iterator[str]:
    """Yield why the table gives no results: a fault, or silent devices."""
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
    """Yield the rounds without a result that follow the last result."""
    raised = str((view.alerts.get(UNRESOLVED) or {}).get("raised") or "")
    for number in view.unresolved:
        if number > view.decided:
            title = text("display.round_without", view.language, round=number)
            at = next(
                (spin.time for spin in view.spins if spin.round == number and spin.time), raised
            )
            yield since(title, at, view.language)


def since(state: str, time: str, language: str) -> str:
    """Return a text with the local time since when it applies. ``time``: UTC, ISO 8601."""
    return f"{state}, {text('display.since', language, time=clock(time))}" if time else state


def clock(time: str) -> str:
    """Return the local time of day; an unreadable time unchanged."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%H:%M:%S")
    except ValueError:
        return time
