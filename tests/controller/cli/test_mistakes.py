"""Mistakes that people make, and their messages: each says what is wrong, where, and what to do."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from controller.cli import main
from tests.support.brokers.mosquitto import free_port
from tests.support.waiting import TIMEOUT_SECONDS

PORT = "21883"
"""In the table's place of a port on which nobody listens."""
CONFIGURATION = f"""\
[site]
id = "casino"
node = "node-1"
decree = "ARA02"

[broker]
url = "embedded://127.0.0.1:{PORT}"

[[table]]
id = "mesa-1"
game = "roulette-french"
simulated = true

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:14001"
"""
SECOND_TABLE = CONFIGURATION[CONFIGURATION.index("[[table]]") :]
SITE_KEY = "people add people.jsonl --site casino --site-key site.key --passphrase-file words"
PERSON = "--id a-riera --name Riera --table r1"
SENDER = "--by Riera --role inspector"


class Mistake(NamedTuple):
    """What somebody does, and the parts of the message: what, where, what to do."""

    command: str
    says: tuple[str, ...]
    change: Callable[[str], str] = str


def wrote(before: str, after: str) -> Callable[[str], str]:
    """Change the configuration by mistake."""

    def change(text: str) -> str:
        assert before in text
        return text.replace(before, after)

    return change


def added(more: str) -> Callable[[str], str]:
    return lambda text: text + more


MISTAKES = {
    # the configuration: novamas check
    "a driver is misspelt": Mistake(
        "check",
        ("line 16: table[0].device[0].driver", "did you mean `cammegh-ss2`?"),
        wrote("cammegh", "camegh"),
    ),
    "a game is misspelt": Mistake(
        "check",
        ("line 11: table[0].game", "did you mean `roulette-french`?"),
        wrote("roulette-french", "roulete-french"),
    ),
    "a decree is misspelt": Mistake(
        "check",
        ("line 4: site.decree: no decree 'ARA2'", "did you mean ARA02?"),
        wrote("ARA02", "ARA2"),
    ),
    "a key is misspelt": Mistake(
        "check",
        ("line 3: site.nod: unknown key", "did you mean `node`?"),
        wrote("node =", "nod ="),
    ),
    "a setting is unknown": Mistake(
        "check",
        ("line 14: table[0].settings.slow: unknown key", "there are: pocket_order, "),
        wrote("simulated = true", "simulated = true\n[table.settings]\nslow = 1"),
    ),
    "a setting has no such value": Mistake(
        "check",
        ("line 14: table[0].settings.ball_removed", "expected one of warn, ask, void"),
        wrote("simulated = true", 'simulated = true\n[table.settings]\nball_removed = "no"'),
    ),
    "single brackets": Mistake(
        "check",
        ("line 9: table: there may be several", "begin each with double brackets: [[table]]"),
        wrote("[[table]]", "[table]"),
    ),
    "a text without quotes": Mistake(
        "check",
        ("line 4, column 10: the value is no text in quotes", "put a string in quotes"),
        wrote('"ARA02"', "ARA02"),
    ),
    "a quote is not closed": Mistake(
        "check",
        ("line 2, column 13", "a quote is not closed"),
        wrote('"casino"', '"casino'),
    ),
    "true as a text": Mistake(
        "check",
        ("line 12: table[0].simulated", "expected true or false, got text"),
        wrote("simulated = true", 'simulated = "yes"'),
    ),
    "a key twice": Mistake(
        "check",
        ("line 3, column", "this key is already defined"),
        wrote('id = "casino"', 'id = "casino"\nid = "casino"'),
    ),
    "an id with spaces": Mistake(
        "check",
        ("line 2: site.id", "expected 1 to 48 characters a-z, 0-9 and single hyphens"),
        wrote('"casino"', '"Casino Mayor"'),
    ),
    "two tables with one id": Mistake(
        "check",
        ("line 19: table[1].id", "another table has the id mesa-1 too"),
        added(SECOND_TABLE),
    ),
    "two devices on one port": Mistake(
        "check",
        ("line 26: table[1].device[0].link", "another device is on 127.0.0.1:14001 too"),
        added(SECOND_TABLE.replace("mesa-1", "mesa-2")),
    ),
    "no table": Mistake(
        "check",
        ("no table is configured", "add [[table]]"),
        wrote(SECOND_TABLE, ""),
    ),
    "an empty file": Mistake("check", ("file: the key `site` is missing",), lambda _: ""),
    "a game that the decree does not have": Mistake(
        "check",
        ("table[0].decree: ARA02 has no game 'trijoker'", "it has: roulette-french, "),
        wrote("roulette-french", "trijoker"),
    ),
    "a wheel at a card table": Mistake(
        "check",
        ("line 16: table[0].device[0].driver", "is for roulette-french and roulette-american"),
        wrote("roulette-french", "blackjack"),
    ),
    "face-down cards without surveillance": Mistake(
        "check",
        (
            "punto-banca deals cards face down",
            "set surveillance.public_key (`novamas keygen` makes one)",
        ),
        lambda text: (
            text.replace("roulette-french", "punto-banca")
            .replace("cammegh-ss2", "bee-tek")
            .replace("simulated = true\n", "")
        ),
    ),
    "a port without its scheme": Mistake(
        "check",
        ("line 17: table[0].device[0].link", "begins with its scheme, as in serial:///dev/"),
        wrote("tcp://127.0.0.1:14001", "/dev/ttyUSB0"),
    ),
    "a port with two slashes": Mistake(
        "check",
        ("line 17: table[0].device[0].link", "with three slashes: serial:///dev/"),
        wrote("tcp://127.0.0.1:14001", "serial://dev/ttyUSB0"),
    ),
    "a scheme is misspelt": Mistake(
        "check",
        ("no link of scheme 'tpc'", "did you mean `tcp`?"),
        wrote("tcp://", "tpc://"),
    ),
    "a speed that is no number": Mistake(
        "check",
        ("line 17: table[0].device[0].link: baud=fast", "expected a whole number"),
        wrote("tcp://127.0.0.1:14001", "serial:///dev/ttyUSB0?baud=fast"),
    ),
    "an option of a port is misspelt": Mistake(
        "check",
        ("unknown option 'bauds'", "did you mean `baud`?"),
        wrote("tcp://127.0.0.1:14001", "serial:///dev/ttyUSB0?bauds=9600"),
    ),
    "a device server without its port": Mistake(
        "check",
        ("line 17", "give a host and a port, as in tcp://192.0.2.7:4001"),
        wrote(":14001", ""),
    ),
    "a broker without its scheme": Mistake(
        "check",
        ("line 7: broker.url", "expected mqtt://host:port, mqtts://host:port or embedded://"),
        wrote(f"embedded://127.0.0.1:{PORT}", "localhost"),
    ),
    "a broker for all, and no people": Mistake(
        "check",
        ("people: is missing: who may give commands?", "says how to enrol people"),
        lambda text: text.replace("embedded://127.0.0.1", "mqtt://192.0.2.1").replace(
            "simulated = true\n", ""
        ),
    ),
    "the people file is missing": Mistake(
        "check",
        ("line 19: people.file", "people.jsonl: No such file"),
        added(f'[people]\nfile = "people.jsonl"\nkey = "{"A" * 43}"\n'),
    ),
    "a language that nobody reads here": Mistake(
        "check",
        ("line 5: site.languages", "expected a list of en, es, ca, eu and gl"),
        wrote('decree = "ARA02"', 'decree = "ARA02"\nlanguages = ["fr"]'),
    ),
    "a jackpot without its games": Mistake(
        "check",
        ("line 18: jackpot[0]", "the key `games` is missing"),
        added('[[jackpot]]\nid = "j"\n'),
    ),
    "a configuration that is not there": Mistake(
        "check nov.toml",
        ("nov.toml: file: cannot be read", "`novamas init` writes a first one"),
    ),
    "a folder in place of a file": Mistake("check .", (".: file: cannot be read: Is a directory",)),
    # the first steps
    "a command is misspelt": Mistake("chek", ("no command 'chek'", "did you mean `check`?")),
    "init without a decree": Mistake(
        "init new.toml",
        ("which decree do the tables play under?", "--decree ARA02 Aragón"),
    ),
    "init with a misspelt decree": Mistake(
        "init new.toml --decree ARA2",
        ("new.toml: not written", "did you mean ARA02?"),
    ),
    "init with a misspelt driver": Mistake(
        "init new.toml --decree ARA02 --driver camegh",
        ("did you mean `cammegh-ss2`?",),
    ),
    "init over a configuration": Mistake(
        "init novamas.toml --decree ARA02",
        ("novamas.toml already exists; not overwritten",),
    ),
    "record without an adapter": Mistake(
        "record serial:///dev/ttyUSB9 out.rec",
        ("/dev/ttyUSB9: no such port", "is the adapter plugged in?", "docs/technician/links.md"),
    ),
    "record with a misspelt driver": Mistake(
        "record serial:///dev/ttyUSB9 out.rec --driver camegh",
        ("did you mean `cammegh-ss2`?",),
    ),
    "identify without a scheme": Mistake(
        "identify /dev/ttyUSB0",
        ("/dev/ttyUSB0: an address begins with its scheme, as in serial:///",),
    ),
    "decode what is no recording": Mistake(
        "decode cammegh-ss2 novamas.toml",
        ("novamas.toml: not a recording, or empty", "no line such as `0.5 < *X;2`"),
    ),
    "a profile that is not there": Mistake(
        "profile check none.toml", ("none.toml: cannot be read",)
    ),
    "a profile of numbers that no wheel has": Mistake(
        "profile new out.rec --shown 17,38", ("38 is no pocket", "from 0 to 36, or 00")
    ),
    "a recorder without an archive": Mistake(
        "surveillance novamas.toml",
        ("novamas.toml: no [archive]", "Add [archive]", "configuration-services.md#archive"),
    ),
    "an alert is misspelt": Mistake("explain link.lots", ("did you mean `link.lost`?",)),
    "games of a misspelt decree": Mistake("games --decree ARA2", ("did you mean `ARA02`?",)),
    "a game that is not in a decree": Mistake(
        "games roulete --decree ARA02",
        ("ARA02 has no game 'roulete'", "it has: roulette-french"),
    ),
    # commands
    "send to another table": Mistake(
        f"send ruleta-1 session.open {SENDER}",
        ("no table 'ruleta-1'", "there are: mesa-1"),
    ),
    "send by nobody": Mistake(
        "send mesa-1 session.open",
        ("who gives the command?", "--by NAME and --role ROLE"),
    ),
    "send a misspelt command": Mistake(
        f"send mesa-1 sesion.open {SENDER}",
        ("no command 'sesion.open'", "did you mean `session.open`?"),
    ),
    "send in a misspelt role": Mistake(
        "send mesa-1 session.open --by Riera --role inspektor",
        ("role: unknown value 'inspektor'", "there are: croupier, table_head, inspector"),
    ),
    "send a misspelt field": Mistake(
        f"send mesa-1 round.void raison=ball_out {SENDER}",
        ("unknown key raison", "did you mean `reason`?"),
    ),
    "send an unknown reason": Mistake(
        f"send mesa-1 round.void reason=bal_out {SENDER}",
        ("reason: unknown value 'bal_out'", "there are: foreign_object, ball_out"),
    ),
    "send without a reason": Mistake(
        f"send mesa-1 round.void {SENDER}",
        ("the key reason is missing",),
    ),
    "send a value without its field": Mistake(
        f"send mesa-1 round.void ball_out {SENDER}",
        ("write FIELD=VALUE, as reason=ball_out",),
    ),
    "send an amount without decimals": Mistake(
        f"send mesa-1 session.open minimum=5 {SENDER}",
        ("minimum: 5 may mean 5.00 or 0.05 EUR", "write it with its decimals"),
    ),
    "send an amount in words": Mistake(
        f"send mesa-1 session.open minimum=five {SENDER}",
        ("minimum: an amount in EUR has 2 decimals, as 5.00",),
    ),
    "send while nothing runs": Mistake(
        f"send mesa-1 session.open {SENDER} --timeout 1",
        (f"embedded://127.0.0.1:{PORT}", "Connection refused", "start the daemon"),
    ),
    "watch another table": Mistake(
        "watch novamas.toml --table mesa-9 --json",
        ("no table 'mesa-9'", "did you mean `mesa-1`?"),
    ),
    # keys, people, backups, evidence
    "a passphrase that others can read": Mistake(
        "people key a.key --passphrase-file open",
        ("open can be read by others", "chmod 600 open"),
    ),
    "a short passphrase": Mistake(
        "people key a.key --passphrase-file short",
        ("3 characters", "at least 12"),
    ),
    "a public key that is none": Mistake(
        f"{SITE_KEY} {PERSON} --role croupier --public abc",
        ("keys[0].x", "expected a public key, the 43 characters that `novamas people key` prints"),
    ),
    "a misspelt role": Mistake(
        f"{SITE_KEY} {PERSON} --role cropier --public abc",
        ("no role 'cropier'", "did you mean `croupier`?"),
    ),
    "a site key that is not there": Mistake(
        f"{SITE_KEY.replace('site.key', 'none.key')} {PERSON} --role croupier --public abc",
        ("none.key: No such file",),
    ),
    "a backup without the choice of keys": Mistake(
        "backup novamas.toml backups",
        ("--passphrase-file --without-keys is required",),
    ),
    "a backup in the wrong place": Mistake(
        "backup novamas.toml backups --without-keys",
        ("journal.sqlite3: there is no journal", "set STATE_DIRECTORY=/var/lib/novamas"),
    ),
    "restore from what is no backup": Mistake(
        "restore novamas.toml empty",
        ("empty: no backup", "name a folder that `novamas backup` wrote"),
    ),
    "verify what is no journal": Mistake(
        "verify novamas.toml",
        ("novamas.toml: not a journal", "name the SQLite file of a daemon (journal.path"),
    ),
    "a signer that is none": Mistake(
        "verify journal.sqlite3 --signer me",
        ("'me' is not a public key: it has 64 hexadecimal",),
    ),
    "export without a journal": Mistake(
        "export none.sqlite3 --table mesa-1",
        ("none.sqlite3: no journal", "name the SQLite file of a daemon"),
    ),
    "a secret key that is not there": Mistake(
        "unseal --key none.key sealed",
        ("none.key: No such file",),
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name, mode, text in (
        ("open", 0o644, "what only they know"),
        ("words", 0o600, "what only they know"),
        ("short", 0o600, "abc"),
    ):
        file = tmp_path / name
        file.touch(mode=mode)
        file.write_text(f"{text}\n")
    return tmp_path


@pytest.mark.parametrize("name", MISTAKES)
def test_the_message_says_what_where_and_what_to_do(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mistake, port = MISTAKES[name], str(free_port())
    text = mistake.change(CONFIGURATION).replace(PORT, port)
    (folder / "novamas.toml").write_text(text)
    words = mistake.command.split()
    if "site.key" in words:
        assert main(["people", "key", "site.key", "--passphrase-file", "words"]) == 0
    before = sorted(folder.iterdir())
    try:
        status = main(["check", "novamas.toml"] if words == ["check"] else words)
    except SystemExit as ended:  # wrong usage
        status = int(ended.code or 0)
    output = capsys.readouterr()
    message = re.sub(r"\s+", " ", output.out + output.err)
    assert status != 0, message
    assert [part for part in mistake.says if part.replace(PORT, port) not in message] == [], message
    assert not re.search(r"Traceback|Expected `|at `\$", message), message
    assert sorted(folder.iterdir()) == before, "a mistake leaves no file behind"


def test_a_port_that_another_program_has(programs: None, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        (tmp_path / "novamas.toml").write_text(CONFIGURATION.replace(PORT, port))
        ended = subprocess.run(
            [sys.executable, "-m", "controller.cli", "run"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=3 * TIMEOUT_SECONDS,
        )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        f"novamas: embedded://127.0.0.1:{port}: Address already in use; stop the program that "
        "listens there, or change the port in `url` of [broker]"
    )
