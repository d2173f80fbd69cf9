"""Small files that a kill, a full disk or a person damaged: each program that reads one rejects it,
and says which file, what is wrong and what to do, in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from msgspec.structs import replace
from nacl.signing import SigningKey

from common.chain.checkpoint import load_key
from common.confidential.key_file import read_key_file
from common.errors import NovamasError
from common.people.people_file import PeopleFile, RememberedPeopleFile
from common.people.pin_key import (
    PEPPER_BYTES,
    PinKeyError,
    WrongPinError,
    open_pin_key,
    read_pepper,
    read_pin_keys,
    seal_key,
)
from common.people.private_key import PrivateKeyError, make_private_key, open_private_key
from common.people.register import PeopleError, to_base64url
from common.people.tokens import TokenFile, add_token
from subscribers.carrousel.orders import OrderPeople
from subscribers.console.admission import PEOPLE_CACHE_FILE, Admission, SignInUnavailableError
from subscribers.console.settings import PitSettings
from subscribers.feed.recall_key import RecallKey
from tests.common.people.test_people_file import KEY, file
from tests.support.people.staff import SITE
from tests.support.web.pit import console

PASSPHRASE, PEPPER, PIN = b"correct horse battery", b"p" * PEPPER_BYTES, "271828"
WEAK_MEMORY_BYTES, WEAK_MEMORY_KIB = 8192, 64
SEALED = seal_key(SigningKey(b"k" * 32), "m-lasa", "4711", PIN, PEPPER, WEAK_MEMORY_KIB)
LIBRARY_WORDS = re.compile(
    r"\[Errno|Expecting|JSON is malformed|Input data|codec can't|non-hexadecimal|Expected `"
)
ADVICE = re.compile(r"; |\. |\(")


class SmallFile(NamedTuple):
    """A sound file, and what reads it at the path."""

    content: bytes
    read: Callable[[Path], object]
    may_be_missing: bool = False


def private_key(folder: Path) -> bytes:
    path = folder / "sound-private-key"
    make_private_key(path, PASSPHRASE, 1, WEAK_MEMORY_BYTES)
    return path.read_bytes()


def tokens(folder: Path) -> bytes:
    path = folder / "sound-tokens.jsonl"
    add_token(path, "shop-1", [], None, 1_774_000_000.0)
    TokenFile(path, folder / "memory").tokens()
    return (folder / "memory").read_bytes()


def beside(path: Path, content: bytes) -> Path:
    other = path.with_name("beside")
    other.write_bytes(content)
    other.chmod(0o600)
    return other


def open_pin_keys(path: Path) -> None:
    for sealed in read_pin_keys(path.parent):
        open_pin_key(sealed, PIN, PEPPER)


def small_files(folder: Path) -> dict[str, SmallFile]:
    secret, hexadecimal = private_key(folder), b"0a" * 32 + b"\n"
    return {
        "people": SmallFile(file(7), lambda path: PeopleFile(str(path), KEY, SITE, None)),
        "remembered people": SmallFile(
            file(7),
            lambda path: RememberedPeopleFile(str(beside(path, file(7))), KEY, SITE, path),
            may_be_missing=True,
        ),
        "remembered tokens": SmallFile(
            tokens(folder), lambda path: TokenFile(beside(path, b""), path).tokens(), True
        ),
        "private key": SmallFile(secret, lambda path: open_private_key(path, PASSPHRASE)),
        "PIN key": SmallFile(
            msgspec.json.encode(SEALED) + b"\n", open_pin_keys, may_be_missing=True
        ),
        "pepper": SmallFile(to_base64url(PEPPER).encode() + b"\n", read_pepper),
        "key of face-down cards": SmallFile(hexadecimal, read_key_file),
        "signing key": SmallFile(hexadecimal, load_key),
    }


def damages(sound: bytes) -> Iterator[tuple[str, bytes | None]]:
    yield "missing", None
    yield "empty", b""
    yield "zeros", b"\0" * len(sound)
    yield "not text", b"\xff\xfe\n"
    yield "deep", b"[" * 3000 + b"\n"
    text = sound.rstrip(b"\n")
    for length in sorted({1, *range(0, len(text), max(1, len(text) // 16)), len(text) - 1}):
        yield f"cut to {length} bytes", text[:length]
        yield f"cut to {length} bytes and a line end", text[:length] + b"\n"


NAMES = (
    "people",
    "remembered people",
    "remembered tokens",
    "private key",
    "PIN key",
    "pepper",
    "key of face-down cards",
    "signing key",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_rejected_in_plain_words(name: str, tmp_path: Path) -> None:
    small = small_files(tmp_path)[name]
    path = tmp_path / "folder" / "it.pin-key"
    path.parent.mkdir()
    wrong = []
    for damage, content in damages(small.content):
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
            path.chmod(0o600)
        try:
            small.read(path)
        except NovamasError as error:
            text = str(error)
            if str(path) not in text or LIBRARY_WORDS.search(text) or not ADVICE.search(text):
                wrong.append((damage, text))
        else:
            if content is not None or not small.may_be_missing:
                wrong.append((damage, "accepted"))
    assert wrong == []


def test_remembered_people_with_a_damaged_key_do_not_count_as_another_sites(tmp_path: Path) -> None:
    """They would be forgotten, and an older file would give a revoked person the rights again."""
    people, memory = tmp_path / "people.jsonl", tmp_path / "memory"
    people.write_bytes(file(7))
    sound = file(8, revoked="2026-11-22T12:00:00Z")
    start = sound.index(b'{"key":"') + len(b'{"key":"')
    for position in range(start, start + 64):
        digit = b"0" if sound[position : position + 1] != b"0" else b"1"
        memory.write_bytes(sound[:position] + digit + sound[position + 1 :])
        with pytest.raises(PeopleError, match=r"memory, which remembers .* is damaged"):
            RememberedPeopleFile(str(people), KEY, SITE, memory)


def test_people_that_cannot_be_remembered_are_named_in_plain_words(tmp_path: Path) -> None:
    people, ledger, state = tmp_path / "people.jsonl", tmp_path / "ledger", tmp_path / "web"
    people.write_bytes(file(7))
    (tmp_path / "ledger.people").mkdir()
    orders = OrderPeople(str(people), KEY, SITE, ledger)
    assert orders.people is None
    assert orders.trouble == f"{tmp_path / 'ledger.people'}: Is a directory"
    (state / PEOPLE_CACHE_FILE).mkdir(parents=True)
    settings = msgspec.convert(console(tmp_path / "pit", SITE, people), PitSettings)
    with pytest.raises(SignInUnavailableError) as caught:
        Admission(settings, SITE, state, lambda: 1.0)
    assert str(caught.value) == f"{state / PEOPLE_CACHE_FILE}: Is a directory"


def test_a_pin_key_with_damaged_numbers_is_no_wrong_pin() -> None:
    for changed in (replace(SEALED, salt=""), replace(SEALED, memory=64, lanes=16)):
        with pytest.raises(PinKeyError, match="key of m-lasa cannot be opened") as caught:
            open_pin_key(changed, PIN, PEPPER)
        assert not isinstance(caught.value, WrongPinError)


def test_a_missing_passphrase_is_named_with_its_key(tmp_path: Path) -> None:
    key, passphrase = tmp_path / "key", tmp_path / "passphrase"
    with pytest.raises(PrivateKeyError) as caught:
        RecallKey(key, passphrase)
    assert str(caught.value).startswith(f"{passphrase}: the passphrase of {key} cannot be read: No")
