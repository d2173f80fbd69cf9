"""``novamas people``."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from nacl.signing import SigningKey

from common.people.pin_key import open_pin_key, read_pepper, read_pin_keys
from common.people.private_key import make_private_key, open_private_key
from common.people.register import (
    People,
    PeopleError,
    checked_people,
    read_people,
    to_base64url,
    write_people,
)
from controller.cli import main
from controller.configuration.file import load
from controller.configuration.settings import ConfigurationError
from tests.common.people.test_private_key import LEAST, PASSPHRASE
from tests.support.for_each import for_each
from tests.support.people.staff import public

LASA = ("--id", "m-lasa", "--name", "M. Lasa", "--role", "table_head", "--table", "ruleta-1")
RIERA = ("--id", "a-riera", "--name", "A. Riera", "--role", "croupier", "--table", "ruleta-1")


def may(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    asked = ["people", "may", "--game", "roulette-french", "--decree", "ARA02", *options]
    assert main(asked) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {line["command"]: line for line in lines}


def test_who_may_send_which_command(capsys: pytest.CaptureFixture[str]) -> None:
    found = may(capsys)
    assert found["round.void"] == {
        "command": "round.void",
        "roles": ["table_head", "inspector"],
        "law": "Decreto 159/2002, anexo I, art. 3, epígrafe 1",
        "narrowed": False,
    }
    assert found["bets.open"]["law"] is None


def test_the_commands_of_a_role(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"bets.open", "bets.close"} <= may(capsys, "--role", "croupier").keys()
    assert "round.void" not in may(capsys, "--role", "croupier")
    assert may(capsys, "--role", "reader").keys() == {"recall"}


def test_a_person_gets_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    asked = ["people", "may", "--game", "roulette-french", "--decree", "ARA02"]
    assert main([*asked, "--role", "inspector"]) == 0
    drawn = capsys.readouterr().out
    assert "round.void" in drawn
    assert "default, not by decree" in drawn


@for_each(
    ("asked", "status", "message"),
    [
        (["--game", "roulette-french"], 2, "--decree is missing"),
        (["--decree", "ARA02"], 2, "--game is missing"),
        (["--game", "roulette-french", "--decree", "ARA02", "--role", "cropier"], 2, "croupier"),
        (["--game", "roulete", "--decree", "ARA02"], 1, "no game 'roulete'"),
        (["--game", "trijoker", "--decree", "ARA02"], 1, "trijoker"),
        (["--game", "boule", "--decree", "ARA03"], 1, "ARA02"),
    ],
)
def test_mistakes_are_reported(
    asked: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["people", "may", *asked]) == status
    assert message in capsys.readouterr().err


class Site:
    """A site with its key, and its people file."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.file, self.words, self.key = folder / "people.jsonl", folder / "words", folder / "key"
        self.words.touch(mode=0o600)
        self.words.write_bytes(PASSPHRASE + b"\n")
        self.signer = make_private_key(self.key, PASSPHRASE, *LEAST).verify_key.encode()
        self._capsys = capsys

    def do(self, action: str, *options: str) -> tuple[int, str, str]:
        keys = ("--site-key", str(self.key), "--passphrase-file", str(self.words))
        status = main(["people", action, str(self.file), *options, *keys])
        captured = self._capsys.readouterr()
        return status, captured.out, captured.err

    def people(self) -> People:
        return read_people(self.file.read_bytes(), "palma", self.signer)


@pytest.fixture
def site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Site:
    made = Site(tmp_path, capsys)
    assert made.do("add", *LASA, "--public", public("lasa").x, "--site", "palma")[0] == 0
    return made


def test_a_key_is_made_and_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, file = tmp_path / "words", tmp_path / "lasa.key"
    words.touch(mode=0o600)
    words.write_text("three zeros in a row\n")
    assert main(["people", "key", str(file), "--passphrase-file", str(words)]) == 0
    captured = capsys.readouterr()
    output = json.loads(captured.out)
    assert f"{file} is a secret key: it stays on this machine" in captured.err
    assert "docs/inspector/security.md#which-file-lies-on-which-machine" in captured.err
    key = open_private_key(file, b"three zeros in a row")
    assert output["public"] == to_base64url(key.verify_key.encode())
    assert file.stat().st_mode & 0o777 == 0o600
    words.chmod(0o644)
    assert main(["people", "key", str(file), "--passphrase-file", str(words)]) == 1
    assert "can be read by others" in capsys.readouterr().err


def test_a_person_is_enrolled(site: Site) -> None:
    people = site.people()
    assert people.head.number == 2
    assert [(each.id, each.name, each.roles, each.tables) for each in people.persons] == [
        ("m-lasa", "M. Lasa", ("table_head",), ("ruleta-1",))
    ]
    assert people.owners[public("lasa").id][0].id == "m-lasa"
    person = ("--id", "a-riera", "--name", "A. Riera", "--role", "croupier", "--table", "*")
    term = ("--from", "2026-01-01T00:00:00Z", "--until", "2027-01-01T00:00:00Z")
    status, output, _ = site.do("add", *person, "--public", public("riera").x, *term)
    assert (status, output) == (0, f"{site.file}: number 3, 2 enrolled\n")
    riera = site.people().persons[1]
    assert (riera.since, riera.until) == (term[1], term[3])


@pytest.mark.parametrize("form", ["a file", "a pipe", "a file with the key alone"])
def test_a_public_key_needs_no_copying(
    form: str, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = public("riera").x
    text = f"{key}\n" if "alone" in form else json.dumps({"public": key, "kid": "its id"})
    file = tmp_path / "riera.pub"
    file.write_text(text)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    given = "-" if form == "a pipe" else str(file)
    assert site.do("add", *RIERA, "--public", given)[0] == 0
    assert site.people().persons[-1].keys[0].x == key


def test_what_is_no_public_key_is_refused_in_plain_words(site: Site) -> None:
    status, _, errors = site.do("add", *RIERA, "--public", "no-such-file.pub")
    assert status == 1
    assert "keys[0].x: expected a public key, the 43 characters" in errors


def test_nobody_is_enrolled_twice(site: Site) -> None:
    before = site.file.read_bytes()
    status, _, errors = site.do("add", *LASA, "--public", public("other").x)
    assert status == 1
    assert "m-lasa is enrolled already" in errors
    other = ("--id", "x", "--name", "X", "--role", "director", "--table", "*")
    status, _, errors = site.do("add", *other, "--public", public("lasa").x)
    assert status == 1
    assert "is in line 2 too" in errors
    assert site.file.read_bytes() == before


def test_nobody_is_enrolled_under_a_name_that_looks_like_another(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    before = site.file.read_bytes()
    twin = ("--id", "m-lasa-2", "--name", "\u041c. Lasa", "--role", "director", "--table", "*")
    status, _, errors = site.do("add", *twin, "--public", public("twin").x)
    assert (status, site.file.read_bytes()) == (1, before)
    assert "'\\u041c. Lasa' of m-lasa-2 looks the same as 'M. Lasa' of m-lasa in line 2" in errors
    key = open_private_key(site.key, PASSPHRASE)
    people = site.people()
    other = replace(people.persons[0], id="m-lasa-2", name="\u041c. Lasa", keys=())
    older = checked_people(people.head, [*people.persons, other])  # as an older release signed it
    site.file.write_bytes(write_people(older, key))
    assert main(["people", "list", str(site.file), "--signer", to_base64url(site.signer)]) == 0
    assert "looks the same" in capsys.readouterr().err
    assert "looks the same" in site.do("sign")[2]
    assert site.do("revoke", "--id", "m-lasa-2")[0] == 0, "a right can be revoked in any file"
    assert site.people().alike == {}


def test_a_revoked_person_stays_listed(site: Site) -> None:
    assert site.do("revoke", "--id", "m-lasa")[0] == 0
    assert site.people().persons[0].revoked is not None
    assert public("lasa").id in site.people().owners
    status, _, errors = site.do("revoke", "--id", "nobody")
    assert status == 1
    assert "nobody has the id nobody" in errors


def test_one_key_is_revoked(site: Site) -> None:
    assert site.do("rotate", "--id", "m-lasa", "--public", public("lasa-tablet").x)[0] == 0
    assert site.do("revoke", "--id", "m-lasa", "--kid", public("lasa").id)[0] == 0
    person = site.people().persons[0]
    assert person.revoked is None
    assert [key.revoked is not None for key in person.keys] == [True, False]
    status, _, errors = site.do("revoke", "--id", "m-lasa", "--kid", "other")
    assert status == 1
    assert "has no key other" in errors


def test_a_key_is_rotated(site: Site) -> None:
    until = "2999-01-01T00:00:00.000000Z"
    result = site.do("rotate", "--id", "m-lasa", "--public", public("next").x, "--until", until)
    assert result[0] == 0
    old, new = site.people().persons[0].keys
    assert (old.until, new.until, new.x) == (until, None, public("next").x)
    assert site.do("rotate", "--id", "m-lasa", "--public", public("third").x)[0] == 0
    first, second, third = site.people().persons[0].keys
    assert first.until == second.until != until
    assert third.until is None


def test_changes_by_hand_are_reported_and_can_be_signed(site: Site) -> None:
    site.file.write_bytes(site.file.read_bytes().replace(b"table_head", b"inspector"))
    with pytest.raises(PeopleError, match="changed after it was signed"):
        site.people()
    status, _, errors = site.do("revoke", "--id", "m-lasa")
    assert status == 1
    assert "changed after it was signed" in errors
    assert site.do("sign")[0] == 0
    assert site.people().persons[0].roles == ("inspector",)


def test_who_is_enrolled(
    site: Site, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = ["people", "list", str(site.file)]
    assert main([*listing, "--signer", to_base64url(site.signer)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    line = json.loads(captured.out)
    assert (line["id"], line["keys"][0]["kid"]) == ("m-lasa", public("lasa").id)
    assert main(listing) == 0
    assert "the signature was not verified" in capsys.readouterr().err
    assert main([*listing, "--signer", public("lasa").x]) == 1
    assert "not with the site's" in capsys.readouterr().err
    assert main([*listing, "--signer", "abc"]) == 2
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main([*listing, "--signer", to_base64url(site.signer)]) == 0
    assert "palma, number 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("action", "options", "status", "message"),
    [
        ("add", LASA[2:], 2, "--id is missing"),
        ("add", LASA, 2, "--public is missing"),
        ("add", (*LASA[:5], "owner", *LASA[6:], "--public", public("x").x), 1, "owner"),
        ("add", ("--id", "A B", *LASA[2:], "--public", public("x").x), 1, "id"),
        ("rotate", ("--id", "m-lasa"), 2, "--public is missing"),
        ("rotate", ("--id", "m-lasa", "--public", "x", "--until", "soon"), 2, "--until: 'soon'"),
        ("rotate", ("--id", "m-lasa", "--public", "x"), 1, "x"),
        ("revoke", (), 2, "--id is missing"),
    ],
)
def test_wrong_changes_change_nothing(
    action: str, options: tuple[str, ...], status: int, message: str, site: Site
) -> None:
    before = site.file.read_bytes()
    found = site.do(action, *options)
    assert found[0] == status
    assert message in found[2]
    assert site.file.read_bytes() == before
    assert sorted(path.name for path in site.file.parent.iterdir()) == [
        "key",
        "people.jsonl",
        "words",
    ]


def test_another_key_changes_nothing(site: Site, tmp_path: Path) -> None:
    site.key = tmp_path / "stranger"
    make_private_key(site.key, PASSPHRASE, *LEAST)
    before = site.file.read_bytes()
    status, _, errors = site.do("revoke", "--id", "m-lasa")
    assert status == 1
    assert "not with the site's" in errors
    assert site.file.read_bytes() == before


WITH_CONSOLE = """[site]
id = "palma"

[broker]
url = "embedded://127.0.0.1:1"

[people]
file = "people.jsonl"
key = "{key}"

[web]
pin_keys = "pins"
pepper_file = "secrets/pepper"

[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial:///dev/wheel?baud=9600"
"""


def test_a_person_gets_a_pin_and_another_one(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = make_private_key(tmp_path / "riera.key", PASSPHRASE, *LEAST)
    shown = to_base64url(key.verify_key.encode())
    assert site.do("add", *RIERA, "--public", shown)[0] == 0
    config, pin = tmp_path / "novamas.toml", tmp_path / "pin"
    config.write_text(WITH_CONSOLE.format(key=to_base64url(site.signer)))
    pin.touch(mode=0o600)
    options = ["--config", str(config), "--passphrase-file", str(site.words)]

    def give(digits: str, *more: str) -> tuple[int, str]:
        pin.write_text(digits + "\n")
        asked = ["people", "pin", str(tmp_path / "riera.key"), *options, "--pin-file", str(pin)]
        return main([*asked, *more]), capsys.readouterr().err

    assert give("123456")[0] == 1
    assert not (tmp_path / "pins").exists()
    assert give("271828", "--badge", "12") == (0, "")
    pepper = read_pepper(tmp_path / "secrets" / "pepper")
    (sealed,) = read_pin_keys(tmp_path / "pins")
    assert (sealed.person, sealed.badge) == ("a-riera", "12")
    assert open_pin_key(sealed, "271828", pepper) == key
    assert give("271828", "--badge", " 12 ") == (0, "")
    assert [each.badge for each in read_pin_keys(tmp_path / "pins")] == ["12"]
    assert give("314159") == (0, "")
    (again,) = read_pin_keys(tmp_path / "pins")
    assert open_pin_key(again, "314159", read_pepper(tmp_path / "secrets" / "pepper")) == key
    (tmp_path / "secrets" / "pepper").unlink()
    status, told = give("314159")
    assert status == 1  # another pepper would open none of the keys that are there
    assert "pepper" in told
    config.write_text(config.read_text().replace("pin_keys", "# pin_keys"))
    assert "set `pin_keys`" in give("314159")[1]


def test_a_console_needs_a_pepper_and_people(tmp_path: Path) -> None:
    config = tmp_path / "novamas.toml"
    text = WITH_CONSOLE.replace("pepper_file", "# pepper_file")
    config.write_text(text.replace('[people]\nfile = "people.jsonl"\nkey = "{key}"\n', ""))
    with pytest.raises(ConfigurationError) as mistaken:
        load(config)
    told = str(mistaken.value)
    assert "`pepper_file` or `pepper_credential` is required too" in told
    assert "signed commands need [people]" in told


def test_a_key_that_begins_with_a_hyphen_is_no_option(site: Site) -> None:
    keys = (SigningKey(bytes([number]) * 32).verify_key.encode() for number in range(256))
    shown = next(key for key in map(to_base64url, keys) if key.startswith("-"))
    assert site.do("add", *RIERA, "--public", shown)[0] == 0
    with pytest.raises(SystemExit):  # a shorter word is an option, as it was
        site.do("add", *RIERA, "--public", "-x")
