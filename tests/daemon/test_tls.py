"""A real Mosquitto with TLS and client certificates: the daemon, ``novamas send``, the display and
the example get in with what the configuration names, and say clearly why where they do not.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog

from controller.cli import main
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.tables import BrokerLogin
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.daemon.certificates import Authority
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.programs import running
from tests.support.waiting import next_line, until, until_async

PASSWORD = "of this test alone"
REPOSITORY = Path(__file__).parents[2]


class Guarded:
    """A broker that asks for a certificate of its CA and a password, and the files of a client."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.folder, self._ending = folder, ending
        self.authority, self.other = Authority(folder, "casino"), Authority(folder, "elsewhere")
        self.secret = folder / "secret"
        self.secret.write_text(f"{PASSWORD}\n")
        self.secret.chmod(0o600)
        self.users = folder / "users"
        subprocess.run(
            ["mosquitto_passwd", "-c", "-b", str(self.users), "pit", PASSWORD],
            check=True,
            capture_output=True,
        )
        self.certificate, self.key = self.authority.sign("pit")

    def broker(self, certificate: Path, key: Path) -> Mosquitto:
        made = Mosquitto(
            self.folder / "mosquitto",
            "allow_anonymous false",
            f"password_file {self.users}",
            f"cafile {self.authority.file}",
            f"certfile {certificate}",
            f"keyfile {key}",
            "require_certificate true",
        )
        self._ending.callback(made.kill)
        made.start()
        return made

    def text(self, **changed: object) -> str:
        """The keys of ``[broker]``."""
        keys = {
            "username": "pit",
            "password_file": self.secret,
            "ca_file": self.authority.file,
            "cert_file": self.certificate,
            "key_file": self.key,
        }
        return "\n".join(
            f'{key} = "{value}"' for key, value in {**keys, **changed}.items() if value is not None
        )


@pytest.fixture
def guarded(programs: None, tmp_path: Path, ending: ExitStack) -> Guarded:
    return Guarded(tmp_path, ending)


def program(*words: str) -> list[str]:
    return [
        *(sys.executable, "-c", "import sys; from controller.cli import main; sys.exit(main())"),
        *words,
    ]


def test_every_program_connects_with_one_configuration(
    guarded: Guarded,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    ending: ExitStack,
) -> None:
    broker = guarded.broker(*guarded.authority.sign("broker"))
    made = daemon(
        configuration(broker.port, table("r1", wheel), broker=guarded.text(), scheme="mqtts")
    )
    made.start()
    made.until_logged("broker connected")
    made.until_logged("device up")
    subscriber = [
        *(sys.executable, str(REPOSITORY / "examples/subscriber.py"), "--site", "palma"),
        *("--port", str(broker.port), "--username", "pit"),
        *("--password-file", str(guarded.secret), "--ca-file", str(guarded.authority.file)),
        *("--cert-file", str(guarded.certificate), "--key-file", str(guarded.key)),
    ]
    display, example = (
        ending.enter_context(running(words, stdout=subprocess.PIPE))
        for words in (program("watch", str(made.file), "--json"), subscriber)
    )
    until("both are in", lambda: broker.log().count("u'pit'") >= 3, broker.log)
    head = ["--by", "M. Lasa", "--role", "table_head", "--config", str(made.file)]

    def play() -> None:
        """Either may have subscribed after the session before."""
        assert main(["send", "r1", "session.open", *head]) == 0
        assert main(["send", "r1", "session.close", *head]) == 0

    opened = b""
    while b"session.opened" not in opened:
        play()
        opened = next_line(display, play)
    assert json.loads(opened)["table"] == "r1"
    assert next_line(example, play).startswith(b"r1 ")
    assert PASSWORD not in made.log()


def test_certificates_that_expire_soon_are_reported(
    guarded: Guarded,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also the broker's own, which it presents: in the log, in an alert, to ``doctor``."""
    broker = guarded.broker(*guarded.authority.sign("broker", ends=12))
    guarded.authority.sign("pit", ends=2)
    text = configuration(broker.port, table("r1", wheel), broker=guarded.text(), scheme="mqtts")
    made = daemon(text)
    made.start()
    reason = made.until_logged("certificates end")["reason"]
    own = f"broker.cert_file {guarded.certificate}: it ends in 1 day, on 2"
    presented = f"broker.url mqtts://127.0.0.1:{broker.port}: it ends in 11 days, on 2"
    assert own in reason
    assert presented in reason
    assert main(["doctor", str(made.file)]) in (0, 1)
    assert "it ends in 11 days" in capsys.readouterr().out
    assert made.stop() == 0


async def test_other_services_log_that_their_certificate_ends(guarded: Guarded) -> None:
    """Also where no daemon runs that would."""
    guarded.authority.sign("pit", ends=2)
    broker = guarded.broker(*guarded.authority.sign("broker"))
    login = BrokerLogin(
        url=f"mqtts://127.0.0.1:{broker.port}",
        username="pit",
        password_file=str(guarded.secret),
        ca_file=str(guarded.authority.file),
        cert_file=str(guarded.certificate),
        key_file=str(guarded.key),
    )
    with structlog.testing.capture_logs() as lines:
        made = ServiceConnection(login, [], ("will", b""), lambda *_: None, lambda _: None)
        running = asyncio.create_task(made.run())
        await until_async(lambda: any("ends" in line["event"] for line in lines))
        running.cancel()
    assert [line["reason"][:22] for line in lines] == ["it ends in 1 day, on 2"]


WRONG: dict[str, tuple[Callable[[Guarded], dict[str, object]], str]] = {
    "wrong CA": (
        lambda guarded: {"ca_file": guarded.other.file},
        "the certificate of 127.0.0.1 is not signed by a trusted CA: ca_file ",
    ),
    "wrong password": (
        lambda guarded: {"password_file": guarded.users},
        "the broker does not accept user 'pit'",
    ),
    "expired": (
        lambda guarded: dict(
            zip(("cert_file", "key_file"), guarded.authority.sign("old", expired=3), strict=True)
        ),
        "the broker ended the connection: ",
    ),
    "of another CA": (
        lambda guarded: dict(
            zip(("cert_file", "key_file"), guarded.other.sign("stranger"), strict=True)
        ),
        "the broker ended the connection: ",
    ),
    "no certificate": (
        lambda _: {"cert_file": None, "key_file": None},
        "the broker ended the connection: ",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_the_reason_for_a_failed_connection_is_reported(
    guarded: Guarded,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    ending: ExitStack,
    what: str,
) -> None:
    broker = guarded.broker(*guarded.authority.sign("broker"))
    change, words = WRONG[what]
    text = guarded.text(**change(guarded))
    made = daemon(configuration(broker.port, table("r1", wheel), broker=text, scheme="mqtts"))
    everybody_says(made, broker, words, ending)
    if what == "expired":
        assert "old.pem has expired on " in made.log()


@pytest.mark.parametrize(
    ("expired", "address", "words"),
    [
        (3, "127.0.0.1", "the certificate of 127.0.0.1, or of its CA, has expired"),
        (0, "127.0.0.2", "the certificate is of another host than 127.0.0.1"),
    ],
)
def test_a_broker_with_a_wrong_certificate_is_reported(
    guarded: Guarded,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    ending: ExitStack,
    expired: int,
    address: str,
    words: str,
) -> None:
    broker = guarded.broker(*guarded.authority.sign("broker", expired=expired, address=address))
    made = daemon(
        configuration(broker.port, table("r1", wheel), broker=guarded.text(), scheme="mqtts")
    )
    everybody_says(made, broker, words, ending)


def test_a_port_without_tls_is_reported(
    guarded: Guarded,
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    ending: ExitStack,
) -> None:
    text = configuration(mosquitto.port, table("r1", wheel), broker=guarded.text(), scheme="mqtts")
    everybody_says(daemon(text), mosquitto, "no TLS connection to 127.0.0.1", ending)


def everybody_says(
    made: Daemon,
    broker: Mosquitto,
    words: str,
    ending: ExitStack,
) -> None:
    """The daemon in its log, `send` and the display on their standard errors, with the address."""
    watch = program("watch", str(made.file), "--json")
    display = ending.enter_context(running(watch, stderr=subprocess.PIPE))
    assert display.stderr is not None
    said = display.stderr.readline().decode()
    assert said.startswith(f"display: no connection to mqtts://127.0.0.1:{broker.port}: ")
    assert words in said
    made.start()
    refused = made.until_logged("broker not reached")
    assert words in refused["reason"]
    assert f":{broker.port}" in refused["broker"]
    head = ["--by", "M. Lasa", "--role", "table_head", "--config", str(made.file)]
    sent = subprocess.run(
        program("send", "r1", "session.open", *head), capture_output=True, check=False
    )
    assert sent.returncode == 1
    error = sent.stderr.decode()
    assert words in error
    assert f"mqtts://127.0.0.1:{broker.port}" in error
    assert PASSWORD not in made.log() + error + said
