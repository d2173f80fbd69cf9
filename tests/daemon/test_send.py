"""``novamas send``: with a real daemon and a real Mosquitto, open and guarded."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import until_more, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

SENDER = ("--by", "M. Lasa", "--role", "table_head")


def send(capsys: pytest.CaptureFixture[str], daemon: Daemon, *words: str) -> tuple[int, Any, str]:
    status = main(["send", *words, "--config", str(daemon.file)])
    output = capsys.readouterr()
    return status, json.loads(output.out) if output.out else None, output.err


def test_a_table_is_opened_and_its_void_refused(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    capsys: pytest.CaptureFixture[str],
) -> None:
    running = daemon(configuration(mosquitto.port, table("r1", wheel)))
    running.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running)
    fields = ("minimum=5.00", "currency=EUR")
    status, reply, told = send(capsys, running, "r1", "session.open", *fields, *SENDER)
    assert (status, reply["ok"]) == (0, True)
    assert told == "novamas: session.open: minimum 5.00 EUR\n"
    opened = until_more(subscriber, "session.opened", 0)[0]
    assert [opened[key] for key in ("by", "role", "minimum", "currency")] == [
        "M. Lasa",
        "table_head",
        500,
        "EUR",
    ]
    status, reply, told = send(capsys, running, "r1", "round-void", "reason=ball_out", *SENDER)
    assert (status, reply["ok"]) == (3, False)
    assert told == f"novamas: refused: {reply['error']}\n"
    croupier = ("--by", "A. Riera", "--role", "croupier")
    status, reply, told = send(capsys, running, "r1", "session.close", *croupier)
    assert (status, reply["refusal"]["key"]) == (3, "role_not_allowed")
    boot = running.boot()
    status, reply, _ = send(capsys, running, "r1", "recall", f'boot="{boot}"', "from=1")
    assert status == 0
    assert [event["seq"] for event in reply["events"]][:2] == [1, 2]


def test_amounts_have_the_decimals_of_the_sessions_currency(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    capsys: pytest.CaptureFixture[str],
) -> None:
    running = daemon(configuration(mosquitto.port, table("r1", wheel)))
    running.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running)
    for wrong in ("5", "5.0", "1.000", "5e2", "null", '"5.00"'):
        words = ("session.open", f"minimum={wrong}", *SENDER)
        status, reply, told = send(capsys, running, "r1", *words)
        assert (status, reply) == (2, None)
        assert told.startswith(f"novamas: minimum: {wrong} may mean") == (wrong == "5")
        assert "5.00" in told
    assert (
        send(capsys, running, "r1", "session-open", "minimum=500", "currency=JPY", *SENDER)[0] == 0
    )
    assert until_more(subscriber, "session.opened", 0)[0]["minimum"] == 500
    status, reply, told = send(capsys, running, "r1", "limit.announce", "minimum=5.00", *SENDER)
    assert (status, reply) == (2, None)
    assert "an amount in JPY has no decimals" in told
    status, reply, told = send(capsys, running, "r1", "limit.announce", "minimum=500", *SENDER)
    assert (status, reply["refusal"]["fields"]) == (3, {"minimum": 500})
    assert "500 JPY" in told
    assert send(capsys, running, "r1", "session.close", *SENDER)[0] == 0
    status, reply, told = send(capsys, running, "r1", "session.open", "minimum=5,00", *SENDER)
    assert (status, told) == (0, "novamas: session.open: minimum 5.00 EUR\n")
    opened = until_more(subscriber, "session.opened", 1)[-1]
    assert (opened["minimum"], opened["currency"]) == (500, "EUR")


def test_a_broker_with_the_rules_that_we_write(
    tmp_path: Path,
    ending: ExitStack,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    capsys: pytest.CaptureFixture[str],
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of this test\n")
    lines = f'username = "novamas"\npassword_file = "{secret}"'
    broker = Mosquitto(tmp_path / "guarded")
    running = daemon(configuration(broker.port, table("r1", wheel), broker=lines))
    clients = ("--client=console=console-1", "--client=display=display-4")
    assert main(["acl", str(running.file), *clients]) == 0
    (tmp_path / "acl").write_text(capsys.readouterr().out)
    (tmp_path / "passwords").touch(mode=0o600)
    for user in ("novamas", "console-1", "display-4"):
        subprocess.run(
            ["mosquitto_passwd", "-b", str(tmp_path / "passwords"), user, "of this test"],
            check=True,
            capture_output=True,
        )
    broker.configure(
        "allow_anonymous false",
        f"password_file {tmp_path / 'passwords'}",
        f"acl_file {tmp_path / 'acl'}",
    )
    ending.callback(broker.kill)
    broker.start()
    running.start()
    running.until_logged("broker connected")
    console = ("--username", "console-1", "--password-file", str(secret))
    assert send(capsys, running, "r1", "session.open", *SENDER, *console)[0] == 0
    display = ("--username", "display-4", "--password-file", str(secret), "--timeout", "1")

    def unanswered() -> str:
        """A starved machine may not even connect within the second."""
        status, reply, told = send(capsys, running, "r1", "session.close", *SENDER, *display)
        assert (status, reply) == (1, None)
        return told if "does not let user 'display-4'" in told else ""

    assert "is not running" in until("the broker's rules are named", unanswered)
    secret.write_text("a guess\n")
    status, reply, told = send(capsys, running, "r1", "session.close", *SENDER, *console)
    assert (status, reply) == (1, None)
    assert "does not accept user 'console-1'" in told


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        (("r2", "session.open", *SENDER), 2, "r1"),
        (("r1", "session.open"), 2, "--by NAME and --role ROLE"),
        (("r1", "session.open", *SENDER, "--password-file", "x"), 2, "--username"),
        (("r1", "session.open", *SENDER), 1, "nothing was sent"),
        (("r1", "session.opn", *SENDER), 2, "did you mean `session.open`?"),
        (("r1", "device.command", "command=start", *SENDER), 2, "the key device is missing"),
        (("r1", "round.void", "raison=ball_out", *SENDER), 2, "did you mean `reason`?"),
        (("r1", "round.void", "reason=ball", *SENDER), 2, "there are: foreign_object, ball_out"),
        (("r1", "round.void", *SENDER), 2, "the key reason is missing"),
        (("r1", "session.open", "--by", "X", "--role", "inspektor"), 2, "there are: croupier"),
        (("r1", "recall", "from=0", "boot=b"), 2, "from: expected 1 or more"),
    ],
)
def test_mistakes_are_reported(
    words: tuple[str, ...],
    status: int,
    expected: str,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = 'username = "novamas"\npassword_credential = "mqtt.password"'
    made = daemon(configuration(free_port(), table("r1", wheel), broker=lines))
    found, reply, said = send(capsys, made, *words)
    assert (found, reply) == (status, None)
    assert expected in said


def test_a_missing_broker_is_reported(
    wheel: Wheel, daemon: Callable[[str], Daemon], capsys: pytest.CaptureFixture[str]
) -> None:
    made = daemon(configuration(free_port(), table("r1", wheel)))
    status, reply, told = send(capsys, made, "r1", "session.open", *SENDER, "--timeout", "2")
    assert (status, reply) == (1, None)
    assert "mqtt://127.0.0.1" in told


def test_a_field_without_a_value_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["send", "r1", "round.void", "reason", *SENDER])
    assert ended.value.code == 2
    assert "write FIELD=VALUE" in capsys.readouterr().err
