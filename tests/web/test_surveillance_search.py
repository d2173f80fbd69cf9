"""The filters of surveillance by touch: people, periods, times as they are written here."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import SigningKey
from playwright.sync_api import Browser, Page, expect

from common.people.jws import is_signed
from common.people.register import from_base64url, read_people, to_base64url
from subscribers.surveillance.archive import Query
from subscribers.surveillance.check_export import check
from subscribers.surveillance.open_archive import open_archive
from tests.support.people.staff import KEY_OF, SIGNER, secret
from tests.support.web.going import go
from tests.support.web.pit import PINS, Client
from tests.support.web.server import WebServer
from tests.web.surveillance import SITE, Room
from tests.web.test_surveillance import enter, search


@pytest.fixture(scope="module")
def room(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Riera deals the second of three rounds."""
    with ExitStack() as ending:
        made = Room(tmp_path_factory.mktemp("room"), ending)
        made.say("m-lasa", "r1", "session.open", minimum=500, currency="EUR")
        made.spin(1, "17")
        made.say("m-lasa", "r1", "staff.on", person="A. Riera", duty="croupier")
        made.spin(2, "5")
        made.say("m-lasa", "r1", "staff.off", person="A. Riera", duty="croupier")
        made.spin(3, "8")
        made.say("m-lasa", "r1", "staff.on", person="B. Pons", duty="croupier")
        made.keep()
        yield made


@pytest.fixture(scope="module")
def web(room: Room) -> WebServer:
    return room.serve()


@pytest.fixture
def tablet(browser: Browser) -> Iterator[Page]:
    size: Any = {"width": 1024, "height": 768}
    context = browser.new_context(
        viewport=size, has_touch=True, locale="en-US", timezone_id="Europe/Madrid"
    )
    yield context.new_page()
    context.close()


def begin_of(room: Room, type_: str) -> str:
    """When the first event of a type was."""
    with closing(open_archive(str(room.archive), read_only=True)) as archive:
        return next(archive.find(Query(types=(type_,), limit=1))).record.time


def test_the_rounds_of_a_croupier_are_found_by_his_name(
    room: Room, web: WebServer, tablet: Page
) -> None:
    enter(tablet, web.address, "s-mora", "es")
    expect(tablet.locator("tbody tr").first).to_be_visible()
    people = tablet.locator("[name=person]")
    on_duty = people.locator("optgroup[label='De servicio'] option")
    expect(on_duty).to_have_text(["A. Riera (crupier)", "B. Pons (crupier)"])
    expect(people.locator("optgroup[label='Lo dijo o firmó'] option")).to_have_text(["M. Lasa"])
    people.select_option("on_duty:A. Riera")
    expect(tablet.locator(".line[aria-label$=r1] [role=option]")).to_have_count(1)
    expect(tablet.locator("tbody")).to_contain_text("resultado: 5")
    expect(tablet.locator("tbody")).not_to_contain_text("resultado: 17")
    assert "on_duty=A.+Riera" in tablet.url
    tablet.locator("tbody button", has_text="resultado: 5").tap()
    expect(tablet.locator(".at-table")).to_have_text("En la mesa: A. Riera (crupier)")
    tablet.reload()
    expect(tablet.locator(".line[aria-label$=r1] [role=option]")).to_have_count(1)
    expect(people).to_have_value("on_duty:A. Riera")


def test_the_command_line_finds_the_same(room: Room) -> None:
    found = search(room, "--on-duty", "A. Riera", "--what", "result", "--lang", "es")
    assert [each["title"] for each in found] == ["resultado: 5"]


def test_a_touch_chooses_a_period(room: Room, web: WebServer, tablet: Page) -> None:
    enter(tablet, web.address, "s-mora", "es")

    def chosen() -> list[str | None]:
        pressed = tablet.locator(".chip[aria-pressed=true]")
        return [each.get_attribute("data-period") for each in pressed.all()]

    def since(type_: str) -> str:
        """The time of the first event of a type, as the field shows it."""
        shown: str = tablet.evaluate(
            """(time) => {
              const at = new Date(time);
              const two = (number) => String(number).padStart(2, "0");
              const day = [two(at.getDate()), two(at.getMonth() + 1), at.getFullYear()].join("/");
              const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
              return `${day} ${clock}`;
            }""",
            begin_of(room, type_),
        )
        return shown

    begin = tablet.locator("[name=from]")
    expect(tablet.locator("tbody tr").first).to_be_visible()
    assert chosen() == ["1h"]
    tablet.locator("[data-period='10min']").tap()
    expect(tablet.locator("[data-period='10min']")).to_have_attribute("aria-pressed", "true")
    assert "last=10min" in tablet.url
    tablet.locator("[name=table]").select_option("r1")
    tablet.locator("[data-period=session]").tap()
    expect(begin).to_have_value(since("session.opened"))
    assert chosen() == ["session"]
    tablet.locator("[name=person]").select_option("on_duty:A. Riera")
    tablet.locator("[data-period=shift]").tap()
    expect(begin).to_have_value(since("staff.arrived"))
    expect(tablet.locator("[name=to]")).to_have_value(since("staff.left"))
    tablet.locator("[data-period=day]").tap()
    expect(tablet.locator("[name=to]")).to_have_value("")
    begin.fill("mañana")
    assert chosen() == []
    assert "dd/mm/aaaa hh:mm" in begin.evaluate("field => field.validationMessage")
    begin.fill("")
    tablet.locator("[name=table]").select_option("p1")
    tablet.locator("[name=person]").select_option("")
    tablet.locator("[data-period=session]").tap()
    expect(tablet.locator(".status")).to_have_text("No hubo en los dos últimos días.")


@pytest.mark.parametrize(
    ("language", "times"),
    [
        (
            "es",
            {
                "26/11/2026 18:22:14": "26/11/2026 18:22:14",
                "6.1.2026 8:05": "06/01/2026 08:05:00",
                "2026-11-26T18:22": "26/11/2026 18:22:00",
                "26/11/2026": "26/11/2026 00:00:00",
                "31/02/2026 10:00": None,
                "24:00": None,
            },
        ),
        ("eu", {"2026/11/26 18:22": "2026/11/26 18:22:00", "2026/13/01": None}),
        ("en", {"26/11/2026 6:22 PM": None, "26/11/2026 6:22": "26/11/2026 06:22:00"}),
    ],
)
def test_a_time_is_written_as_here_with_24_hours(
    web: WebServer, tablet: Page, language: str, times: dict[str, str | None]
) -> None:
    """Whatever the browser's own language is; what is no time stays, and is refused."""
    enter(tablet, web.address, "s-mora", language)
    begin = tablet.locator("[name=from]")
    expect(tablet.locator("tbody tr").first).to_be_visible()
    for written, shown in times.items():
        begin.fill(written)
        begin.blur()
        expect(begin).to_have_value(shown or written)
        assert begin.evaluate("field => field.validity.valid") is (shown is not None)


def test_people_and_periods_are_for_who_may_see_the_table(room: Room, web: WebServer) -> None:
    stranger = Client(web.address)
    croupier = Client(web.address)
    assert croupier.sign_in("a-riera", PINS["a-riera"])[1]["ok"]
    watcher = Client(web.address)
    assert watcher.sign_in("s-mora", PINS["s-mora"])[1]["ok"]
    for path in ("people", "periods"):
        assert stranger.ask("GET", f"/surveillance/{path}")[0] == 401
        assert croupier.ask("GET", f"/surveillance/{path}")[0] == 403
        assert watcher.ask("GET", f"/surveillance/{path}")[0] == 200
        for query in ("from=lunch", f"on_duty={'x' * 200}", "to=2026-02-31T00:00:00Z"):
            assert watcher.ask("GET", f"/surveillance/{path}?{query}")[0] == 400
    for odd in ("%00", "%ff", "'%20OR%201=1--", "%F0%9F%83%8F", "0001-01-01T00:00:00Z"):
        status, body, _ = watcher.ask("GET", f"/surveillance/records?on_duty={odd}")
        assert (status, body["items"]) == (200, [])
    assert watcher.ask("GET", "/surveillance/people?from=0001-01-01T00:00:00Z")[0] == 200
    assert watcher.ask("GET", "/surveillance/people?from=9999-12-31T23:59:59Z")[0] == 200


def test_what_is_listed_is_exported_and_signed(
    room: Room, web: WebServer, tablet: Page, tmp_path: Path
) -> None:
    """Exactly the records of the list, with the query, the archive's head and the exporter; the
    signature is that of the person's key in the people file.
    """
    enter(tablet, web.address, "s-mora", "es")
    expect(tablet.locator("tbody tr").first).to_be_visible()
    tablet.locator("[name=table]").select_option("r1")
    tablet.locator("[name=what]").select_option("result")
    expect(tablet.locator("tbody tr")).to_have_count(3)
    tablet.locator(".export summary").tap()
    tablet.locator("[name=export_pin]").fill("000000")
    tablet.locator(".export [type=submit]").tap()
    expect(tablet.locator(".exported")).to_contain_text("no es correcto")
    room.spin(4, "9")
    room.keep()  # after the list
    tablet.locator("[name=export_pin]").fill(PINS["s-mora"])
    with tablet.expect_download() as started:
        tablet.locator(".export [type=submit]").tap()
    path = tmp_path / started.value.suggested_filename
    started.value.save_as(path)
    with zipfile.ZipFile(path) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    assert set(files) == {"records.csv", "records.pdf", "statement.json", "statement.jws"}
    rows = list(csv.DictReader(io.StringIO(files["records.csv"].decode(), newline="")))
    assert [json.loads(row["body"])["outcome"]["number"] for row in rows] == [8, 5, 17]
    shown = tablet.locator("tbody tr").evaluate_all("all => all.map((row) => row.dataset.number)")
    assert [row["number"] for row in rows] == shown
    statement = json.loads(files["statement.json"])
    assert (statement["site"], statement["person"], statement["records"]) == (SITE, "s-mora", 3)
    assert (statement["query"]["table"], statement["query"]["what"]) == ("r1", "result")
    assert "from" in statement["query"]
    with closing(open_archive(str(room.archive), read_only=True)) as archive:
        assert max(map(int, shown)) <= statement["through"] < archive.newest_number()
    assert statement["checkpoints"][0]["hash"]
    assert statement["files"] == {
        name: sha256(files[name]).hexdigest() for name in ("records.csv", "records.pdf")
    }
    x = to_base64url(bytes(SigningKey(secret(KEY_OF["s-mora"])).verify_key))
    assert is_signed(files["statement.jws"], x)
    payload = files["statement.jws"].split(b".")[1]
    assert from_base64url(payload.decode()) == files["statement.json"]
    assert not is_signed(files["statement.jws"][:-8] + b"AAAAAAAA", x)
    assert files["records.pdf"].startswith(b"%PDF-")
    people = read_people(room.people.read_bytes(), SITE, SIGNER)
    assert check(path, people)[1].id == "s-mora"


def test_an_export_is_refused_to_who_may_not_see_or_sends_what_it_likes(
    room: Room, web: WebServer
) -> None:
    croupier, watcher = Client(web.address), Client(web.address)
    for who, client in (("a-riera", croupier), ("s-mora", watcher)):
        assert client.sign_in(who, PINS[who])[1]["ok"]
    body = {"through": 10**6, "pin": PINS["s-mora"]}
    path = "/surveillance/export"
    assert Client(web.address).ask("POST", path, body)[0] == 401
    assert watcher.ask("POST", path, body)[0] == 403  # no token
    own = {"X-Novamas-Token": croupier.page["token"]}
    assert croupier.ask("POST", path, {**body, "pin": PINS["a-riera"]}, own)[0] == 403
    token = {"X-Novamas-Token": watcher.page["token"]}
    assert watcher.ask("GET", path)[0] == 405
    for odd in ("from=lunch", "what=voyd", f"on_duty={'x' * 200}"):
        assert watcher.ask("POST", f"{path}?{odd}", body, token)[0] == 400
    for wrong in ({}, {"pin": PINS["s-mora"]}, {**body, "through": -1}, {**body, "more": 1}):
        assert watcher.ask("POST", path, wrong, token)[0] == 400
    assert watcher.ask("POST", path, {**body, "pin": "1"}, token)[1]["denied"] == "wrong"
    none = watcher.ask("POST", path, {**body, "through": 0}, token)[1]
    assert (none["ok"], "data" in none) == (False, False)
    for listed in ("through=x", "through=-1"):
        assert watcher.ask("GET", f"/surveillance/records?{listed}")[0] == 400
    assert PINS["s-mora"] not in web.log()


@pytest.mark.parametrize("size", [(390, 844), (1024, 768), (1920, 1080)])
def test_every_block_can_be_hit_and_crowded_rounds_are_one(
    web: WebServer, browser: Browser, size: tuple[int, int]
) -> None:
    """WCAG 2.5.8: 24 pixels, none on another. What is drawn as one shows its rounds."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=True)
    page = context.new_page()
    enter(page, web.address, "s-mora", "es")
    blocks = page.locator(".line[aria-label$=r1] [role=option]")
    expect(blocks).to_have_count(1)
    expect(blocks.locator(".number")).to_contain_text("×")
    blocks.tap()
    rounds = page.locator(".within:not([hidden]) button")
    expect(rounds.nth(1)).to_contain_text("Jugada 2")
    boxes = [each.bounding_box() for each in (*blocks.all(), *rounds.all())]
    assert all(box and min(box["width"], box["height"]) >= 24 for box in boxes)
    rounds.nth(1).tap()
    expect(page.locator(".detail h2")).to_have_text("Jugada 2 · r1 · sesión 1")
    begin, end = page.evaluate(
        """() => {
          const times = [...document.querySelectorAll(".detail .events time")];
          const first = Date.parse(times[0].dateTime);
          return [first - 15000, first + 15000].map((at) => new Date(at).toISOString());
        }"""
    )
    go(page, f"{web.address}/surveillance?lang=es&table=r1&from={begin}&to={end}")
    expect(blocks.first).to_be_visible()
    boxes = [each.bounding_box() for each in blocks.all()]
    assert all(box and min(box["width"], box["height"]) >= 24 for box in boxes)
    edges = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
    assert all(one[1] <= other[0] for one, other in pairwise(sorted(edges)))
    context.close()
