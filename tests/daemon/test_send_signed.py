"""``novamas send --key``, to a table that follows only what is signed: the proof and the roles as
the daemon has them, at a real Mosquitto.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
import pytest
from msgspec.structs import replace
from nacl.signing import SigningKey
from paho.mqtt.enums import CallbackAPIVersion

from common.contract.orders import Reply
from common.contract.refusals import RejectedError
from common.people import private_key
from common.people.private_key import make_private_key
from common.people.register import Key, checked_people, to_base64url, write_people
from common.people.seen import SeenCommands
from common.people.signed_command import claims_of, command_of, verify
from controller.cli import main
from controller.people.authority import authorise, command_rights
from tests.common.people.test_private_key import LEAST, PASSPHRASE
from tests.controller.people.test_people_setting import BEGIN, FILE
from tests.controller.people.test_people_setting import TABLE as TABLE_TEXT
from tests.support.brokers import paho_client
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.people.staff import AUDIENCE, HEAD, LASA, RIERA, SITE_KEY, TABLE
from tests.support.waiting import TIMEOUT_SECONDS

PEOPLE = ("m-lasa", "a-riera")


class Floor:
    """A configuration, its people with their keys, and the table."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.words = folder / "words"
        self.words.touch(mode=0o600)
        self.words.write_bytes(PASSPHRASE)
        keys = {name: make_private_key(folder / name, PASSPHRASE, *LEAST) for name in PEOPLE}
        self.people = checked_people(
            HEAD,
            [
                replace(LASA, keys=(_key(keys["m-lasa"]),)),
                replace(RIERA, keys=(_key(keys["a-riera"]),)),
            ],
        )
        (folder / "people.jsonl").write_bytes(write_people(self.people, SITE_KEY))
        self.file = folder / "novamas.toml"
        text = BEGIN.replace("URL", f"mqtt://127.0.0.1:{port}") + f"[people]\n{FILE}" + TABLE_TEXT
        self.file.write_text(text.replace("SIMULATED", "false"))
        self.followed: list[tuple[Any, bytes]] = []
        self._seen, self._rights = SeenCommands(), command_rights("roulette-french", "ARA02")
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        self._client.on_message = self._answer
        subscribed = threading.Event()
        self._client.on_subscribe = lambda *_: subscribed.set()
        self._client.connect("127.0.0.1", port)
        self._client.subscribe(f"{AUDIENCE}/command/+", 1)
        self._client.loop_start()
        assert subscribed.wait(TIMEOUT_SECONDS)

    def close(self) -> None:
        paho_client.end(self._client)

    def _answer(self, client: paho.Client, _: Any, message: paho.MQTTMessage) -> None:
        """A daemon's handling of a signed command."""
        import msgspec

        token = bytes(message.payload)
        claims = claims_of(token)
        try:
            report = verify(token, time.time(), AUDIENCE, TABLE, self.people, self._seen)
            given = command_of(report, message.topic.rsplit("/", 1)[1], 0.0)
            authorise(self._rights, given, report.claims.role)
        except RejectedError as error:
            reply = Reply(claims.jti, ok=False, error=str(error), refusal=error.refusal)
        else:
            self.followed.append((given, token))
            reply = Reply(claims.jti, ok=True)
        client.publish(f"{AUDIENCE}/reply/{claims.client}", msgspec.json.encode(reply), 1)


def _key(key: SigningKey) -> Key:
    return Key(x=to_base64url(key.verify_key.encode()))


@pytest.fixture
def floor(tmp_path: Path, mosquitto: Mosquitto) -> Iterator[Floor]:
    made = Floor(tmp_path, mosquitto.port)
    yield made
    made.close()


def send(
    floor: Floor, who: str, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, Any, str]:
    keys = ("--key", str(floor.folder / who), "--passphrase-file", str(floor.words))
    status = main(["send", TABLE, *words, "--config", str(floor.file), *keys])
    output = capsys.readouterr()
    return status, json.loads(output.out) if output.out else None, output.err


def test_the_holder_of_the_key_gives_the_command(
    floor: Floor, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("session.open", "minimum=5.00", "--role", "table_head")
    status, reply, told = send(floor, "m-lasa", capsys, *words)
    assert (status, reply["ok"]) == (0, True)
    assert told == "novamas: session.open: minimum 5.00 EUR\n"
    given, token = floor.followed[0]
    assert (given.by, given.role, given.minimum) == ("M. Lasa", "table_head", 500)
    assert claims_of(token).iss == "m-lasa"


def test_a_croupier_is_refused_what_the_head_of_table_may(
    floor: Floor, capsys: pytest.CaptureFixture[str]
) -> None:
    status, reply, told = send(floor, "a-riera", capsys, "round.void", "reason=ball_out")
    assert (status, reply["refusal"]["key"]) == (3, "role_not_allowed")
    assert "allowed: table_head, inspector: Decreto 159/2002" in told
    assert floor.followed == []
    assert send(floor, "a-riera", capsys, "bets.open")[0] == 0


@pytest.mark.parametrize(
    ("who", "words", "status", "expected"),
    [
        ("m-lasa", ("session.open",), 2, "is enrolled as table_head, inspector; name one"),
        ("m-lasa", ("session.open", "--role", "director"), 2, "is enrolled as table_head"),
        ("a-riera", ("bets.open", "--by", "M. Lasa"), 2, "the key identifies the person"),
        ("nobody", ("bets.open",), 1, "No such file"),
        ("words", ("bets.open",), 1, "holds no key"),
    ],
)
def test_mistakes_are_reported(
    who: str,
    words: tuple[str, ...],
    status: int,
    expected: str,
    floor: Floor,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found, reply, said = send(floor, who, capsys, *words)
    assert (found, reply) == (status, None)
    assert expected in said
    assert floor.followed == []


def test_a_stranger_sends_nothing(floor: Floor, capsys: pytest.CaptureFixture[str]) -> None:
    private_key.make_private_key(floor.folder / "stranger", PASSPHRASE, *LEAST)
    status, reply, told = send(floor, "stranger", capsys, "bets.open")
    assert (status, reply) == (1, None)
    assert "no person is enrolled with this key" in told
