"""How tests open a page, and wait for its look."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Error, Page

from tests.support.waiting import until

ENDED = "net::ERR_NETWORK_CHANGED"
"""Chromium ends all its connections when an address of its machine comes or goes."""
INTERRUPTED = "is interrupted by another navigation"
"""By the page that it then shows instead, or by the project's page, which reloads itself."""
LEFT = "Execution context was destroyed"
"""By a page that came in the place of the one that was asked."""
LOOKS = """[...document.querySelectorAll("link[rel=stylesheet]")].every(each => {
  const ofSite = /(?<!\\/static)\\/theme\\.css$/.test(new URL(each.href).pathname)
  try { return each.sheet.cssRules.length > 0 || ofSite }
  catch { return false }
})"""
"""Whether all style sheets are there: one that failed is empty, as the site's may be, or cannot be
read.
"""


def go(page: Page, address: str) -> None:
    """Open a page. Where the page itself is lost, no script runs, so it is opened again; later
    losses are requested again by the page.
    """
    while True:
        try:
            page.goto(address)
        except Error as error:
            if ENDED not in error.message and INTERRUPTED not in error.message:
                raise
        else:
            return


def look(page: Page, script: str) -> Any:
    """Return the value of a script in a page, or None if another page has come in its place
    meanwhile: while a test waits for something, the page may load itself again or let a person in.
    """
    try:
        return page.evaluate(script)
    except Error as error:
        if LEFT not in error.message:
            raise
        return None


def until_it_looks(page: Page) -> None:
    """Wait until a page has its style sheets."""
    until("its style sheets", lambda: look(page, LOOKS))
