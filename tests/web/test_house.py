"""The name, the logo and the pictures of the house on the screen of a table."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from common.contract.commands import StaffOff, StaffOn
from tests.support.subscribers.real import RealTable, spins
from tests.support.web.going import go
from tests.support.web.server import Teller
from tests.web.conftest import Serve
from tests.web.raw import ask
from tests.web.test_displays import say


def test_an_event_pushes_the_pictures_aside(
    serve: Serve, teller: Teller, page: Page, tmp_path: Path
) -> None:
    media = tmp_path / "media"
    media.mkdir()
    for name in ("b.png", "a.PNG"):
        Image.new("RGB", (64, 36), "navy").save(media / name, "PNG")
    (media / "c.txt").write_text("no picture")
    logo = tmp_path / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 10"/>')
    settings = {"house": "Gran Casino", "logo": str(logo), "media": str(media), "also": "en"}
    server = serve([("ruleta-1", False)], **settings)
    server.hears()
    table = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-1")
    *before, opened, closed, fell = spins([25, 0, 12])
    say(teller, table, before)
    go(page, f"{server.address}/table/ruleta-1")
    expect(page.locator("img.house")).to_have_attribute("alt", "Gran Casino")
    expect(page.locator(".media img")).to_have_attribute("src", "/house/media/a.PNG")
    page.wait_for_function("document.querySelector('.media img').naturalWidth === 64")
    expect(page.locator(".second-word")).to_have_text("green")
    say(teller, table, [opened, closed])
    expect(page.locator(".media")).to_have_count(0)
    say(teller, table, [fell])
    expect(page.locator(".media")).to_be_visible()


def test_only_pictures_of_the_folder_are_served(
    serve: Serve, teller: Teller, tmp_path: Path
) -> None:
    media = tmp_path / "media"
    media.mkdir()
    (media / "c.txt").write_text("no picture")
    (tmp_path / "beside.png").write_bytes(b"secret")
    (media / "folder.png").mkdir()
    server = serve([("ruleta-1", False)], media=str(media))
    for name in ("c.txt", "folder.png", "none.png", "..%2fbeside.png", "../beside.png", "%2e%2e"):
        assert ask(server, f"/house/media/{name}")[0] == 404, name
    assert ask(server, "/house/logo")[0] == 404


@pytest.mark.parametrize("dealer", [True, False])
def test_a_screen_names_the_croupier_only_where_the_house_wants_it(
    serve: Serve, teller: Teller, page: Page, dealer: bool
) -> None:
    server = serve([("ruleta-1", False)], dealer=dealer)
    server.hears()
    table = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-1")
    arrival = StaffOn(at=100.0, by="M. Lasa", role="table_head", person="Ane Vila", duty="croupier")
    say(teller, table, [*spins([25]), arrival])
    go(page, f"{server.address}/table/ruleta-1?still=1&lang=eu")
    expect(page.locator("#said")).to_contain_text("25")
    names = page.locator(".dealer")
    if dealer:
        expect(names).to_have_text("crupierra: Ane Vila")
        leave = StaffOff(
            at=101.0, by="M. Lasa", role="table_head", person="Ane Vila", duty="croupier"
        )
        say(teller, table, [leave])
    expect(names).to_have_count(0)
    assert dealer or "Ane" not in page.content()
