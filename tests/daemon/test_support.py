"""``novamas support``: what is in the bundle, and above all what is not, of a daemon at work with a
table of face-down cards, passwords, keys and PINs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from common.people.pin_key import make_pepper, seal_key, write_pin_key
from common.people.register import to_base64url
from common.readings import escape
from controller.cli import main
from controller.configuration.file import inspect_configuration
from controller.doctor.redaction import redact_health, redact_text
from tests.daemon.test_confidential import CARD, TABLE, Shoe
from tests.daemon.test_confidential import shoe as shoe
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import command, until_open, until_up
from tests.support.daemon.process import UNSIGNED, Daemon, Wheel, configuration, table
from tests.support.people.signing import enrol
from tests.support.people.staff import KEY_OF, SIGNER, secret
from tests.support.waiting import until

PASSWORD, WORDS, TOKEN, PIN = "correct-horse", "reader's staple", "webhook-4-2", "27182818"
HIDDEN = [("9s", "player", 1), ("7h", "banker", 1), ("Td", "player", 2), ("Ks", "banker", 2)]

SECRETS = """
[web]
pepper_file = "pepper"
pin_keys = "pins"
[carrousel]
recall_key = "reader.key"
recall_passphrase_file = "words"
[archive]
cards_key = "surveillance.key"
[[bookmark]]
id = "door"
kind = "webhook"
address = "https://127.0.0.1/hook?token=never-here"
secret_file = "token"
[[table]]
id = "bacara-1"
game = "punto-banca"
decree = "ARA02"
[[table.device]]
id = "shoe"
driver = "angel-eye"
link = "{link}"
[table.device.options]
min_draw = 0.0
"""
FILES = {
    "ABOUT.txt", "configuration.json", "mistakes.txt", "versions.json", "doctor.jsonl",
    "health.json", "journal.json", "log.jsonl",
}  # fmt: skip


def bundle(config: Path, target: Path, *words: str) -> dict[str, str]:
    """The files of a bundle that the program has made, by name."""
    program = [sys.executable, "-m", "controller.cli", "support", str(config), *words]
    subprocess.run([*program, "--output", str(target)], check=True, capture_output=True)
    assert target.stat().st_mode & 0o777 == 0o600
    return unpacked(target)


def unpacked(target: Path) -> dict[str, str]:
    with tarfile.open(target) as archive:
        members = archive.getmembers()
        assert {member.name.partition("/")[0] for member in members} == {"bundle"}
        read = {member.name.partition("/")[2]: archive.extractfile(member) for member in members}
        return {name: file.read().decode() for name, file in read.items() if file is not None}


def spelt(key: bytes) -> Iterable[str]:
    return key.hex(), *(each(key).decode().rstrip("=") for each in (b64encode, urlsafe_b64encode))


def test_no_key_password_pin_or_card_is_in_any_file(
    mosquitto: Mosquitto,
    wheel: Wheel,
    shoe: Shoe,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["keygen", str(tmp_path / "surveillance.key")]) == 0
    surveillance = capsys.readouterr().out
    for name, text in (("password", PASSWORD), ("words", WORDS), ("token", TOKEN)):
        (tmp_path / name).write_text(f"{text}\n")
    reader, person = secret(KEY_OF["a-riera"]), SigningKey(secret(KEY_OF["m-lasa"]))
    (tmp_path / "reader.key").write_text(reader.hex())
    pepper = make_pepper(tmp_path / "pepper")
    write_pin_key(tmp_path / "pins", seal_key(person, "m-lasa", "4711", PIN, pepper, memory=64))
    enrol(tmp_path)
    text = configuration(
        mosquitto.port,
        table("r1", wheel),
        SECRETS.format(link=shoe.url),
        people=f'{UNSIGNED}file = "people.jsonl"\nkey = "{to_base64url(SIGNER)}"\n',
        broker='username = "novamas"\npassword_file = "password"',
    )
    running = daemon(text + surveillance)
    running.start()
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running)
    until_open(subscriber, running, "bacara-1", "shoe")
    for name, fields in (("session.open", {}), ("shoe.start", {"shoe": "S1"})):
        assert command(subscriber, name, TABLE, **fields)["ok"]
    shoe.draw("2c", "first")
    drawn = 1

    def shown() -> str | None:
        told = (subscriber.latest(f"{TABLE}/state") or {"shown": {}})["shown"]
        return told["phase"] if (told.get("shoe") or {}).get("drawn") == drawn else None

    while until("a card", shown) == "burning":
        shoe.draw("Jd", "burn")
        drawn += 1
    for name in ("bets.open", "bets.close"):
        assert command(subscriber, name, TABLE)["ok"]
    sent = [shoe.draw(card, to, index) for card, to, index in HIDDEN]
    until(
        "cards",
        lambda: [e for e in subscriber.events("card.dealt") if e["table"] == "bacara-1"][3:],
        running.log,
    )
    log = tmp_path / "novamas.log"
    bad = {"table": "bacara-1", "event": "defect", "reason": "card 9s", "card": "7h"}
    worse = {"event": f"login with {PASSWORD}", "password": WORDS, "by": "M. Lasa"}
    trace = {"event": "died", "exception": "Td, Ks"}
    more = [*map(json.dumps, (bad, worse, trace)), "Traceback: 9s", f"key {reader.hex()}"]
    log.write_text("\n".join([running.log(), *more]) + "\n")
    made = bundle(running.file, tmp_path / "bundle.tar.gz", "--log", str(log))

    assert made.keys() == FILES
    machine = [(tmp_path / f"journal.sqlite3.{each}").read_text() for each in ("key", "secret")]
    private = (tmp_path / "surveillance.key").read_text().strip()
    never = {
        PASSWORD, WORDS, TOKEN, PIN, "never-here", "M. Lasa",
        *spelt(reader), *spelt(person.encode()), *spelt(pepper), *spelt(bytes.fromhex(private)),
        *(each.strip() for each in machine),
        *(form for each in machine for form in spelt(bytes.fromhex(each.strip()))),
        *(escape(frame) for frame in sent),
        *(frame[2:-3].decode("latin-1") for frame in sent),
    }  # fmt: skip
    cards = {card for card, _, _ in HIDDEN}
    assert all(len(each) > 2 for each in never)
    for name, text in made.items():
        assert {each for each in never if each in text} == set(), name
        assert cards & {*CARD.findall(text)} == set(), name

    says = json.loads(made["configuration.json"])["says"]
    assert says["broker"]["password_file"] == "(set)"
    assert says["broker"]["username"] == "novamas"
    assert says["bookmark"][0]["address"] == "https://127.0.0.1/(set)"
    assert [each["id"] for each in says["table"]] == ["r1", "bacara-1"]
    assert says["table"][1]["device"][0]["options"] == {"min_draw": 0.0}
    health = json.loads(made["health.json"])["novamas/v1/palma/node/pit-1/health"]
    assert health["tables"].keys() == {"r1", "bacara-1"}
    newest = json.loads(made["journal.json"])["newest"]
    assert {row[1] for row in newest} >= {"r1", "bacara-1"}
    assert {len(row) for row in newest} == {6}
    found = [json.loads(line) for line in made["doctor.jsonl"].splitlines()]
    assert any(each["about"].startswith("broker mqtt://") for each in found)
    lines = [json.loads(line) for line in made["log.jsonl"].splitlines()]
    assert any(line.get("event") == "broker connected" for line in lines)
    assert {"event": "defect", "table": "bacara-1"} in lines
    assert lines[-1] == {"left out": 2, "because": "these lines are not JSON"}
    assert json.loads(made["versions.json"])["packages"]["novamas"]
    assert running.stop() == 0


CANARIES = """
[site]
id = "palma"
node = "pit-1"
[broker]
url = "mqtt://127.0.0.1:{port}"
client_id = "novamas-1"
[journal]
path = "{folder}/canary-journal/journal.sqlite3"
[people]
required = "accept-the-risk"
file = "people.jsonl"
key = "{key}"
[web]
listen = "127.0.0.1:8080"
names = ["canary-name.example"]
[archive]
database = "postgresql://canary-db@db.example/canary-path?passfile=/srv/canary-home/pgpass"
[[bookmark]]
id = "door"
kind = "webhook"
address = "https://hooks.example/services/canary-T000/canary-B000?key=canary-key&sig=canary-sig#canary"
tables = ["r1"]
cameras = {{ r1 = "canary-camera" }}
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial:///dev/serial/by-id/wheel?baud=9600"
serial = "canary-serial"
"""
PERSON = "Z. Zubiri-Canario"
LOGGED: list[dict[str, object]] = [
    {
        "event": "command refused",
        "reason": f"not followed yet: within 120 s a person other than {PERSON} must send it",
        "by": PERSON,
        "role": "canary-role",
        "table": "r1",
        "refusal": "second_person",
    },
    {"event": "command refused", "reason": f"{PERSON} is at the table as croupier already"},
    {"event": "hook", "error": "https://hooks.example/services/canary-T000?sig=canary-sig"},
    {"event": "signed in: M. Lasa, m-lasa", "level": "canary level", "table": "canary table"},
    {"event": "at https://canary-u:canary-p@hooks.example/canary-path?x=canary-query"},
    {"event": "file /srv/canary-home/x", "timestamp": "canary", "device": ["canary"]},
    {"event": "password='canary with spaces' token=\"canary\" Secret = canary-9"},
    {"event": "topics", "topic": "novamas/v1/palma/r1/reply/canary-client"},
    {"event": "topics", "topics": ["novamas/v1/palma/r1/reply/canary-client", "canary of all"]},
    {"event": "count", "count": "canary", "alert": "canary alert", "segment": "canary/x"},
    {
        "event": "died",
        "exception": 'Traceback\n  File "/srv/canary-home/service.py", line 7, in run\n'
        f"    greet('{PERSON}')\nConnectionRefusedError: [Errno 111] Connection refused: canary",
    },
    {"event": "env", "what": "CANARY_TOKEN is canary-in-environment", "why": PERSON},
    {"event": "now canary-in-environment", "unknown": PERSON},
]
"""Lines of a log, each with what must not leave."""


@pytest.mark.usefixtures("programs")
def test_values_not_known_to_be_harmless_are_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "canary-journal").mkdir()
    text = CANARIES.format(port=free_port(), folder=tmp_path, key=to_base64url(SIGNER))
    (tmp_path / "novamas.toml").write_text(text)
    enrol(tmp_path)
    (tmp_path / "log").write_text("".join(f"{json.dumps(line)}\n" for line in LOGGED))
    monkeypatch.setenv("CANARY_TOKEN", "canary-in-environment")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "credentials"))
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials" / "word").write_text("canary-credential\n")
    config = tmp_path / "novamas.toml"
    assert [str(mistake) for mistake in inspect_configuration(config).mistakes] == []
    made = bundle(config, tmp_path / "bundle.tgz", "--log", str(tmp_path / "log"))
    for name, text in made.items():
        found = re.findall(r"(?i)[^\n]*(?:canar[yi]|zubiri|lasa)[^\n]*", text)
        assert found == [], name
    says = json.loads(made["configuration.json"])["says"]
    assert says["bookmark"][0]["address"] == "https://hooks.example/(set)"
    assert says["broker"].keys() == {"url", "client_id"}
    assert says["archive"]["database"] == "postgresql://(set)@db.example/(set)"
    assert says["table"][0]["device"][0]["link"] == "serial:///dev/serial/by-id/wheel?baud=9600"
    lines = [json.loads(line) for line in made["log.jsonl"].splitlines()]
    assert lines[0] == {
        "event": "command refused", "table": "r1", "refusal": "second_person", "reason": "(text)"
    }  # fmt: skip
    [died] = [line for line in lines if line["event"] == "died"]
    assert died["exception"] == (
        "(text) service.py:7:run ConnectionRefusedError Connection refused"
    )
    assert lines[7]["topic"] == "novamas/v1/palma/r1/reply/(set)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mqtt://user:canary@host:1883", "mqtt://(set)@host:1883"),
        ("mqtt://user:can/ary@host", "mqtt://(set)"),
        ("nats://u:canary@a:1,b:2", "nats://(set)@a:1,b:2"),
        ("at https://h.example/canary, again", "at https://h.example/(set) again"),
        ("https://h.example?canary=canary", "https://h.example/(set)"),
        ("tcp://192.0.2.7:4001/canary?baud=9600", "tcp://192.0.2.7:4001/(set)"),
        ("rfc2217://192.0.2.7:4001?baud=9600", "rfc2217://192.0.2.7:4001?baud=9600"),
        ("serial:///dev/ttyUSB0?baud=9600&pin=canary", "serial:///dev/ttyUSB0"),
        ("replay:///srv/canary.rec?speed=1", "replay:///(set)"),
        ("host=db password='can ary' user=u", "host=db password=(set) user=u"),
        ("disk /var/lib/novamas is full", "disk /var/lib/novamas is full"),
        ("/etc/novamas/canary.pem: not found", "/etc/novamas/(set): not found"),
        ("token = canary; pin=1234", "token=(set); pin=(set)"),
        ("/srv/canary/novamas.toml: not found", "/(set): not found"),
    ],
)
def test_addresses_paths_and_passwords_in_texts(text: str, shown: str) -> None:
    assert redact_text(text) == shown


def test_the_daemons_own_reports_name_no_person() -> None:
    body = {
        "boot": "1a2b",
        "broker": {"connected": False, "trouble": f"[Errno 111] Connection refused: {PERSON}"},
        "people": {"number": 3, "trouble": f"{PERSON} and M. Lasa look the same"},
        "reload": {"changed": {"r1": ["device wheel: link"]}, "waiting": {"r1": PERSON}},
        "tables": {"r1": {"devices": {"wheel": {"state": "up", "detail": PERSON}}}},
        "versions": {"novamas": "0.2.0"},
    }
    health = redact_health(body)
    assert PERSON not in json.dumps(health)
    assert health["broker"]["trouble"] == "(text) Connection refused"
    assert health["tables"]["r1"]["devices"]["wheel"] == {"state": "up", "detail": "(text)"}
    assert health["reload"]["changed"] == {"r1": ["device wheel: link"]}
    assert health["versions"] == {"novamas": "0.2.0"}


MISTAKEN = """
[site]
id = "palma"
passwort = "hunter-one"
[broker]
url = "mqtt://novamas:hunter-two@127.0.0.1:1883"
password = "hunter-three"
password_file = { is = "hunter-four" }
username = ["hunter-five"]
[[table]]
id = "r1"
game = "roulete"
decree = "ARA02"
settings = { pin = "hunter-six" }
[[table.device]]
id = "wheel"
driver = "camegh"
link = "tcp://a:hunter-seven@127.0.0.1:4001?password=hunter-eight"
options = { secret = "hunter-nine" }
[vault]
key = "hunter-ten"
"""


@pytest.mark.usefixtures("programs")
def test_a_mistaken_configuration_is_packed_without_misplaced_values(
    tmp_path: Path,
) -> None:
    (tmp_path / "novamas.toml").write_text(MISTAKEN)
    log = tmp_path / "log"
    log.write_text('{"event": "defect", "table": "bacara-1", "reason": "card 9s"}\n')
    made = bundle(tmp_path / "novamas.toml", tmp_path / "bundle.tgz", "--log", str(log))
    assert made.keys() == FILES - {"doctor.jsonl", "health.json", "journal.json"}
    kept = {name: re.findall(r"hunter-\w+", text) for name, text in made.items()}
    assert {name: found for name, found in kept.items() if found} == {}
    assert "broker.password: unknown key" in made["mistakes.txt"]
    assert json.loads(made["log.jsonl"]) == {"event": "defect", "table": "bacara-1"}


@pytest.mark.usefixtures("programs")
def test_what_is_no_toml_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "novamas.toml").write_text('password = "hunter\n')
    made = bundle(tmp_path / "novamas.toml", tmp_path / "bundle.tgz")
    assert not any("hunter" in text for text in made.values())
    assert "line 1, column 19: " in made["mistakes.txt"]


def test_a_bundle_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "bundle.tgz"
    target.write_text("of the site")
    assert main(["support", str(tmp_path / "novamas.toml"), "--output", str(target)]) == 1
    assert capsys.readouterr().err == f"novamas: {target} already exists; not overwritten\n"
    assert target.read_text() == "of the site"
