"""A touch that is sent again to a web server that was restarted: its session ended with the first
server, so nothing is signed a second time.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.carrousel.floor import SITE
from tests.support.web.pit import PINS, Client, console
from tests.support.web.server import WebServer
from tests.web.carrousel import JACKPOT, PayingFloor


@pytest.mark.usefixtures("programs")
def test_a_touch_is_signed_once_also_over_a_restart(tmp_path: Path, ending: ExitStack) -> None:
    floor = PayingFloor(tmp_path, ending)
    pay = {"award": 1, "amount": floor.hit(), "paid": 0}
    head = Client(floor.web.address)
    assert head.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]
    number = head.number("given-once-0000")
    how = head.command(number, JACKPOT, "award.pay", fields=pay, pin=PINS["m-lasa"])[1]["how"]
    assert how == "waiting"
    floor.web.kill()
    again = WebServer(
        tmp_path / "web",
        floor.broker.port,
        [],
        jackpots=[{"id": "linked"}],
        pit=console(tmp_path / "pit-2", SITE, tmp_path / "people.jsonl"),
    )
    ending.callback(again.kill)
    later = Client(again.address)
    later.cookie, later.page = head.cookie, head.page
    status = later.command(number, JACKPOT, "award.pay", fields=pay, pin=PINS["m-lasa"])[0]
    assert status == 401, "the session ended with the server"
    assert later.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]
    status = later.command(number, JACKPOT, "award.pay", fields=pay, pin=PINS["m-lasa"])[0]
    assert status == 400, "the number is of another session"
    assert floor.sent("award.pay") == 1
