"""Fingers on the page of the console: whatever a command asks for is touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as NotThereError

from subscribers.console.hands import hand_text
from tests.support.waiting import until
from tests.support.web.pit import confirm

TOUCH_TIMEOUT_MILLISECONDS = 3000
"""Milliseconds in which the page must have a button that a picture brought."""
TRIES = 2


def give(page: Page, who: str, table: str, command: str, fields: dict[str, Any]) -> str | None:
    """Touch a table, a command, what it says, and *Confirm*. Returns the refusal, or None.

    A dialog is made of what the page knew when it was opened. Where a choice is missing the
    person goes back and touches the command again.
    """
    dialog = page.locator("dialog[open]")
    for left in reversed(range(TRIES)):
        choose(page, table)
        touch(page.locator(f".panel [data-command='{command}']"), lambda: dialog.count() > 0)
        try:
            for name, value in fields.items():
                fill(dialog.locator(f"[data-field='{name}']"), value)
        except NotThereError:
            dialog.locator("[data-do=back]").click()
            if not left:
                raise
        else:
            break
    confirm(page, who if dialog.locator(".again").count() else None)
    return answer(page)


def take_back(page: Page, table: str, who: str) -> str | None:
    """Touch *Take back* beside the latest thing that was done with a hand, and *Confirm*."""
    choose(page, table)
    done = page.locator(".panel .done li").filter(has_text=hand_text(who, "en"))
    done.locator("button").first.click()
    confirm(page)
    return answer(page)


def answer(page: Page) -> str | None:
    """The refusal in the dialog, from which the person goes back; None when it is closed."""
    notice = page.locator("dialog[open] .told:not(.sent)")

    def over() -> bool:
        return page.locator("dialog[open]").count() == 0 or bool(
            notice.count() and notice.first.text_content()
        )

    until("the console answers", over)
    if page.locator("dialog[open]").count() == 0:
        return None
    refusal = notice.first.text_content()
    page.locator("dialog[open] [data-do=back]").click()
    return refusal


def choose(page: Page, table: str) -> None:
    """Touch the table, if it is not chosen already."""
    tile = page.locator(f".tile[data-table='{table}']")
    touch(tile, lambda: tile.get_attribute("aria-pressed") == "true")


def touch(button: Locator, done: Callable[[], bool]) -> None:
    """Touch a button until it is seen to have been: the picture may change under a finger."""

    def seen() -> bool:
        if not done():
            button.click()
        return done()

    until("the touch is taken", seen)


def fill(field: Locator, value: Any) -> None:
    """Fill in one field of any type."""
    field.first.wait_for(state="attached", timeout=TOUCH_TIMEOUT_MILLISECONDS)
    if field.evaluate("each => each.tagName === 'DETAILS' && !each.open"):
        field.locator("summary").first.click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
    if isinstance(value, dict):
        for who, each in value.items():
            name = field.page.get_by_text(hand_text(who, "en"), exact=True)
            row = field.locator(".by-hand > details").filter(has=name)
            row.locator("summary").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
            fill(row, each)
    elif field.locator(".cards").count():
        _cards(field, [value] if isinstance(value, str) else value)
    elif field.locator(".dice").count():
        for index, face in enumerate(value):
            _press(field.locator(".dice > .choices").nth(index), face)
    elif field.locator("[data-more]").count() and not _has(field, value):
        field.locator("[data-more]").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
        fill(field, value)
    elif field.locator("[data-key]").count():
        _keys(field, value)
    elif field.locator("input").count():
        text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        field.locator("input").fill(text, timeout=TOUCH_TIMEOUT_MILLISECONDS)
    elif isinstance(value, list):
        for button in field.locator("[data-value]").all():
            number = str(button.get_attribute("data-value"))
            if (button.get_attribute("aria-pressed") == "true") != (number in map(str, value)):
                # its row is redrawn at each touch
                field.locator(f"[data-value='{number}']").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
    else:
        _press(field, value)


def _has(field: Locator, value: Any) -> bool:
    """Whether one of the field's buttons is this value."""
    return field.locator(f"[data-value='{value}']").count() > 0


def _press(field: Locator, value: Any) -> None:
    word = str(value).lower() if isinstance(value, bool) else str(value)
    button = field.locator(f"[data-value='{word}']")
    button.wait_for(timeout=TOUCH_TIMEOUT_MILLISECONDS)
    if button.get_attribute("aria-pressed") != "true":
        button.click(timeout=TOUCH_TIMEOUT_MILLISECONDS)


def _keys(field: Locator, value: Any) -> None:
    is_amount = field.locator("[data-amount]").count() > 0
    field.locator("[data-key=clear]").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
    for key in f"{value / 100:g}" if is_amount else str(value):
        field.locator(f"[data-key='{key}']").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)


def _cards(field: Locator, cards: list[str]) -> None:
    field.locator(".given button").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
    for card in cards:
        if card == "X":
            field.locator("[data-suit=X]").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
            continue
        field.locator(f"[data-rank='{card[0]}']").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
        field.locator(f"[data-suit='{card[1]}']").click(timeout=TOUCH_TIMEOUT_MILLISECONDS)
