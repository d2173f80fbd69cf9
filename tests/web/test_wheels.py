"""The pages of wheels and shoes, in Chromium, over an archive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from common.contract.messages.messages import LANGUAGES
from common.people.register import checked_people, write_people
from subscribers.statistics.words import words
from subscribers.surveillance.open_archive import open_archive
from tests.support.people.staff import HEAD, LASA, SITE_KEY, VIDAL
from tests.support.subscribers.evenings import DEALERS, evenings
from tests.support.web.floor import Floor
from tests.support.web.going import go
from tests.support.web.pit import PINS, Client, console, sign_in
from tests.support.web.server import WebServer
from tests.web.conftest import House, Serve
from tests.web.raw import ask
from tests.web.test_accessible import HD, PHONE, faults


@pytest.fixture
def examined(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that favours four pockets, and one that is fair."""
    random, path = Random(6), tmp_path_factory.mktemp("archive") / "archive.sqlite3"
    places = [
        random.randrange(4) if random.random() < 0.25 else random.randrange(37) for _ in range(600)
    ]
    opened = open_archive(str(path))
    opened.store(evenings(places, table="ruleta-1"))
    opened.store(evenings([random.randrange(37) for _ in range(60)], table="ruleta-2"))
    opened.close()
    return path


@pytest.fixture(scope="module")
def server(house: House, archive: Path) -> WebServer:
    return house.serve([("ruleta-1", False)], archive=str(archive))


def test_every_word_is_there_in_five_languages() -> None:
    assert all(set(of) == set(LANGUAGES) for of in words().values())


@pytest.mark.essential
def test_wheels_are_shown_in_five_languages_and_axe_finds_nothing(
    server: WebServer, archive: Path, examined: Page
) -> None:
    found = []
    for number, language in enumerate(LANGUAGES):
        size = (HD, PHONE)[number % 2]
        go(examined, f"{server.address}/wheels?lang={language}")
        expect(examined.locator("tbody tr")).to_have_count(2)
        expect(examined.locator(".alarm")).to_have_count(1)
        found += faults(examined, size)
        examined.get_by_role("link", name="ruleta-1").click()
        expect(examined.locator("svg rect")).to_have_count(37)
        expect(examined.locator("main")).to_contain_text(DEALERS[0])
        expect(examined.locator("svg.light.red")).to_have_count(1)
        expect(examined.locator(".verdict strong")).to_have_text(f"{words()['red'][language]}.")
        expect(examined.locator("svg.ring .band")).to_have_count(1)
        assert examined.evaluate("document.documentElement.scrollWidth") <= size[0]
        expect(examined.locator("html")).to_have_attribute("lang", language)
        found += faults(examined, size)
    assert found == [], "\n".join(map(str, found))
    assert examined.locator("svg rect.suspect").count() > 0
    kept = open_archive(str(archive))
    kept.store(evenings([5] * 10, table="ruleta-3"))
    kept.close()
    go(examined, f"{server.address}/wheels?lang=en")
    expect(examined.locator("tbody tr")).to_have_count(3)


def test_a_wheel_of_few_spins_is_not_known_yet(server: WebServer, examined: Page) -> None:
    """The number that is missing is that of docs/inspector/statistics.md."""
    go(examined, f"{server.address}/wheels?lang=es")
    examined.get_by_role("link", name="ruleta-2").click()
    expect(examined.locator("svg.light.amber")).to_have_count(1)
    expect(examined.locator(".verdict")).to_have_text(
        "Aún no se sabe. Nada encontrado tras 60 jugadas; faltan 3\u202f406 para ver, nueve de "
        "cada diez veces, un sector de nueve números que sale un 20 % de más."
    )
    expect(examined.locator("main")).to_contain_text("primera jugada conocida")


@pytest.mark.parametrize("path", ["/wheels/ruleta-1/7", "/wheels/x/0", "/wheels/%3Cb%3E/1"])
def test_a_wheel_that_is_not_there(server: WebServer, path: str) -> None:
    status, body = ask(server, path)
    assert status == 404
    assert b"<b>" not in body


def test_without_an_archive_the_page_shows_it(serve: Serve, tmp_path: Path) -> None:
    for settings, words_of in (
        ({}, b"has no archive"),
        ({"archive": str(tmp_path / "none" / "a.sqlite3")}, b"cannot be read"),
    ):
        status, body = ask(serve([("ruleta-1", False)], **settings), "/wheels")
        assert status == 503
        assert words_of in body


def test_where_people_sign_in_only_some_see_it(
    tmp_path: Path, ending: ExitStack, examined: Page
) -> None:
    floor = Floor(tmp_path, ending)
    for person, said_to in (("m-lasa", "no tiene archivo"), ("a-riera", "Su función no ve")):
        examined.context.clear_cookies()
        go(examined, f"{floor.web.address}/wheels")
        expect(examined.locator("#who")).to_be_visible()
        sign_in(examined, floor.web.address, person, "es")
        go(examined, f"{floor.web.address}/wheels")
        expect(examined.locator("main")).to_contain_text(said_to)


def test_a_person_sees_the_tables_of_his_enrolment_at_this_site_alone(
    tmp_path: Path, serve: Serve
) -> None:
    """Another site has tables of the same ids in the archive."""
    path = tmp_path / "archive.sqlite3"
    opened = open_archive(str(path))
    for table in ("ruleta-1", "ruleta-2"):
        records = evenings([5] * 10, table=table)
        opened.store(records)
        there = (record.body.replace(b"madrid-1", b"palma-2") for record in records)
        opened.store(
            [
                replace(each, site="palma-2", body=body)
                for each, body in zip(records, there, strict=True)
            ]
        )
    opened.close()
    here = replace(LASA, tables=("ruleta-2",), pits=())
    people = tmp_path / "people.jsonl"
    written = write_people(
        checked_people(replace(HEAD, site="madrid-1", pits={}), [here, VIDAL]), SITE_KEY
    )
    people.write_bytes(written)
    pit = console(tmp_path / "pit", "madrid-1", people)
    tables = [("ruleta-1", False), ("ruleta-2", False)]
    server = serve(tables, site="madrid-1", archive=str(path), pit=pit)
    inspector, director = Client(server.address), Client(server.address)
    assert inspector.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]
    assert director.sign_in("t-vidal", PINS["t-vidal"])[1]["ok"]

    def links(client: Client) -> list[str]:
        status, page, _ = client.ask("GET", "/wheels")
        assert (status, "palma-2" in page) == (200, False)
        return re.findall(r'href="(/wheels/[^"?]+)', page)

    both, [own] = links(director), links(inspector)
    assert len(both) == 2
    assert own in both
    assert "ruleta-2" in own
    [other] = {*both} - {own}
    assert [inspector.ask("GET", path)[0] for path in (own, other)] == [200, 404]
    assert [director.ask("GET", path)[0] for path in (own, other)] == [200, 200]
