"""The display as a program, against a real Mosquitto: JSON lines without a terminal, a picture on
one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common.contract.messages.messages import LANGUAGES, catalogue
from common.contract.times import format_utc
from subscribers.feed.meter import Meter, on_state
from subscribers.feed.tables import FeedMessage, check_broker
from subscribers.money import money
from subscribers.terminal.display import main
from subscribers.terminal.meter_line import line
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.jackpot import award, statement
from tests.support.programs import running
from tests.support.subscribers.real import spun
from tests.support.subscribers.terminal import Narrator, TerminalScreen
from tests.support.terminal import Terminal
from tests.support.waiting import TIMEOUT_SECONDS, until

ROOT = "novamas/v1/sala"
NOW = "2026-03-20T02:10:16.215319Z"


def publish_retained(table: Subscriber) -> None:
    """The retained topics of a roulette on which 17 came."""
    for leaf, body in spun([17]).table.retained().items():
        if body is not None:
            table.publish(f"{ROOT}/ruleta-1/{leaf}", body, retain=True)


@pytest.fixture
def broker(programs: None, tmp_path: Path) -> Iterator[Mosquitto]:
    broker = Mosquitto(tmp_path / "mosquitto")
    broker.start()
    yield broker
    broker.kill()


def command(port: int, *more: str) -> list[str]:
    broker = f"mqtt://127.0.0.1:{port}"
    return [
        sys.executable,
        "-m",
        "subscribers.terminal.display",
        "--broker",
        broker,
        "--site",
        "sala",
        "--table",
        "ruleta-1",
        *more,
    ]


def test_events_as_json_lines_once_each_through_an_outage(
    broker: Mosquitto, tmp_path: Path, ending: ExitStack
) -> None:
    ready, narrator = tmp_path / "ready", Narrator()
    words = command(broker.port, "--rounds", "2", "--ready", str(ready))
    display = ending.enter_context(running(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    until("the display is there", ready.exists)
    with closing(Subscriber(broker.port)) as table:
        opened = narrator.event("round.opened", round=1)
        for body in (
            opened,
            opened,
            b"{ no JSON",
            b'["no object"]',
            narrator.result(1),
        ):
            table.publish(f"{ROOT}/ruleta-1/event", body)
        table.publish(f"{ROOT}/other/event", narrator.result(1))
    assert display.stdout is not None
    seen = [
        display.stdout.readline() for _ in range(2)
    ]  # a broker that is killed takes with it what it has not delivered
    ready.unlink()
    broker.kill()
    broker.start()
    until("the display is there again", ready.exists)
    with closing(Subscriber(broker.port)) as table:
        table.publish(
            f"{ROOT}/ruleta-1/event",
            json.dumps(json.loads(narrator.result(2)), indent=1).encode(),
        )
    out, errors = display.communicate(timeout=TIMEOUT_SECONDS)
    assert display.returncode == 0
    assert [json.loads(line)["seq"] for line in (*seen, *out.splitlines())] == [1, 2, 4]
    assert errors.count(b"display: event: not a JSON object") == 2


def test_a_picture_on_a_terminal_and_its_end(
    broker: Mosquitto, tmp_path: Path, ending: ExitStack
) -> None:
    ready, narrator = tmp_path / "ready", Narrator()
    words = command(broker.port, "--ready", str(ready), "--language", "en")
    with Terminal(words) as terminal:
        until("the display is there", ready.exists)
        terminal.wait_for("NO DAEMON AT THIS SITE YET")
        table = Subscriber(broker.port)
        ending.callback(table.close)
        publish_retained(table)
        table.publish(f"{ROOT}/node/node-1/status", {"status": "online", "boot": "b1"}, retain=True)
        table.publish(
            f"{ROOT}/ruleta-1/event",
            narrator.event("bets.closed", round=1, time=NOW, announcement={"es": "no va más"}),
        )
        terminal.wait_for("«no va más»")
        table.publish(
            f"{ROOT}/node/node-1/status", {"status": "offline", "boot": "b1"}, retain=True
        )
        terminal.wait_for("THE DAEMON IS OFFLINE")
        known = terminal.drawn  # it was reported at the start too
        broker.kill()
        terminal.wait_for("NO CONNECTION TO THE BROKER", since=known)
        terminal.press_ctrl_c()
        assert terminal.end() == 0
    assert "Traceback" not in terminal.text


def test_a_picture_in_another_language(broker: Mosquitto) -> None:
    with Terminal(command(broker.port, "--language", "gl")) as terminal:
        terminal.wait_for("AÍNDA SEN SERVIZO NESTE SITIO")
        terminal.press_ctrl_c()
        assert terminal.end() == 0


@pytest.mark.usefixtures("programs")
def test_ends_on_a_signal_without_a_broker(ending: ExitStack) -> None:
    display = ending.enter_context(
        running(command(1), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    )
    until(
        "it listens to signals",
        lambda: display.poll() is not None or catches(display.pid, signal.SIGTERM),
    )
    with pytest.raises(subprocess.TimeoutExpired):
        display.wait(1.0)
    os.kill(display.pid, signal.SIGTERM)
    out, errors = display.communicate(timeout=TIMEOUT_SECONDS)
    assert (display.returncode, out) == (0, b"")
    told = b"display: no connection to mqtt://127.0.0.1:1: Connection refused\n"
    assert errors == told, "once, though it has tried again"


def catches(process: int, number: signal.Signals) -> bool:
    """Whether a program has its own way to end on a signal."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    caught = next(line.split()[1] for line in lines if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (number - 1) & 1)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    "url", ["127.0.0.1:1883", "http://x", "mqtt://x:port", "mqtt://", "mqtt://a:b@x:1883"]
)
def test_a_bad_address(url: str) -> None:
    assert check_broker(url) is not None
    done = subprocess.run(
        [*command(1), "--broker", url], capture_output=True, check=False, timeout=TIMEOUT_SECONDS
    )
    assert done.returncode == 2
    assert b"--broker" in done.stderr


def troubled(screen: TerminalScreen) -> str | None:
    trouble = screen.table.picture.trouble
    return None if trouble is None else trouble.why


def test_trouble_is_the_tables_own_daemon() -> None:
    screen = TerminalScreen(table="ruleta-1")
    screen.retained(spun([17]).table.retained())
    screen.watch.on_message(FeedMessage("node/a/status", b'{"status": "online", "boot": "b0"}'))
    assert troubled(screen) == "daemon_offline"
    screen.daemon("b1")
    assert troubled(screen) is None
    screen.daemon("b1", "offline")
    assert troubled(screen) == "daemon_offline"


def test_a_table_without_a_daemon_is_reported() -> None:
    screen = TerminalScreen(table="ruleta-9")
    assert troubled(screen) == "no_daemon"
    screen.daemon("b1")
    assert troubled(screen) == "no_table"
    screen.retained(spun([17]).table.retained())
    assert troubled(screen) is None


def test_a_screenshot_that_cannot_be_saved_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shot = tmp_path / "lost" / "shot.svg"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("subscribers.terminal.display.watch", _nothing)
        assert main(["--site", "casino", "--table", "ruleta-1", "--screenshot", str(shot)]) == 1
    assert capsys.readouterr().err == f"display: {shot}: No such file or directory\n"


async def _nothing(*_: object) -> None:
    """Nothing is watched."""


@pytest.mark.usefixtures("programs")
def test_a_broker_that_requires_a_password(tmp_path: Path) -> None:
    users, secret = tmp_path / "users", tmp_path / "secret"
    subprocess.run(["mosquitto_passwd", "-c", "-b", users, "display", "correct-horse"], check=True)
    secret.write_text("correct-horse\n")
    broker = Mosquitto(tmp_path / "mosquitto", "allow_anonymous false", f"password_file {users}")
    broker.start()
    try:
        ready = tmp_path / "ready"
        known = ["--username", "display", "--password-file", str(secret)]
        words = command(broker.port, "--json", "--ready", str(ready), *known)
        with running(words, stdout=subprocess.DEVNULL) as display:
            until("the display is there", ready.exists)
            display.terminate()
            assert display.wait(TIMEOUT_SECONDS) == 0
    finally:
        broker.kill()


def test_an_unreadable_password_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--site", "casino", "--table", "ruleta-1", "--password-file", str(tmp_path / "lost")])
    assert capsys.readouterr().err.endswith(f"{tmp_path / 'lost'}: No such file or directory\n")


def test_a_password_without_a_user_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("correct-horse\n")
    with pytest.raises(SystemExit):
        main(["--site", "casino", "--table", "ruleta-1", "--password-file", str(secret)])
    assert capsys.readouterr().err.endswith("--password-file needs --username; add it\n")


@pytest.mark.parametrize("what", ["event", "state", "node/pit-1/health"])
def test_brackets_within_brackets_without_end_are_passed_over(
    what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = TerminalScreen(table="ruleta-1")
    table = None if what.startswith("node/") else "ruleta-1"
    body = b'{"shown":' + b"[" * 9999 + b"]" * 9999 + b"}"
    assert screen.watch.on_message(FeedMessage(what, body, table)) is None
    assert f"display: {what}: not a JSON object" in capsys.readouterr().err


def test_the_meter_of_a_jackpot_in_a_line(broker: Mosquitto, ending: ExitStack) -> None:
    table = Subscriber(broker.port)
    ending.callback(table.close)
    topic = f"{ROOT}/jackpot/gran/state"

    def say(value: int, seconds: float, **fields: Any) -> None:
        body = msgspec.to_builtins(statement(value, seconds, **fields))
        table.publish(topic, body, retain=True)

    publish_retained(table)
    say(1_234_567, 3600)
    with Terminal(command(broker.port, "--jackpot", "gran", "--language", "es")) as terminal:
        terminal.wait_for("12.345,67")
        terminal.wait_for("en juego")
        say(1_234_667, 3600, in_play=False, why="suspended")
        terminal.wait_for("no está en juego: suspendido")
        say(1_000, 3600, won=award())
        terminal.wait_for("Premio · 12.500,00\u00a0€ · mesa poker-2")
        say(1_100, 0.5)
        terminal.wait_for("sin noticias del controlador del carrusel")


def test_a_meter_line_in_each_language() -> None:
    said = 1_774_000_000.0
    for language in LANGUAGES:
        own = catalogue(language)
        for fields, words in (
            ({}, ["jackpot.in_play"]),
            ({"in_play": False, "why": "store"}, ["jackpot.out_of_play.store"]),
            ({"awards": (award(status="pending", why="order", value=None),)}, ["hand.royal_flush"]),
        ):
            told = statement(now=said, **fields)
            meter = on_state(Meter(jackpot="gran"), msgspec.json.encode(told), format_utc(said))
            now = line(meter, None, format_utc(said + 14), language)
            amount = money(1_234_567, "EUR", language)
            assert amount in now.plain
            for key in words:
                assert own[key] in now.plain
            after = line(meter, None, format_utc(said + 15), language)
            assert own["jackpot.expired"] in after.plain
            assert own["jackpot.in_play"] not in after.plain.replace(own["jackpot.expired"], "")
            grey = [
                span.style for span in after.spans if amount in after.plain[span.start : span.end]
            ]
            assert grey == ["bright_black"]
    nothing = line(Meter(jackpot="gran"), None, format_utc(said), "es")
    assert catalogue("es")["jackpot.unsaid"] in nothing.plain
