"""The console against attackers and bad luck: nothing is done twice, nothing is lost unnoticed, and
only a person who has signed in here acts.
"""

from __future__ import annotations

import http.client
import json
import signal
import ssl
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, expect

from common.people.register import checked_people, write_people
from tests.support.daemon.certificates import Authority
from tests.support.daemon.play import until_said
from tests.support.people.staff import HEAD, PERSONS, SITE_KEY
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.floor import SITE, Floor
from tests.support.web.pit import PINS, Client, confirm, console, sign_in
from tests.web.conftest import Serve

LAST = "last_rounds.announce"


@pytest.fixture
def floor(programs: None, tmp_path: Path, ending: ExitStack) -> Floor:
    made = Floor(tmp_path, ending)
    made.open()
    return made


@pytest.fixture
def lasa(floor: Floor) -> Client:
    made = Client(floor.web.address)
    assert made.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]
    until("the table's commands", lambda: "takes" in floor.subscriber.latest("r1/state"))
    return made


def test_a_request_that_no_page_of_ours_sent_does_nothing(floor: Floor, lasa: Client) -> None:
    body = {"number": lasa.number("elsewhere-1"), "table": "r1", "command": LAST}
    elsewhere: tuple[tuple[dict[str, str | None], int], ...] = (
        ({"X-Novamas-Token": None}, 403),
        ({"X-Novamas-Token": "sign-in"}, 403),
        ({"Origin": None}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Cookie": None}, 401),
        ({"Cookie": "novamas=" + "A" * 43}, 401),
        ({"Host": "evil.example"}, 400),
    )
    for headers, status in elsewhere:
        given = {"X-Novamas-Token": lasa.page["token"], **headers}
        assert lasa.ask("POST", "/pit/command", body, given)[0] == status, headers
        signing = {"X-Novamas-Token": "sign-in", **headers}
        if "Cookie" not in headers and headers.get("X-Novamas-Token") != "sign-in":
            pins = {"who": "m-lasa", "pin": PINS["m-lasa"]}
            assert lasa.ask("POST", "/sign-in", pins, signing)[0] == status, headers
    assert floor.sent() == ["session-open"]
    token = {"X-Novamas-Token": lasa.page["token"]}
    assert lasa.ask("POST", "/pit/command", body, token)[0] == 200
    assert floor.sent() == ["session-open", "last-rounds-announce"]


def test_what_is_no_command_of_this_session_is_refused(floor: Floor, lasa: Client) -> None:
    riera = Client(floor.web.address)
    riera.sign_in("a-riera", PINS["a-riera"])
    number = lasa.number("odd-1")
    grave = {"pin": PINS["m-lasa"]}
    for status, who, given in (
        (400, lasa, (riera.number("odd-1"), "r1", LAST, {})),  # of another session
        (400, lasa, ("x" * 16, "r1", LAST, {})),
        (400, lasa, (f"{number}/../x", "r1", LAST, {})),
        (400, lasa, (number, "r1", "no.such", {})),
        (400, lasa, (number, "r1", "recall", {"fields": {"boot": "b", "from": 1}})),
        (400, lasa, (number, "r1", LAST, {"fields": {"by": "J. Gone"}})),
        (400, lasa, (number, "r1", LAST, {"fields": {"role": "director"}})),
        (400, lasa, (number, "r1", LAST, {"fields": {"what": 1}})),
        (400, lasa, (number, "r1", "round.void", {"fields": {"reason": "because"}, **grave})),
        (400, lasa, (number, "r1", LAST, {"key": "value"})),
        (404, lasa, (number, "r2", LAST, {})),
        (404, lasa, (number, "../r1", LAST, {})),
        (
            403,
            riera,
            (riera.number("odd-2"), "r1", "session.close", {"pin": PINS["a-riera"]}),
        ),  # not the croupier's
    ):
        name, table, command, more = given
        assert who.command(name, table, command, **more)[0] == status, given
    token = {"X-Novamas-Token": lasa.page["token"]}
    for status, body in (
        (400, b"{"),
        (400, b"[" * 5000),
        (400, b'"' + b"\xff" * 10 + b'"'),
        (413, b" " * 20_000),
    ):
        assert lasa.ask("POST", "/pit/command", body, token)[0] == status
    for method, path, status in (
        ("GET", "/pit/command", 405),
        ("GET", "/sign-in", 405),
        ("PUT", "/pit", 405),
        ("GET", "/pit/static/../pages.py", 404),
        ("GET", "/pit/static/..%2fpages.py", 404),
        ("GET", "/pit/static/%2e%2e/words.toml", 404),
        ("GET", "/pit/static//etc/passwd", 404),
        ("GET", "/pit/", 404),
    ):
        assert lasa.ask(method, path)[0] in {status, 307}, path
    assert floor.sent() == ["session-open"]


def test_a_touch_is_sent_once_however_often_it_is_repeated(floor: Floor, lasa: Client) -> None:
    number = lasa.number("touch-number-1")
    with ThreadPoolExecutor(8) as many:
        answers = list(many.map(lambda _: lasa.command(number, "r1", LAST), range(24)))
    assert {status for status, _ in answers} == {200}
    assert {body["how"] for _, body in answers} == {"followed"}
    assert lasa.command(number, "r1", LAST)[1]["how"] == "followed"
    assert lasa.command(number, "r1", "bets.open")[0] == 409
    assert floor.sent() == ["session-open", "last-rounds-announce"]
    assert len(floor.subscriber.events("last_rounds")) == 1


@pytest.mark.usefixtures("programs")
def test_a_session_that_is_over_commands_nothing(tmp_path: Path, ending: ExitStack) -> None:
    floor = Floor(tmp_path, ending, idle=6.0)
    floor.open()
    lasa = Client(floor.web.address)
    lasa.sign_in("m-lasa", PINS["m-lasa"])
    until("the session is over", lambda: lasa.ask("GET", "/pit/stream")[0] == 401)
    assert lasa.command(lasa.number("too-late-1"), "r1", LAST)[0] == 401

    def signed_out() -> bool:
        lasa.sign_in("m-lasa", PINS["m-lasa"])
        token = {"X-Novamas-Token": lasa.page["token"]}
        return lasa.ask("POST", "/sign-out", {}, token)[0] == 200

    until("it is signed out before its time is over", signed_out)
    assert lasa.command(lasa.number("too-late-2"), "r1", LAST)[0] == 401
    assert floor.sent() == ["session-open"]


def test_a_name_with_markup_is_text(tmp_path: Path, ending: ExitStack, page: Page) -> None:
    floor = Floor(tmp_path, ending)
    name = "</script><img src=x onerror=\"document.title='owned'\">"
    people = [
        replace(each, name=name if each.id == "m-lasa" else each.name, tables=("*",), pits=())
        for each in PERSONS
    ]
    head = replace(HEAD, site=SITE, number=8, pits={})
    floor.people.write_bytes(write_people(checked_people(head, people), SITE_KEY))
    sign_in(page, floor.web.address, "m-lasa")
    expect(page.locator(".person")).to_contain_text(name)
    page.locator(".tile").click()
    page.locator(".panel [data-command='session.open']").click()
    page.locator("[data-field=currency] input").fill("<b>EUR")
    confirm(page)
    until_said(floor.subscriber, "session.opened", 1)
    expect(page.locator(".done li")).to_contain_text("<b>EUR")
    assert page.title() == f"Novamás · {SITE}"
    assert page.locator("img, b").count() == 0


@pytest.mark.usefixtures("programs")
def test_a_stolen_folder_of_keys_opens_nothing_without_the_pepper(
    tmp_path: Path, ending: ExitStack
) -> None:
    floor = Floor(tmp_path, ending)
    floor.web.kill()
    (tmp_path / "pit" / "pepper").write_text("A" * 43)
    floor.serve()
    lasa = Client(floor.web.address)
    assert lasa.sign_in("m-lasa", PINS["m-lasa"])[1]["denied"] == "wrong"


def test_the_server_dies_in_mid_touch_and_the_person_is_informed(
    floor: Floor, browser: Browser
) -> None:
    page = browser.new_page()  # which may say that its server is gone
    port = int(floor.web.address.rpartition(":")[2])
    sign_in(page, floor.web.address, "m-lasa")
    page.locator(".tile").click()
    floor.daemon.signal(signal.SIGSTOP)  # no answer
    page.locator(f".panel [data-command='{LAST}']").click()
    confirm(page)
    until("it is sent", lambda: floor.sent()[1:] == ["last-rounds-announce"])
    floor.web.kill()
    floor.daemon.signal(signal.SIGCONT)
    floor.until_answers()
    notice = page.locator(".notice")
    expect(notice).to_contain_text("it is not known whether it was done")
    floor.serve(port=port)
    floor.until_up("r1")
    sign_in(page, floor.web.address, "m-lasa")
    expect(notice).to_contain_text("since then")
    # the broker may have disconnected the daemon while it was frozen
    followed = int("signed by you: last_rounds" in notice.inner_text())
    assert len(floor.subscriber.events("last_rounds")) == followed
    notice.locator("button").click()
    expect(notice).to_have_count(0)
    page.reload()
    expect(page.locator(".bar")).to_be_visible()
    expect(notice).to_have_count(0)
    assert floor.sent().count("last-rounds-announce") == 1
    assert len(floor.subscriber.events("last_rounds")) == followed
    page.close()


def test_the_broker_is_cut_between_a_command_and_its_answer(floor: Floor, lasa: Client) -> None:
    floor.daemon.signal(signal.SIGSTOP)
    with ThreadPoolExecutor(1) as one:
        given = one.submit(lasa.command, lasa.number("cut-number-1"), "r1", LAST)
        until("it is sent", lambda: floor.sent()[1:] == ["last-rounds-announce"])
        floor.subscriber.subscribed.clear()
        floor.broker.kill()
        floor.broker.start()
        status, body = given.result()
    assert (status, body["how"]) == (200, "unknown")
    assert floor.subscriber.subscribed.wait(TIMEOUT_SECONDS)  # we are back before the daemon
    floor.daemon.signal(signal.SIGCONT)
    floor.until_answers()
    again = lasa.command(lasa.number("cut-number-1"), "r1", LAST)[1]
    assert again["how"] == "unknown"  # and not sent again
    floor.until_up("r1")
    token = {"X-Novamas-Token": lasa.page["token"]}
    asked = {"table": "r1", "boot": floor.daemon.boot(), "seq": 1}

    def truth() -> list[Any]:
        said = lasa.ask("POST", "/pit/truth", asked, token)[1]["events"]
        return [] if said is None else [said]

    [found] = until("the daemon says", truth)
    followed = found.count("last_rounds")
    assert followed <= 1

    def told() -> int:
        return [event["by"] for event in floor.subscriber.events("last_rounds")].count("M. Lasa")

    until("as told", lambda: told() == followed)


def test_without_a_connection_nothing_is_sent_and_the_page_shows_it(
    floor: Floor, lasa: Client
) -> None:
    floor.broker.kill()
    until("the cut is noticed", lambda: "no connection for commands" in floor.web.log())
    answer = lasa.command(lasa.number("no-line-1234"), "r1", LAST)
    assert answer[1]["how"] == "unsent"
    floor.broker.start()
    assert lasa.command(lasa.number("no-line-1234"), "r1", LAST)[1]["how"] == "unsent"


def test_displays_for_signed_in_persons(serve: Serve, tmp_path: Path) -> None:
    pit = console(tmp_path / "pit", "casino-mayor")
    server = serve([("ruleta-1", False)], displays="signed-in", pit=pit)
    client = Client(server.address)
    for path in ("/floor", "/wall", "/table/ruleta-1"):
        status, _, headers = client.ask("GET", path)
        assert (status, headers["Location"]) == (303, "/pit")
    assert client.ask("GET", "/stream")[0] == 401
    assert client.ask("GET", "/table/ruleta-1/days")[0] == 303
    client.sign_in("m-lasa", PINS["m-lasa"])
    assert client.ask("GET", "/floor")[0] == 200
    assert client.ask("GET", "/static/theme.css")[0] == 200
    line = http.client.HTTPConnection(client.host, timeout=TIMEOUT_SECONDS)
    line.request("GET", "/stream", headers={"Cookie": client.cookie})
    stream = line.getresponse()
    assert stream.readline() == b"retry: 1000\n"
    client.ask("POST", "/sign-out", {}, {"X-Novamas-Token": client.page["token"]})
    assert b"ruleta-1" in stream.read()  # the bytes in flight, and then the end
    line.close()


def test_beyond_this_machine_there_is_no_console_without_tls(serve: Serve, tmp_path: Path) -> None:
    pit = console(tmp_path / "pit", "casino-mayor")
    server = serve([("ruleta-1", False)], host="0.0.0.0", displays="open", pit=pit)
    client = Client(server.address.replace("0.0.0.0", "127.0.0.1"))
    client.host = client.host.replace("0.0.0.0", "127.0.0.1")
    given = {"Host": "0.0.0.0"}
    assert client.ask("GET", "/floor", headers=given)[0] == 200
    status, why, _ = client.ask("GET", "/pit", headers=given)
    assert status == 503
    assert "without TLS" in why
    assert client.ask("POST", "/sign-in", {}, given)[0] == 404
    assert "no console" in server.log()
    settings = {
        "site": SITE,
        "broker": {"url": "mqtt://127.0.0.1:1"},
        "tables": [],
        "port": 0,
        "host": "0.0.0.0",
        "state": str(tmp_path),
        "pit": pit,
    }
    program = [sys.executable, "-m", "subscribers.web", "--settings", json.dumps(settings)]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    assert ended.returncode == 1
    assert 'displays = "open"' in ended.stderr


def test_a_certificate_that_ends_soon_is_logged(serve: Serve, tmp_path: Path) -> None:
    cert, key = Authority(tmp_path, "ca").sign("server", ends=2)
    server = serve([("ruleta-1", False)], cert_file=str(cert), key_file=str(key))
    assert "it ends in 1 day, on 2" in server.log()


def test_with_tls_the_cookie_is_for_tls_and_this_host_alone(serve: Serve, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    cert, key = authority.sign("server")
    pit = console(tmp_path / "pit", "casino-mayor")
    server = serve([("ruleta-1", False)], cert_file=str(cert), key_file=str(key), pit=pit)
    client = Client(server.address, ssl.create_default_context(cafile=str(authority.file)))
    body = {"who": "m-lasa", "pin": PINS["m-lasa"]}
    token: dict[str, str | None] = {"X-Novamas-Token": "sign-in"}
    given = client.ask("POST", "/sign-in", body, token)[2]["Set-Cookie"]
    assert given.startswith("__Host-novamas=")
    parts = {part.strip().lower() for part in given.split(";")[1:]}
    assert {"secure", "httponly", "samesite=strict", "path=/"} <= parts
    assert not any(part.startswith(("domain", "expires", "max-age")) for part in parts)
    plain = server.address.replace("https", "http")
    assert client.ask("POST", "/sign-in", body, {**token, "Origin": plain})[0] == 403
    assert PINS["m-lasa"] not in server.log()


@pytest.mark.usefixtures("programs")
def test_a_console_needs_no_more_of_the_broker_than_its_kind_and_a_display_has_less(
    tmp_path: Path, ending: ExitStack
) -> None:
    floor = Floor(tmp_path, ending, guarded=True)
    for user, how in (("console-1", "followed"), ("display-4", "unknown")):
        if user != "console-1":
            floor.web.kill()
            floor.serve(broker=floor.login(user))
            floor.until_up("r1")
        lasa = Client(floor.web.address)
        lasa.sign_in("m-lasa", PINS["m-lasa"])
        command = "session.open" if how == "followed" else LAST
        assert lasa.command(lasa.number("of-a-user-1"), "r1", command)[1]["how"] == how
    assert len(floor.subscriber.events("session.opened")) == 1
    assert floor.subscriber.events("last_rounds") == []
