"""The archive searched at a terminal and in a browser, and sealed cards for who may see them."""

from __future__ import annotations

import http.client
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from common.contract.messages.messages import LANGUAGES
from common.contract.times import parse_utc
from subscribers.surveillance.archive import Query
from subscribers.surveillance.cards import main as cards_main
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.search import main as search_main
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.going import go
from tests.support.web.pit import PINS, Client
from tests.support.web.server import WebServer
from tests.web.surveillance import HIDDEN, LAST, Room
from tests.web.test_accessible import faults

SHOWN = ("--table", "p1", "--round", "1", "--as", "s-mora", "--why", "a player complains")


@pytest.fixture(scope="module")
def room(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """A roulette with a void spin among others, and a round of poker with hidden cards."""
    with ExitStack() as ending:
        made = Room(tmp_path_factory.mktemp("room"), ending)
        made.say("m-lasa", "r1", "session.open", minimum=500, currency="EUR")
        made.spin(1, "17")
        made.void(2)
        made.spin(3, "5")
        made.deal()
        made.keep()
        for who in ("s-mora", "m-lasa"):
            made.pin(who)
        yield made


@pytest.fixture(scope="module")
def web(room: Room) -> WebServer:
    return room.serve()


def program(name: str, settings: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            f"subscribers.surveillance.{name}",
            f"--settings={settings}",
            *words,
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "TZ": "Europe/Madrid"},
    )


def searched(settings: str, *words: str) -> tuple[int, str, str]:
    """The exit status of a search and what it printed, within this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = search_main([f"--settings={settings}", "search", *words])
        except SystemExit as ended:
            status = int(ended.code or 0)
    return status, out.getvalue(), err.getvalue()


def search(room: Room, *words: str) -> list[dict[str, Any]]:
    status, out, err = searched(room.search_settings(), *words)
    assert status == 0, err
    return [json.loads(line) for line in out.splitlines()]


def test_a_void_spin_of_an_hour_ago(room: Room) -> None:
    [void] = search(room, "--table", "r1", "--from", "1h", "--what", "void", "--lang", "es")
    assert (void["round"], void["title"]) == (2, "nula: bola en el sentido del cilindro")
    assert void["article"].startswith("Decreto 159/2002")
    assert void["law"] == void["body"]["law"]
    whole = search(room, "--table", "r1", "--round", "2")
    assert [event["seq"] for event in whole] == sorted(event["seq"] for event in whole)
    [wrong] = [each for each in whole if each.get("what") == "ball_with_rotor" and "frames" in each]
    assert wrong["frames"][0]["frame"].startswith("*X;3;002;")
    assert [(each["id"], each["name"]) for each in whole[-1]["signed"]] == [("m-lasa", "M. Lasa")]


def test_every_filter_finds_and_leaves_out(room: Room) -> None:
    assert {each["law"] for each in search(room, "--rule", "ARA02-007")} == {"ARA02-007"}
    assert all(
        "art. 3" in each["article"] for each in search(room, "--article", "Decreto 159/2002")
    )
    assert {each["table"] for each in search(room, "--person", "m. lasa")} == {"r1", "p1"}
    assert len(search(room, "--what", "ball_with_rotor", "--what", "void")) == 2
    last = ("--last", "--limit", "1", "--table", "r1", "--what", "event")
    assert [event["type"] for event in search(room, *last)] == ["round.result"]
    [turned] = search(room, "--card", LAST)
    assert (turned["type"], turned["body"]["card"]) == ("card.dealt", LAST)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--site", "pal"), "no site 'pal'; did you mean `palma`?"),
        (("--table", "rr1"), "no table 'rr1'; did you mean `r1`?"),
        (("--what", "voyd"), "no search term 'voyd'; did you mean `void`?"),
        (("--rule", "ARA02-9999"), "no rule 'ARA02-9999'; did you mean"),
        (("--from", "lunch"), "'lunch' is not a time; write 1h"),
        (("--round", "2"), "--round: name the table"),
        (("--round", "x"), "give a whole number from 1"),
    ],
)
def test_a_misspelt_search_is_reported(room: Room, words: tuple[str, ...], said: str) -> None:
    status, out, err = searched(room.search_settings(), *words)
    assert (status, out) == (2, "")
    assert said in err


def test_an_archive_that_is_not_there(room: Room, tmp_path: Path) -> None:
    settings = json.dumps({"archive": str(tmp_path / "none.sqlite3"), "site": "s"})
    ended = program("search", settings, "search")
    assert ended.returncode == 1
    assert "none.sqlite3" in ended.stderr
    assert "Traceback" not in ended.stderr


def cards(room: Room, *words: str, who: str = "s-mora") -> subprocess.CompletedProcess[str]:
    pin = ("--pin-file", str(room.folder / f"{who}.pin"))
    return program("cards", room.cards_settings(), "cards", *SHOWN, *pin, *words)


def accesses(room: Room) -> list[dict[str, Any]]:
    with closing(open_archive(str(room.archive), read_only=True)) as archive:
        return [
            json.loads(row.record.body)
            for row in archive.find(Query(kinds=("access",), order="number"))
        ]


def test_cards_are_shown_to_the_role_and_the_look_is_kept_first(room: Room) -> None:
    before = len(accesses(room))
    ended = cards(room, "--key", str(room.key))
    assert ended.returncode == 0, ended.stderr
    shown = [json.loads(line) for line in ended.stdout.splitlines()]
    dealt = [picture for picture in shown if picture["type"] == "card.drawn"]
    assert [each["card"] for each in dealt][: len(HIDDEN)] == list(HIDDEN)
    places = [(each["to"], each["index"]) for each in dealt[: len(HIDDEN)]]
    assert places == [
        (("box:1", "dealer")[count % 2], count // 2 + 1) for count in range(len(HIDDEN))
    ]
    assert {picture["signed"] for picture in shown} == {"daemon"}
    [*_, last] = accesses(room)
    assert len(accesses(room)) == before + 1
    assert (last["person"], last["why"], last["round"]) == ("s-mora", "a player complains", 1)
    assert sorted(last["boxes"]) == sorted(picture["key"] for picture in shown)


@pytest.mark.parametrize(
    ("who", "more", "said"),
    [
        ("m-lasa", ("--as", "m-lasa"), "M. Lasa does not have the role surveillance"),
        ("m-lasa", (), "Name or PIN is wrong"),
        ("s-mora", ("--round", "9"), "the archive has no round 9 of p1"),
    ],
)
def test_an_unauthorised_person_sees_no_card(
    room: Room, who: str, more: tuple[str, ...], said: str
) -> None:
    before = accesses(room)
    ended = cards(room, "--key", str(room.key), *more, who=who)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert accesses(room) == before


def test_a_look_needs_a_key_and_a_reason(room: Room, capsys: pytest.CaptureFixture[str]) -> None:
    for more, said in (
        (("--why", "  ", "--key", str(room.key)), "give a reason"),
        ((), "no key: give"),
    ):
        assert cards_main([f"--settings={room.cards_settings()}", "cards", *SHOWN, *more]) == 1
        output = capsys.readouterr()
        assert (output.out, said in output.err) == ("", True)


def test_another_key_opens_nothing(room: Room, tmp_path: Path) -> None:
    other = tmp_path / "other.key"
    other.write_text("11" * 32)
    ended = cards(room, "--key", str(other))
    assert ended.returncode == 1
    assert {json.loads(line)["signed"] for line in ended.stdout.splitlines()} == {"unopened"}


def enter(page: Page, address: str, who: str, language: str = "en") -> None:
    go(page, f"{address}/surveillance?lang={language}")
    page.locator("#who").fill(who)
    page.locator("#pin").fill(PINS[who])
    page.locator("button.main").click()


@pytest.mark.essential
def test_the_page_shows_a_void_spin_with_its_evidence_and_the_cards(
    room: Room, web: WebServer, page: Page
) -> None:
    enter(page, web.address, "s-mora", "es")
    void = page.locator("tbody button", has_text="nula: bola en el sentido del cilindro")
    void.click()
    detail = page.locator(".detail")
    expect(detail.locator("h2")).to_have_text("Jugada 2 · r1 · sesión 1")
    expect(detail.locator("blockquote").last).to_contain_text("bola nula")
    expect(detail.locator("blockquote").last).to_have_attribute("lang", "es")
    expect(detail).to_contain_text("*X;3;002;")
    expect(detail).to_contain_text("M. Lasa (m-lasa, jefe de mesa)")
    expect(detail).to_contain_text("surveillance clip --table r1 --session 1 --round 2")
    expect(detail.locator("a.clip")).to_have_count(0)  # no recordings are configured here
    assert "of_round=2" in page.url
    page.reload()
    expect(detail.locator("h2")).to_have_text("Jugada 2 · r1 · sesión 1")
    line = page.locator(".line[aria-label$=p1]")
    line.focus()
    line.press("End")
    line.press("Enter")
    expect(detail.locator("h2")).to_have_text("Jugada 1 · p1 · sesión 1")
    expect(page.locator(".hole")).to_have_count(0)
    page.locator("[name=why]").fill("queja")
    page.locator("[name=pin]").fill("000000")
    page.locator(".cards [type=submit]").click()
    expect(page.locator(".cards .told")).to_contain_text("no es correcto")
    known = len(accesses(room))
    page.locator("[name=pin]").fill(PINS["s-mora"])
    page.locator(".cards [type=submit]").click()
    expect(page.locator(".hole .card").first).to_have_text("A♥")
    expect(page.locator(".hole .card")).to_have_count(len(HIDDEN))
    assert len(accesses(room)) == known + 1
    assert "Ah" not in page.url
    assert accesses(room)[-1]["why"] == "queja"
    page.locator(".cards button", has_text="Ocultar").click()
    expect(page.locator(".hole")).to_have_count(0)


def test_a_round_has_its_clip_to_play_and_as_a_link(room: Room, tmp_path: Path, page: Page) -> None:
    with closing(open_archive(str(room.archive), read_only=True)) as archive:
        [opened] = archive.find(Query(tables=("r1",), types=("round.opened",), session=1, round=2))
    film = tmp_path / "r1" / f"{int(parse_utc(opened.record.time)) - 10}.mkv"
    film.parent.mkdir()
    film_of = "testsrc=size=64x48:rate=2:duration=300"
    drawn = ("-f", "lavfi", "-i", film_of, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "2")
    subprocess.run(["ffmpeg", "-v", "error", *drawn, str(film)], check=True)
    web = room.serve(video={"folder": str(tmp_path), "pattern": "{camera}/%s.mkv"})
    enter(page, web.address, "s-mora")
    page.locator("tbody button", has_text="void: ball turned").click()
    link = page.locator(".detail a.clip")
    answer = page.request.get(f"{web.address}{link.get_attribute('href')}")
    assert (answer.status, answer.headers["content-type"]) == (200, "video/mp4")
    assert b"ftyp" in answer.body()[:16]
    for asked, status, said in (
        ("table=p1&session=1&round=1", 404, "no recording of camera p1"),
        ("table=nowhere&session=1&round=1", 404, "no event of round 1"),
        ("table=r1&session=1&round=x", 400, ""),
    ):
        answer = page.request.get(f"{web.address}/surveillance/clip?{asked}")
        assert (answer.status, said in answer.text()) == (status, True)
    assert Client(web.address).ask("GET", "/surveillance/clip?table=r1&session=1&round=2")[0] == 401
    cut: list[str] = []
    page.on("request", lambda asked: cut.append(asked.url) if "/clip?" in asked.url else None)
    page.locator(".detail .part button", has_text="Play the clip").click()
    video = page.locator(".detail video")
    expect(video).to_be_visible()
    page.wait_for_function("document.querySelector('.detail video').videoWidth === 64")
    page.wait_for_function("document.querySelector('.detail video').currentTime > 0")
    assert len(cut) == 1
    expect(page.locator(".detail .frames").first).to_be_visible()  # the evidence, beside it


def listed(page: Page) -> int:
    """How many records the page lists, once it does."""
    expect(page.locator("tbody tr").first).to_be_visible()
    return page.locator("tbody tr").count()


def test_new_records_are_announced(room: Room, web: WebServer, page: Page) -> None:
    page.add_init_script(
        """window.EventSource = class extends EventSource {
          constructor(address) {
            super(address);
            this.addEventListener("begin", () => (window.begun = true));
          }
        }"""
    )
    enter(page, web.address, "t-vidal")
    count = listed(page)
    page.wait_for_function("window.begun")
    room.spin(4, "8")
    room.keep()
    fresh = page.locator(".head > button")
    expect(fresh).to_contain_text("new: show")
    expect(page.locator("tbody tr")).to_have_count(count)
    fresh.click()
    expect(page.locator("tbody tr")).not_to_have_count(count)


def test_what_came_between_the_list_and_the_stream_is_listed(
    room: Room, web: WebServer, page: Page
) -> None:
    held: list[Route] = []
    page.route("**/surveillance/stream*", lambda route: held.append(route))
    with page.expect_request("**/surveillance/stream*"):
        enter(page, web.address, "t-vidal")
    count = listed(page)
    room.spin(5, "9")
    room.keep()
    held.pop().continue_()
    expect(page.locator("tbody tr")).not_to_have_count(count)


def test_events_of_an_absence_are_announced(room: Room, web: WebServer) -> None:
    vidal = Client(web.address)
    vidal.sign_in("t-vidal", PINS["t-vidal"])
    newest = vidal.ask("GET", "/surveillance/records")[1]["newest"]
    room.spin(6, "10")
    room.keep()
    now = vidal.ask("GET", "/surveillance/records")[1]["newest"]
    with closing(open_archive(str(room.archive), read_only=True)) as archive:
        tables = [row.record.table for row in archive.find(Query(order="number", after=newest))]
    assert "r1" in tables
    told = {"count": len(tables), "tables": sorted(set(tables)), "newest": now}
    for query, headers, kind, body in (
        (f"?after={newest}", {}, "new", told),
        ("?after=0", {"Last-Event-ID": str(newest)}, "new", told),
        ("", {}, "begin", now),
    ):
        assert first_of(vidal, f"/surveillance/stream{query}", headers) == (kind, str(now), body)
    for known in ("x", "1.5", "-1", "9" * 30):
        assert vidal.ask("GET", f"/surveillance/stream?after={known}")[0] == 400


def first_of(client: Client, path: str, headers: dict[str, str]) -> tuple[str, str, Any]:
    """The first event of a stream that is no sign of life alone: its kind, number and data."""
    with closing(http.client.HTTPConnection(client.host, timeout=TIMEOUT_SECONDS)) as line:
        line.request("GET", path, headers={"Cookie": client.cookie, **headers})
        said: dict[str, str] = {}
        for raw in line.getresponse():
            name, _, value = raw.decode().strip().partition(": ")
            said[name] = value
            if not name:
                if said["event"] != "beat":
                    return said["event"], said["id"], json.loads(said["data"])
                said = {}
    raise AssertionError("the stream ended")


def test_an_unauthorised_person_gets_a_notice(room: Room, web: WebServer) -> None:
    stranger = Client(web.address)
    assert stranger.ask("GET", "/surveillance/records")[0] == 401
    croupier = Client(web.address)
    assert croupier.sign_in("a-riera", PINS["a-riera"])[1]["ok"]
    status, said, _ = croupier.ask("GET", "/surveillance")
    assert status == 403
    assert "surveillance, inspector or director" in said
    for path in ("records", "timeline", "round?table=r1&session=1&round=2", "stream"):
        assert croupier.ask("GET", f"/surveillance/{path}")[0] == 403
    director = Client(web.address)
    assert director.sign_in("t-vidal", PINS["t-vidal"])[1]["ok"]
    assert director.ask("GET", "/surveillance/records")[0] == 200
    asked = {"table": "p1", "session": 1, "round": 1, "why": "x", "pin": PINS["t-vidal"]}
    token = {"X-Novamas-Token": director.page["token"]}
    known = accesses(room)
    assert director.ask("POST", "/surveillance/cards", asked, token)[0] == 403
    watcher = Client(web.address)
    assert watcher.sign_in("s-mora", PINS["s-mora"])[1]["ok"]
    asked["pin"] = PINS["s-mora"]
    assert watcher.ask("POST", "/surveillance/cards", asked)[0] == 403  # no token
    token = {"X-Novamas-Token": watcher.page["token"]}
    assert watcher.ask("POST", "/surveillance/cards", {**asked, "why": " "}, token)[0] == 400
    assert watcher.ask("POST", "/surveillance/cards", {**asked, "pin": "1"}, token)[1] == {
        "ok": False,
        "denied": "wrong",
        "text": "Name or PIN is wrong.",
    }
    assert accesses(room) == known
    for query in ("what=voyd", "from=lunch", "beyond=x", f"article={'x' * 200}"):
        assert watcher.ask("GET", f"/surveillance/records?{query}")[0] == 400
    status, body, headers = watcher.ask("POST", "/surveillance/cards", asked, token)
    assert (status, body["ok"], headers["cache-control"]) == (200, True, "no-store")


def test_tables_of_two_sites_with_the_same_ids_do_not_mix(room: Room, tmp_path: Path) -> None:
    """Another site in the archive, with identical messages at the same time."""
    both = tmp_path / "archive.sqlite3"
    with closing(open_archive(str(room.archive), read_only=True)) as archive:
        rows = [row.record for row in archive.find(Query(order="number"))]
    with closing(open_archive(str(both))) as archive:
        archive.store([*rows, *(msgspec.structs.replace(each, site="palma-2") for each in rows)])
    of_both = room.search_settings().replace(str(room.archive), str(both))

    def asked(*words: str) -> list[dict[str, Any]]:
        status, out, err = searched(of_both, *words)
        assert status == 0, err
        return [{**json.loads(line), "number": 0} for line in out.splitlines()]

    def alone(*words: str) -> list[dict[str, Any]]:
        return [{**each, "number": 0} for each in search(room, *words)]

    whole = ("--table", "r1", "--round", "2")
    assert asked(*whole) == alone(*whole)
    there = asked(*whole, "--site", "palma-2")
    assert there == [{**each, "site": "palma-2"} for each in alone(*whole)]
    void = ("--table", "r1", "--what", "void")
    own = alone(*void)[0]["site"]
    assert [each["site"] for each in asked(*void)] == [own, "palma-2"]
    assert {each["site"] for each in asked("--site", "palma-2")} == {"palma-2"}
    status, _, err = searched(of_both, *whole, "--site", "palma-2", "--site", own)
    assert (status, "name one site" in err) == (2, True)

    def looked(settings: str, *words: str) -> list[str]:
        pin = ("--pin-file", str(room.folder / "s-mora.pin"), "--key", str(room.key))
        ended = program("cards", settings, "cards", *SHOWN, *pin, *words)
        return [json.loads(line)["key"] for line in ended.stdout.splitlines()]

    of_both = room.cards_settings().replace(str(room.archive), str(both))
    boxes = looked(of_both)
    assert len(boxes) > len(HIDDEN)
    assert len({*boxes}) == len(boxes)
    assert looked(of_both, "--site", "palma-2") == boxes
    with closing(open_archive(str(both), read_only=True)) as archive:
        looks = [row.record.site for row in archive.find(Query(kinds=("access",), order="number"))]
    assert looks[-2:] == [own, "palma-2"]
    page = Client(room.serve(archive=str(both)).address)
    assert page.sign_in("s-mora", PINS["s-mora"])[1]["ok"]
    for path in ("records", "round?table=r1&session=1&round=2"):
        items = page.ask("GET", f"/surveillance/{path}")[1]["items"]
        assert {each["site"] for each in items} == {own}
    drawn = page.ask("GET", "/surveillance/timeline?from=2020-01-01T00:00:00.000000Z")[1]
    marks = {
        (point["table"], point["time"], point["mark"]) for point in drawn["timeline"]["points"]
    }
    assert len(marks) == len(drawn["timeline"]["points"])


def test_nothing_is_shown_where_the_look_cannot_be_kept(room: Room, tmp_path: Path) -> None:
    """An archive that cannot be written, and a client that can."""
    copy = tmp_path / "archive.sqlite3"
    with closing(open_archive(str(room.archive), read_only=True)) as archive:
        rows = [row.record for row in archive.find(Query(order="number"))]
    with closing(open_archive(str(copy))) as archive:
        archive.store(rows)
    forbid = "CREATE TRIGGER no BEFORE INSERT ON record BEGIN SELECT raise(ABORT, 'full'); END"
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute(forbid)
    settings = {**json.loads(room.cards_settings()), "archive": str(copy)}
    pin = ("--pin-file", str(room.folder / "s-mora.pin"), "--key", str(room.key))
    ended = program("cards", json.dumps(settings), "cards", *SHOWN, *pin)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "full" in ended.stderr
    web = room.serve(archive=str(copy), state=str(tmp_path / "web"))
    watcher = Client(web.address)
    watcher.sign_in("s-mora", PINS["s-mora"])
    asked = {"table": "p1", "session": 1, "round": 1, "why": "x", "pin": PINS["s-mora"]}
    token = {"X-Novamas-Token": watcher.page["token"]}
    _, body, _ = watcher.ask("POST", "/surveillance/cards", asked, token)
    assert body["ok"] is False
    assert "cards" not in body
    assert "full" in body["text"]


def test_no_hidden_card_is_anywhere_else(room: Room, web: WebServer) -> None:
    assert cards(room, "--key", str(room.key)).returncode == 0
    told: dict[Any, Any] = {}
    for who in ("t-vidal", "s-mora"):
        client = Client(web.address)
        client.sign_in(who, PINS[who])
        for path in (
            "/surveillance",
            "/surveillance/records?what=sealed&what=event&what=access",
            "/surveillance/timeline?from=2020-01-01T00:00:00Z",
            "/surveillance/round?table=p1&session=1&round=1",
        ):
            told[who, path] = client.ask("GET", path)[1]
            assert told[who, path]
    told["search"] = search(room, "--limit", "100000", "--what", "event")
    told["sealed"] = search(room, "--what", "sealed", "--what", "access")
    texts = {str(name): json.dumps(each) for name, each in told.items()}
    for file in room.folder.rglob("*"):
        if file.is_file():
            texts[file.name] = file.read_bytes().decode("latin-1")
    texts["log"] = web.log() + room.daemon.log()
    hidden = [card for card in HIDDEN if card != LAST]
    # in quotes: a database has any two letters somewhere
    named = re.compile("|".join(rf'\\?"{card}\\?"' for card in hidden))
    assert {name: found[0] for name, text in texts.items() if (found := named.findall(text))} == {}
    assert room.archive.name in texts
    assert "p1" in texts[room.archive.name]


def test_without_an_archive_the_page_shows_what_to_configure(room: Room, tmp_path: Path) -> None:
    web = room.serve(archive=None, state=str(tmp_path / "web"))
    watcher = Client(web.address)
    watcher.sign_in("s-mora", PINS["s-mora"])
    for language in LANGUAGES:
        token = {"X-Novamas-Token": watcher.page["token"]}
        watcher.ask("POST", "/pit/language", {"language": language}, token)
        status, said, _ = watcher.ask("GET", "/surveillance")
        assert status == 503
        assert "[archive]" in said
        assert f'lang="{language}"' in said
    gone = room.serve(archive=str(tmp_path / "gone.sqlite3"), state=str(tmp_path / "web-2"))
    client = Client(gone.address)
    client.sign_in("s-mora", PINS["s-mora"])
    status, said, _ = client.ask("GET", "/surveillance/records")
    assert status == 503
    assert "gone.sqlite3" in said


def test_axe_finds_nothing(room: Room, web: WebServer, browser: Browser, long: bool) -> None:
    found = []
    for language in LANGUAGES if long else ("eu",):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        enter(page, web.address, "s-mora", language)
        expect(page.locator("tbody tr").first).to_be_visible()
        page.locator(".line .void").first.click()  # a block of several rounds
        page.locator(".within button.void").click()
        expect(page.locator(".detail h2")).to_be_visible()
        found += faults(page, (1280, 800), (820, 1180))
        for width in (820, 1024, 1280, 1920, 2560):
            page.set_viewport_size({"width": width, "height": 1000})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()
    assert found == [], "\n".join(map(str, found))


def test_the_daemon_accepts_nothing_from_surveillance(room: Room) -> None:
    """The role sees; it says nothing at a table."""
    until("r1", lambda: room.subscriber.on("/r1/state"))
    with pytest.raises(AssertionError, match=r"role_not_allowed|reader_only_reads"):
        room.say("s-mora", "r1", "bets.open", role="surveillance")
