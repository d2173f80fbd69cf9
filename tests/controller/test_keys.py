"""The keys behind cards that lie face down: what the configuration has to name, and what is made at the first start."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import structlog
from nacl.public import PrivateKey

from controller.confidential import Keeper, Opened, Unopened, open_sealed, public_key, spelled
from controller.configuration import Configuration, Mistaken, load
from controller.key_file import KeyFileUnusable, read_key_file
from controller.keys import keeper_of

PAIR = PrivateKey.generate()


def configured(folder: Path, surveillance: str = "", *, simulated: bool = False) -> Configuration:
    file = folder / "novamas.toml"
    file.write_text(
        f"""[site]
id = "palma"
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
    with pytest.raises(Mistaken, match=r"table\[0\].game: punto-banca deals cards face down: set surveillance.public_key"):
        configured(tmp_path)


@pytest.mark.parametrize("key", ["", "7h", "00" * 31, "zz" * 32, "Ñ" * 44])
def test_a_key_that_is_none_is_a_mistake(key: str, tmp_path: Path) -> None:
    with pytest.raises(Mistaken, match=r"surveillance.public_key: expected"):
        configured(tmp_path, section(key))


def test_a_key_in_hexadecimal_or_base64() -> None:
    text = "ERERERERERERERERERERERERERERERERERERERERERE="
    assert spelled(public_key(text)) == "11" * 32 == spelled(public_key("11" * 32))


def test_what_is_sealed_only_surveillance_opens_and_what_is_locked_only_this_daemon(tmp_path: Path) -> None:
    keeper = keeper_of(configured(tmp_path, section(spelled(PAIR.public_key))))
    entry = Opened("bacara-1", "b1", 7, "now", "input", msgspec.Raw(b'{"card":"7h"}'))
    sealed, locked = keeper.seal(entry), keeper.lock(b'{"card":"7h"}')
    assert bytes(open_sealed(sealed, PAIR).body) == b'{"card":"7h"}'
    with pytest.raises(Unopened, match="another key"):
        open_sealed(sealed, PrivateKey.generate())
    with pytest.raises(Unopened, match="not sealed"):
        open_sealed(locked, PAIR)
    again = keeper_of(configured(tmp_path, section(spelled(PAIR.public_key))))
    assert again.unlock(locked) == b'{"card":"7h"}'
    secret = tmp_path / "journal.sqlite3.secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    secret.unlink()
    with pytest.raises(Unopened, match=r"journal\.sqlite3\.secret"):
        keeper_of(configured(tmp_path, section(spelled(PAIR.public_key)))).unlock(locked)


def test_the_length_of_a_box_tells_nothing() -> None:
    keeper = Keeper(PAIR.public_key, b"s" * 32)
    bodies = [msgspec.json.encode({"card": card, "frame": card * 3}) for card in ("7h", "10h", "unread")]
    sealed = [keeper.seal(Opened("bacara-1", "b1", 7, "now", "input", msgspec.Raw(body))) for body in bodies]
    assert len({len(box) for box in sealed}) == 1
    assert len({len(keeper.lock(body)) for body in bodies}) == 1
    assert [keeper.unlock(keeper.lock(body)) for body in bodies] == bodies


def test_simulated_tables_make_a_pair_of_their_own(tmp_path: Path) -> None:
    configuration = configured(tmp_path, simulated=True)
    with structlog.testing.capture_logs() as logs:
        keeper = keeper_of(configuration)
    private = tmp_path / "journal.sqlite3.simulated-surveillance"
    assert [line["private_key"] for line in logs] == [str(private)]
    entry = Opened("bacara-1", "b1", 7, "now", "input", msgspec.Raw(b"1"))
    assert open_sealed(keeper.seal(entry), PrivateKey(read_key_file(private))).seq == 7


def test_the_secret_as_a_credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = configured(tmp_path, section(spelled(PAIR.public_key)) + '\nsecret_credential = "novamas.secret"')
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    with pytest.raises(KeyFileUnusable, match=r"'novamas.secret': no LoadCredential="):
        keeper_of(configuration)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    with pytest.raises(KeyFileUnusable, match=r"novamas\.secret: No such file"):
        keeper_of(configuration)
    (tmp_path / "novamas.secret").write_text("no key")
    with pytest.raises(KeyFileUnusable, match="64 hexadecimal digits"):
        keeper_of(configuration)
    (tmp_path / "novamas.secret").write_text("11" * 32)
    assert keeper_of(configuration).unlock(keeper_of(configuration).lock(b"1")) == b"1"
    assert not (tmp_path / "journal.sqlite3.secret").exists()
