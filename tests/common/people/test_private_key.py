"""The file of a secret key."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from nacl.pwhash import argon2id

from common.new_file import is_exposed
from common.people.private_key import (
    PrivateKeyError,
    make_private_key,
    open_private_key,
    public_part,
)
from common.people.register import to_base64url

PASSPHRASE = b"three zeros in a row"
LEAST = (argon2id.OPSLIMIT_MIN, argon2id.MEMLIMIT_MIN)


def made(folder: Path) -> Path:
    path = folder / "lasa.key"
    make_private_key(path, PASSPHRASE, *LEAST)
    return path


def test_a_key_file_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "lasa.key"
    key = make_private_key(path, PASSPHRASE, *LEAST)
    assert open_private_key(path, PASSPHRASE) == key
    assert public_part(path) == to_base64url(key.verify_key.encode())
    assert path.stat().st_mode & 0o777 == 0o600
    assert key.encode().hex() not in path.read_text()
    assert to_base64url(key.encode()) not in path.read_text()


def test_the_default_costs_memory() -> None:
    """So that guessing is expensive: RFC 9106 requires at least 64 MiB."""
    assert argon2id.MEMLIMIT_MODERATE >= 64 << 20
    assert make_private_key.__defaults__ == (
        argon2id.OPSLIMIT_MODERATE,
        argon2id.MEMLIMIT_MODERATE,
    )


def test_another_passphrase_does_not_open_it(tmp_path: Path) -> None:
    with pytest.raises(PrivateKeyError, match="the passphrase is wrong, or the file was changed"):
        open_private_key(made(tmp_path), b"three zeros in a bow")


def test_a_short_passphrase_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrivateKeyError, match="at least 12"):
        make_private_key(tmp_path / "key", b"short", *LEAST)
    assert not (tmp_path / "key").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = made(tmp_path)
    before = path.read_bytes()
    with pytest.raises(PrivateKeyError, match="already exists; not overwritten"):
        make_private_key(path, PASSPHRASE, *LEAST)
    assert path.read_bytes() == before


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path)
    path.chmod(0o640)
    with pytest.raises(PrivateKeyError, match="can be read by others; chmod 600"):
        open_private_key(path, PASSPHRASE)


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "webauthn 1"},
        {"public": "AAAA"},
        {"salt": "AAAA"},
        {"memory": 1 << 40},
        {"operations": 0},
        {"box": "AAAA"},
        {"box": "!"},
        {"more": 1},
    ],
    ids=str,
)
def test_a_file_that_was_changed_is_refused(tmp_path: Path, changed: dict[str, object]) -> None:
    path = made(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(PrivateKeyError, match=r"holds no key|was changed"):
        open_private_key(path, PASSPHRASE)


def test_a_file_that_is_no_key_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with pytest.raises(PrivateKeyError, match="No such file"):
        open_private_key(path, PASSPHRASE)
    for body in ("", "ab" * 32, "x" * 5000):
        path.write_text(body)
        path.chmod(0o600)
        with pytest.raises(PrivateKeyError, match="holds no key"):
            public_part(path)


@pytest.mark.parametrize(
    ("mode", "owner", "reader", "exposed"),
    [
        (0o600, 1000, 1000, False),
        (0o640, 1000, 1000, True),
        (0o640, 0, 1000, False),  # of root, for the group of a service
        (0o640, 0, 0, True),
        (0o644, 0, 1000, True),
    ],
)
def test_only_a_file_of_root_may_be_readable_by_a_group(
    mode: int, owner: int, reader: int, exposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: reader)
    status = os.stat_result((0o100000 | mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))
    assert is_exposed(status) is exposed
