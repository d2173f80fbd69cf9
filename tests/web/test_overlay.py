"""A display that is laid over a video: without ground, and as late as its picture."""

from __future__ import annotations

import io
import re

from PIL import Image
from playwright.sync_api import Page, expect

from tests.support.subscribers.real import RealTable, spins
from tests.support.web.going import go
from tests.support.web.server import Teller
from tests.web.conftest import Serve
from tests.web.test_displays import say


def opacity(page: Page) -> int:
    """Alpha of the lowest pixel at the left: 0 is transparent."""
    taken = page.screenshot(omit_background=True, animations="disabled")
    with Image.open(io.BytesIO(taken)) as image:
        alpha = image.convert("RGBA").getchannel("A")
        return alpha.tobytes()[-image.width]


def test_an_overlay_is_as_late_as_its_video_and_lost_at_once(
    serve: Serve, teller: Teller, page: Page
) -> None:
    """The clock of the overlay's page stands still until the test moves it."""
    server = serve([("ruleta-1", False)])
    server.hears()
    table = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-1")
    *first, opened, closed, fell = spins([25, 17])
    say(teller, table, first)
    assert page.context.browser is not None
    late = page.context.browser.new_page()
    late.clock.install()
    address = f"{server.address}/table/ruleta-1?still=1"
    go(late, f"{address}&overlay=1&delay=4")
    go(page, address)
    number, shown = late.locator("#said"), page.locator("#said")
    expect(shown).to_have_text(re.compile(r"^25 "))
    late.clock.run_for(5000)
    expect(number).to_have_text(re.compile(r"^25 "))
    say(teller, table, [opened, closed, fell])
    expect(shown).to_have_text(re.compile(r"^17 "))
    expect(number).to_have_text(re.compile(r"^25 "))
    late.clock.run_for(3000)
    expect(number).to_have_text(re.compile(r"^25 "))
    late.clock.run_for(2000)
    expect(number).to_have_text(re.compile(r"^17 "))
    assert opacity(late) == 0
    assert opacity(page) == 255
    expect(late.locator("a")).to_have_count(0)
    server.kill()
    late.clock.run_for(9000)
    expect(late.locator(".strip.trouble")).to_be_visible()


def test_only_an_overlay_is_late(serve: Serve, teller: Teller, page: Page) -> None:
    server = serve([("ruleta-1", False)])
    server.hears()
    table = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-1")
    say(teller, table, spins([25]))
    page.clock.install()
    go(page, f"{server.address}/table/ruleta-1?delay=60&still=1")
    expect(page.locator("#said")).to_have_text(re.compile(r"^25 "))
