"""Tokens: made once, stored as a hash, read again when the file changes, worthless when revoked."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.times import format_utc
from common.people.tokens import (
    ApiToken,
    TokenFile,
    TokensError,
    add_token,
    read_tokens,
    revoke_token,
)

NOW = 1_774_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "api" / "tokens.jsonl"


def test_a_token_is_stored_as_its_hash_alone(path: Path) -> None:
    made, token = add_token(path, "shop-1", ["ruleta-1"], None, NOW)
    assert token not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert TokenFile(path).find(token, NOW) == made
    assert made.may_read("ruleta-1")
    assert not made.may_read("ruleta-2")


def test_a_running_server_sees_what_is_added_and_revoked(path: Path) -> None:
    file = TokenFile(path)
    assert file.tokens() == ()
    first, token = add_token(path, "shop-1", [], None, NOW)
    _, other = add_token(path, "shop-2", [], None, NOW)
    assert file.find(token, NOW) == first
    assert file.is_valid(first, NOW)
    revoke_token(path, "shop-1")
    assert file.find(token, NOW) is None
    assert not file.is_valid(first, NOW)
    assert file.find(other, NOW) is not None
    path.unlink()
    assert file.find(other, NOW) is None


def test_a_token_of_the_same_name_is_another_one(path: Path) -> None:
    first, token = add_token(path, "shop-1", [], None, NOW)
    revoke_token(path, "shop-1")
    add_token(path, "shop-1", [], None, NOW)
    assert TokenFile(path).find(token, NOW) is None
    assert not TokenFile(path).is_valid(first, NOW)


def test_a_token_ends_at_its_time(path: Path) -> None:
    made, token = add_token(path, "shop-1", [], format_utc(NOW + 10), NOW)
    file = TokenFile(path)
    assert file.find(token, NOW + 9.9) == made
    assert file.find(token, NOW + 10) is None
    assert not file.is_valid(made, NOW + 10)


@pytest.mark.parametrize(
    ("name", "until", "words"),
    [
        ("Shop 1", None, "name"),
        ("", None, "name"),
        ("shop-1", "tomorrow", "until"),
        ("shop-1", format_utc(NOW), "past"),
        ("taken", None, "has a token"),
    ],
)
def test_a_refusal_says_what_is_wrong(path: Path, name: str, until: str | None, words: str) -> None:
    add_token(path, "taken", [], None, NOW)
    before = path.read_bytes()
    with pytest.raises(TokensError, match=words):
        add_token(path, name, [], until, NOW)
    with pytest.raises(TokensError, match="no token"):
        revoke_token(path, "unknown")
    assert path.read_bytes() == before


def test_no_token_counts_while_the_file_is_unreadable(path: Path) -> None:
    made, token = add_token(path, "shop-1", [], None, NOW)
    file = TokenFile(path)
    path.chmod(0o644)
    with pytest.raises(TokensError, match="chmod 600"):
        file.find(token, NOW)
    assert not file.is_valid(made, NOW)
    path.chmod(0o600)
    assert file.find(token, NOW) == made
    path.write_bytes(path.read_bytes() + b'{"name":"x"}\n')
    with pytest.raises(TokensError, match="line 2"):
        file.find(token, NOW)


@given(st.binary(max_size=200))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("tokens") / "tokens.jsonl"
    path.write_bytes(data)
    path.chmod(0o600)
    with suppress(TokensError):
        assert all(isinstance(token, ApiToken) for token in read_tokens(path))


@given(st.text(max_size=60))
def test_no_other_text_is_a_token(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("tokens") / "tokens.jsonl"
    _, token = add_token(path, "shop-1", [], None, NOW)
    file = TokenFile(path)
    for wrong in (text, token[:-1], token + text[:1] + " ", token.upper()):
        assert file.find(wrong, NOW) is None
