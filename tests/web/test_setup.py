"""``novamas setup --web``: from nothing to the first number by touch, and who is refused."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.brokers.mosquitto import free_port
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.web.test_accessible import HD, PHONE, faults

NOVAMAS = [sys.executable, "-m", "controller.cli"]


class Setup:
    """The program, and the address that it printed."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self._output = folder / "setup.log"
        words = [*NOVAMAS, "setup", str(folder / "novamas.toml"), "--web", "--language", "en"]
        with self._output.open("wb") as output:
            self.program = ending.enter_context(running(words, stdout=output, stderr=output))
        until("the address", lambda: "?key=" in self.text, lambda: self.text)
        self.address = re.findall(r"http://\S+", self.text)[0]
        self.host = urlsplit(self.address).netloc

    @property
    def text(self) -> str:
        return self._output.read_text()

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str]:
        """The status and the body of an answer. Two underscores in a header are a hyphen."""
        connection = http.client.HTTPConnection(self.host, timeout=TIMEOUT_SECONDS)
        data = None if body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, data, named)
        answer = connection.getresponse()
        self.cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        self.headers = answer.headers
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def enter(self) -> dict[str, str]:
        """The headers of the browser that has opened the address."""
        parts = urlsplit(self.address)
        assert self.ask("GET", f"/?{parts.query}")[0] == 303
        return {"cookie": self.cookie}


@pytest.fixture
def setup(programs: None, tmp_path: Path, ending: ExitStack) -> Setup:
    return Setup(tmp_path, ending)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    width, height = PHONE
    context = browser.new_context(
        viewport={"width": width, "height": height}, has_touch=True, locale="es-ES"
    )
    yield context.new_page()
    context.close()


def test_a_technician_with_a_phone_gets_the_first_number(
    setup: Setup, phone: Page, tmp_path: Path, ending: ExitStack
) -> None:
    web, link = free_port(), tmp_path / "wheel"
    words = [*NOVAMAS, "simulate", "wheel", "--link", str(link), "--games-per-hour", "120"]
    ending.enter_context(running(words, stdout=subprocess.DEVNULL))
    phone.goto(setup.address)
    assert "key=" not in phone.url
    found: list[Any] = []

    def next_question(name: str) -> None:
        """Look at the question, then touch the button."""
        expect(phone.locator("legend, label, h2").first).to_contain_text(name)
        if name in ("Identificador del casino", "decreto", "aparato"):
            found.extend(faults(phone, PHONE, HD, PHONE))
        phone.get_by_role("button", name="Siguiente").tap()

    phone.get_by_label("Identificador del casino").fill("Casino Mayor")
    next_question("Identificador del casino")
    expect(phone.get_by_role("alert").first).to_contain_text("¿Quizá casino-mayor?")
    phone.get_by_label("Identificador del casino").fill("casino-mayor")
    next_question("Identificador del casino")
    phone.get_by_text("Aragón").tap()
    next_question("decreto")
    next_question("Idiomas")
    next_question("Identificador de la mesa")
    until("the wheel", link.is_symlink)
    phone.get_by_label("Otra dirección").fill(str(link))
    next_question("aparato")
    expect(phone.locator("#live")).to_contain_text("último número")
    next_question("muestra ahora")
    next_question("A qué se juega")
    next_question("Mesas hasta ahora")
    next_question("servidor MQTT")
    phone.get_by_label("Dónde escucha").fill(f"127.0.0.1:{free_port()}")
    next_question("Dónde escucha")
    next_question("inspector")
    phone.get_by_label("Dónde llegan los navegadores").fill(f"127.0.0.1:{web}")
    next_question("Dónde llegan")
    next_question("vigilancia")
    next_question("Arrancarlo")
    next_question("Abrir las mesas")
    expect(phone.get_by_role("heading", level=2)).to_contain_text("Se escribirá esto")
    found.extend(faults(phone, PHONE))
    assert not (tmp_path / "novamas.toml").exists()
    phone.get_by_role("button", name="Siguiente").tap()
    display = phone.get_by_role("link", name=f"http://127.0.0.1:{web}/floor")
    display.tap()
    expect(phone.locator("body")).to_contain_text("ruleta-1")
    # two spins of the wheel take a minute
    until(
        "a number",
        lambda: "first number" in setup.text,
        lambda: setup.text,
        timeout=4 * TIMEOUT_SECONDS,
    )
    assert found == []
    setup.program.send_signal(signal.SIGINT)
    assert setup.program.wait(TIMEOUT_SECONDS) == 0


def test_one_browser_with_the_key_and_no_other(setup: Setup) -> None:
    host, origin = setup.host, f"http://{setup.host}"
    assert setup.ask("GET", "/")[0] == 403
    assert setup.ask("GET", "/?key=guess")[0] == 403
    assert setup.ask("GET", "/state")[0] == 403
    inside = setup.enter()
    assert setup.ask("GET", "/state", **inside)[0] == 200
    assert setup.headers["content-security-policy"].startswith("default-src 'none'")
    assert "HttpOnly" not in inside["cookie"]
    # a second browser has the same address
    assert setup.ask("GET", f"/?{urlsplit(setup.address).query}")[0] == 403
    assert setup.ask("GET", "/state", cookie="novamas-setup=guess")[0] == 403
    # another page in the same browser
    answer, kind = {"id": "site", "text": "evil"}, "application/json"
    for headers in (
        {"origin": "http://evil.example", "content_type": kind},
        {"content_type": kind},
        {"origin": origin, "content_type": "text/plain"},
    ):
        assert setup.ask("POST", "/answer", answer, **inside, **headers)[0] == 403
    # a name that another machine's resolver made of this address
    port = host.rpartition(":")[2]
    assert setup.ask("GET", "/state", **inside, host=f"evil.example:{port}")[0] == 400
    good = {**inside, "origin": origin, "content_type": kind}
    assert setup.ask("POST", "/answer", {"id": 1}, **good)[0] == 400
    assert setup.ask("POST", "/answer", {"id": "site", "text": "x" * 9000}, **good)[0] == 413
    status, body = setup.ask("POST", "/answer", {"id": "site", "text": "casino-1"}, **good)
    assert (status, json.loads(body)["id"]) == (200, "decree")
    # the same request again belongs to a question that is answered
    status, body = setup.ask("POST", "/answer", {"id": "site", "text": "casino-2"}, **good)
    assert json.loads(body)["id"] == "decree"
    assert setup.ask("POST", "/write", {}, **good)[0] == 200
    assert setup.program.poll() is None
    assert setup.ask("GET", "/live", **inside)[0] == 404
