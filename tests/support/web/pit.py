"""People who sign in at a console, their keys sealed with a PIN each: by touching, or as clients
that send what they like.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace
from nacl.signing import SigningKey
from playwright.sync_api import Page, expect

from common.people.pin_key import make_pepper, seal_key, write_pin_key
from common.people.register import Person, checked_people, to_base64url, write_people
from tests.support.people.staff import HEAD, KEY_OF, PERSONS, SIGNER, SITE_KEY, secret
from tests.support.waiting import TIMEOUT_SECONDS
from tests.support.web.going import go

PINS = {
    "m-lasa": "271828",
    "a-riera": "314159",
    "t-vidal": "161803",
    "j-gone": "141421",
    "s-mora": "173205",
}
LEAST_MEMORY_KIB = 64
"""Of Argon2, for keys and for the one that is tried for an unknown person, where a test is not of
how long that takes.
"""
BADGES = {"m-lasa": "4711", "a-riera": "4712", "t-vidal": "4713"}


def console(folder: Path, site: str, people: Path | None = None, **more: Any) -> dict[str, Any]:
    """The settings of a console where these people have PINs, and a touch counts for as long as a
    starved machine may need for it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pepper = make_pepper(folder / "pepper")
    for who, pin in PINS.items():
        key = SigningKey(secret(KEY_OF[who]))
        write_pin_key(
            folder / "keys", seal_key(key, who, BADGES.get(who, ""), pin, pepper, LEAST_MEMORY_KIB)
        )
    if people is None:
        people = folder / "people.jsonl"
        everywhere: Sequence[Person] = [
            replace(person, tables=("*",), pits=()) for person in PERSONS
        ]
        people.write_bytes(
            write_people(checked_people(replace(HEAD, site=site, pits={}), everywhere), SITE_KEY)
        )
    return {
        "people_file": str(people),
        "people_key": to_base64url(SIGNER),
        "keys": str(folder / "keys"),
        "pepper": str(folder / "pepper"),
        "late": TIMEOUT_SECONDS,
        **more,
    }


def sign_in(page: Page, address: str, who: str, language: str = "en") -> None:
    """By touching the page."""
    go(page, f"{address}/pit?lang={language}")
    page.locator("#who").fill(BADGES.get(who, who))
    touch_pin(page, PINS[who])
    page.locator("button.main").click()
    expect(page.locator(".bar")).to_be_visible()


def touch_pin(page: Page, pin: str) -> None:
    for digit in pin:
        page.locator(f".pad [data-key='{digit}']").last.click()


def confirm(page: Page, who: str | None = None) -> None:
    """The second touch; ``who`` gives the PIN again."""
    dialog = page.locator("dialog[open]")
    if who is not None:
        for digit in PINS[who]:
            dialog.locator(f".again [data-key='{digit}']").click()
    dialog.locator("[data-do=send]").click()


def correct(page: Page, table: str, number: int) -> None:
    """Touch what corrects the last number of a roulette, until it remains to be confirmed."""
    tile = page.locator(f".tile[data-table='{table}']")
    if tile.get_attribute("aria-pressed") != "true":
        tile.click()
    page.locator(".panel [data-command='result.correct']").click()
    page.locator(f"[data-field=number] [data-value='{number}']").click()


READ_BADGE = """(badge) => {
  for (const key of [...badge, "Enter"]) {
    const options = { key, bubbles: true, cancelable: true };
    (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", options));
  }
}"""


def read_badge(page: Page, who: str) -> None:
    """Hold a badge to the reader, which types its number faster than a person."""
    page.evaluate(READ_BADGE, BADGES[who])


class Client:
    """A client of the server that is no browser, and sends what it likes."""

    def __init__(
        self, address: str, tls: ssl.SSLContext | None = None, source: str = "127.0.0.1"
    ) -> None:
        """``source``: the address from which it asks."""
        at = urlsplit(address)
        self.host, self.origin = at.netloc, address
        self.cookie = ""
        self.browser = ""
        """The browser's storage for the persons who signed in with it."""
        self._tls, self._source = tls, (source, 0)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        """The status, body and headers of an answer. A header with the value None is omitted."""
        given: dict[str, str | None] = {"Origin": self.origin, "Content-Type": "application/json"}
        if cookies := "; ".join(filter(None, (self.cookie, self.browser))):
            given["Cookie"] = cookies
        if method == "POST":
            given["X-Novamas-Touch"] = self.touch()
        given.update(headers or {})
        line = (
            http.client.HTTPConnection(
                self.host, timeout=TIMEOUT_SECONDS, source_address=self._source
            )
            if self._tls is None
            else http.client.HTTPSConnection(
                self.host, timeout=TIMEOUT_SECONDS, context=self._tls, source_address=self._source
            )
        )
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        with closing(line):
            line.request(method, path, raw, {k: v for k, v in given.items() if v is not None})
            answer = line.getresponse()
            text = answer.read().decode()
        kind = answer.headers.get_content_type()
        return (
            answer.status,
            json.loads(text) if kind == "application/json" else text,
            answer.headers,
        )

    def touch(self) -> str | None:
        """What says that a touch is now; None where the server does not know this host."""
        reply = self.ask("GET", "/beat")[1]
        return f"{reply[0]} 0" if isinstance(reply, list) else None

    def sign_in(self, who: str, pin: str) -> tuple[int, Any]:
        status, body, headers = self.ask(
            "POST", "/sign-in", {"who": who, "pin": pin}, {"X-Novamas-Token": "sign-in"}
        )
        if body.get("ok"):
            self.cookie, self.browser = (
                each.partition(";")[0] for each in headers.get_all("Set-Cookie", [])
            )
            page = self.ask("GET", "/pit")[1]
            told = page.partition('id="page">')[2].partition("</script>")[0]
            self.page = json.loads(told)
        return status, body

    def command(self, number: str, table: str, command: str, **more: Any) -> tuple[int, Any]:
        """Give a command with the session's token."""
        body = {"number": number, "table": table, "command": command, **more}
        return self.ask("POST", "/pit/command", body, {"X-Novamas-Token": self.page["token"]})[:2]

    def number(self, name: str) -> str:
        """The number of a touch of this session."""
        return f"{self.page['tag']}-{name}"
