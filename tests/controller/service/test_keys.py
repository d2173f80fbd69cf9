"""The keys for cards that lie face down: those that the configuration has to name, and those made
at the first start.
"""

from __future__ import annotations

import base64
from pathlib import Path

import msgspec
import pytest
import structlog
from nacl.public import PrivateKey, SealedBox
from nacl.signing import SigningKey

from common.chain.checkpoint import public
from common.confidential.boxes import (
    BadSignatureError,
    CardCipher,
    UnopenedBoxError,
    format_public_key,
    open_sealed,
    parse_public_key,
    verified_signer,
)
from common.confidential.key_file import KeyFileError, read_key_file
from common.contract.sealed import Opened
from controller.cli import main
from controller.configuration.file import load
from controller.configuration.settings import Configuration, ConfigurationError
from controller.service.keys import card_cipher

PAIR = PrivateKey.generate()


def configured(folder: Path, surveillance: str = "", *, simulated: bool = False) -> Configuration:
    file = folder / "novamas.toml"
    file.write_text(
        f"""[site]
id = "palma"
[people]
required = "accept-the-risk"
{surveillance}
[[table]]
id = "bacara-1"
game = "punto-banca"
decree = "ARA02"
simulated = {str(simulated).lower()}

[[table.device]]
id = "shoe"
driver = "angel-eye"
link = "tcp://127.0.0.1:4001"
"""
    )
    return load(file)


def section(key: str) -> str:
    return f'[surveillance]\npublic_key = "{key}"'


def test_a_real_table_needs_the_key_of_surveillance(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"table\[0\].game: punto-banca deals cards face down; set surveillance.public_key",
    ):
        configured(tmp_path)


@pytest.mark.parametrize("key", ["", "7h", "00" * 31, "zz" * 32, "Ñ" * 44])
def test_an_invalid_key_is_a_mistake(key: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"surveillance.public_key: expected"):
        configured(tmp_path, section(key))


def test_a_key_in_hexadecimal_or_base64() -> None:
    text = "ERERERERERERERERERERERERERERERERERERERERERE="
    assert (
        format_public_key(parse_public_key(text))
        == "11" * 32
        == format_public_key(parse_public_key("11" * 32))
    )


def test_only_surveillance_opens_sealed_data_and_only_this_daemon_its_locked_state(
    tmp_path: Path,
) -> None:
    cipher = card_cipher(configured(tmp_path, section(format_public_key(PAIR.public_key))))
    entry = Opened("bacara-1", "b1", 7, "now", "input", msgspec.Raw(b'{"card":"7h"}'))
    sealed, locked = cipher.seal(entry), cipher.lock(b'{"card":"7h"}')
    assert bytes(open_sealed(sealed, PAIR).body) == b'{"card":"7h"}'
    with pytest.raises(UnopenedBoxError, match="another key"):
        open_sealed(sealed, PrivateKey.generate())
    with pytest.raises(UnopenedBoxError, match="not a sealed entry"):
        open_sealed(locked, PAIR)
    again = card_cipher(configured(tmp_path, section(format_public_key(PAIR.public_key))))
    assert again.unlock(locked) == b'{"card":"7h"}'
    secret = tmp_path / "journal.sqlite3.secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    secret.unlink()
    with pytest.raises(UnopenedBoxError, match=r"journal\.sqlite3\.secret"):
        card_cipher(configured(tmp_path, section(format_public_key(PAIR.public_key)))).unlock(
            locked
        )


@pytest.mark.parametrize("signer", [None, SigningKey.generate()])
def test_the_length_of_a_box_reveals_nothing(signer: SigningKey | None) -> None:
    cipher = CardCipher(PAIR.public_key, b"s" * 32, signer=lambda: signer)
    bodies = [
        msgspec.json.encode({"card": card, "frame": card * 3}) for card in ("7h", "10h", "unread")
    ]
    sealed = [
        cipher.seal(Opened("bacara-1", "b1", 7, "now", "input", msgspec.Raw(body)))
        for body in bodies
    ]
    assert len({len(box) for box in sealed}) == 1
    assert len({len(cipher.lock(body)) for body in bodies}) == 1
    assert [cipher.unlock(cipher.lock(body)) for body in bodies] == bodies


def test_a_box_names_the_daemon_that_made_it() -> None:
    key, other = SigningKey.generate(), SigningKey.generate()
    signers = [key, other, None]
    cipher = CardCipher(PAIR.public_key, b"s" * 32, signer=lambda: signers.pop(0))
    entry = Opened("bacara-1", "b1", 7, "now", "input", msgspec.Raw(b"1"))
    mine, theirs, old = (cipher.seal(entry) for _ in range(3))
    assert [verified_signer(box) for box in (mine, theirs, old)] == [
        public(key),
        public(other),
        None,
    ]
    assert msgspec.json.decode(old).keys() == {"sealed"}
    fields = msgspec.json.decode(mine)
    for forged in (
        {**fields, "sealed": msgspec.json.decode(theirs)["sealed"]},
        {**fields, "key": public(other)},
        {**fields, "key": "7h"},
        {**fields, "signature": "00" * 64},
        {**fields, "signature": "zz"},
    ):
        with pytest.raises(BadSignatureError, match="was not signed with the key"):
            verified_signer(msgspec.json.encode(forged))


def test_unseal_distinguishes_the_boxes_of_the_daemon_from_those_of_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, file, messages = SigningKey.generate(), tmp_path / "key", tmp_path / "messages"
    file.write_text(PAIR.encode().hex())
    entry = Opened("bacara-1", "b1", 7, "now", "input", msgspec.Raw(b'{"card":"7h"}'))
    signers = [key, SigningKey.generate(), None]
    cipher = CardCipher(PAIR.public_key, b"s" * 32, signer=lambda: signers.pop(0))
    mine, theirs, old = (cipher.seal(entry) for _ in range(3))
    changed = msgspec.json.encode({**msgspec.json.decode(theirs), "key": public(key)})
    messages.write_bytes(b"\n".join((mine, theirs, old, changed)))

    def unseal_output(*words: str) -> tuple[int, list[str], str]:
        status = main(["unseal", "--key", str(file), *words, str(messages)])
        out, err = capsys.readouterr()
        return status, [msgspec.json.decode(line)["signed"] for line in out.splitlines()], err

    assert unseal_output("--signer", public(key))[:2] == (
        1,
        ["key_given", "unknown_key", "not_signed", "bad_signature"],
    )
    assert unseal_output()[1] == ["unknown_key", "unknown_key", "not_signed", "bad_signature"]
    assert "4 boxes: 2 signed with an unknown key" in unseal_output()[2]
    messages.write_bytes(b"\n".join((mine, mine)))
    assert unseal_output("--signer", public(key))[:2] == (0, ["key_given"] * 2)
    messages.write_bytes(old)
    assert unseal_output()[:2] == (0, ["not_signed"])
    assert unseal_output("--signer", public(key))[0] == 1


@pytest.mark.parametrize(
    "inside",
    [b"[" * 100_000, b'{"table":7}', b"", b'{"table":"\xff"}', b'{"seq":' + b"9" * 5000 + b"}"],
)
def test_a_forged_box_causes_no_traceback(
    inside: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, messages = tmp_path / "key", tmp_path / "messages"
    file.write_text(PAIR.encode().hex())
    box = base64.b64encode(SealedBox(PAIR.public_key).encrypt(inside)).decode()
    hostile = b'{"sealed":' + b"[" * 100_000
    messages.write_bytes(msgspec.json.encode({"sealed": box}) + b"\n" + hostile + b"\n")
    assert main(["unseal", "--key", str(file), str(messages)]) == 1
    errors = capsys.readouterr().err
    assert "line 1: the box contains no journal entry" in errors
    assert "line 2: not a sealed entry" in errors


def test_simulated_tables_make_a_pair_of_their_own(tmp_path: Path) -> None:
    configuration = configured(tmp_path, simulated=True)
    with structlog.testing.capture_logs() as logs:
        cipher = card_cipher(configuration)
    private = tmp_path / "journal.sqlite3.simulated-surveillance"
    assert [line["private_key"] for line in logs] == [str(private)]
    entry = Opened("bacara-1", "b1", 7, "now", "input", msgspec.Raw(b"1"))
    assert open_sealed(cipher.seal(entry), PrivateKey(read_key_file(private))).seq == 7


def test_the_secret_as_a_credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = configured(
        tmp_path,
        section(format_public_key(PAIR.public_key)) + '\nsecret_credential = "novamas.secret"',
    )
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    with pytest.raises(KeyFileError, match=r"'novamas.secret': systemd passes no credentials"):
        card_cipher(configuration)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    with pytest.raises(KeyFileError, match=r"novamas\.secret: No such file"):
        card_cipher(configuration)
    (tmp_path / "novamas.secret").write_text("no key")
    with pytest.raises(KeyFileError, match="64 hexadecimal digits"):
        card_cipher(configuration)
    (tmp_path / "novamas.secret").write_text("11" * 32)
    assert card_cipher(configuration).unlock(card_cipher(configuration).lock(b"1")) == b"1"
    assert not (tmp_path / "journal.sqlite3.secret").exists()
