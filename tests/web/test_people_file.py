"""An older people file, put back below the console and the controller of jackpots: who was revoked
in between signs in nowhere and orders nothing, in the same run and after a restart.
"""

from __future__ import annotations

import secrets
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from common.people.register import checked_people, write_people
from common.people.signed_command import Claims, sign
from tests.support.carrousel.floor import SITE, TOPICS
from tests.support.people.staff import HEAD, KEY_OF, RIERA, SITE_KEY, VIDAL, secret
from tests.support.waiting import until
from tests.support.web.pit import PINS, Client, console
from tests.support.web.server import WebServer
from tests.web.carrousel import PayingFloor


def people(number: int, revoked: str | None = None) -> bytes:
    persons = [
        replace(RIERA, roles=("inspector",), tables=("*",), pits=()),
        replace(VIDAL, revoked=revoked),
    ]
    head = replace(HEAD, site=SITE, pits={}, number=number)
    return write_people(checked_people(head, persons), SITE_KEY)


def signs_in(web: WebServer, who: str) -> Any:
    """The console's answer to the right PIN."""
    return Client(web.address).sign_in(who, PINS[who])[1]


def orders(floor: PayingFloor, who: str, role: Any) -> Any:
    """The controller's reply to an order, by the key of its refusal; None: it followed it."""
    now, number = int(time.time()), secrets.token_hex(12)
    state = floor.state()
    claims = Claims(
        iss=who,
        aud=f"{TOPICS.root}/jackpot/linked",
        iat=now,
        exp=now + 60,
        jti=number,
        command=f"jackpot.{'resume' if state['why'] == 'suspended' else 'suspend'}",
        role=role,
        fields={"generation": state["generation"]},
        client="console-1",
    )
    token = sign(secret(KEY_OF[who]), claims).encode()
    reply = floor.reply_to("linked", claims.command, token, number)
    return None if reply["ok"] else reply["refusal"]["key"]


def put(path: Path, content: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)


@pytest.mark.usefixtures("programs")
def test_a_revoked_person_is_let_in_nowhere_by_an_older_file(
    tmp_path: Path, ending: ExitStack
) -> None:
    floor = PayingFloor(tmp_path, ending)
    path = tmp_path / "people.jsonl"
    put(path, people(8))
    assert signs_in(floor.web, "t-vidal")["ok"]
    put(path, people(9, revoked="2026-11-22T12:00:00Z"))
    assert signs_in(floor.web, "t-vidal")["denied"] == "not_enrolled"

    def revoked() -> bool:
        return bool(orders(floor, "t-vidal", "director") == "person_revoked")

    until("the controller knows it", revoked, floor.controller.log)
    web = floor.web
    for again in (False, True):
        put(path, people(8))
        if again:
            floor.restart()
            web.kill()
            pit = console(tmp_path / "pit-2", SITE, path)
            web = WebServer(
                tmp_path / "web", floor.broker.port, [], jackpots=[{"id": "linked"}], pit=pit
            )
            ending.callback(web.kill)
        assert signs_in(web, "t-vidal")["denied"] == "not_enrolled"
        assert signs_in(web, "a-riera")["ok"], "all others do"
        assert "it is an old copy" in web.log()
        until("the controller reports it", lambda: "it is an old copy" in floor.controller.log())
        assert revoked()
