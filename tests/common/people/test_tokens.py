"""Tokens: made once, stored as a hash, read again when the file changes, worthless when revoked."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.times import format_utc
from common.people.tokens import (
    MEMORY_FILE,
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


def server(path: Path) -> TokenFile:
    return TokenFile(path, path.parent / "web" / MEMORY_FILE)


def test_a_token_is_stored_as_its_hash_alone(path: Path) -> None:
    made, token = add_token(path, "shop-1", ["ruleta-1"], None, NOW)
    assert token not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert server(path).find(token, NOW) == made
    assert made.may_read("ruleta-1")
    assert not made.may_read("ruleta-2")


def test_a_running_server_sees_what_is_added_and_revoked(path: Path) -> None:
    file = server(path)
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
    assert server(path).find(token, NOW) is None
    assert not server(path).is_valid(first, NOW)


def test_a_token_ends_at_its_time(path: Path) -> None:
    made, token = add_token(path, "shop-1", [], format_utc(NOW + 10), NOW)
    file = server(path)
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
    file = server(path)
    path.chmod(0o644)
    with pytest.raises(TokensError, match="chmod 600"):
        file.find(token, NOW)
    assert not file.is_valid(made, NOW)
    path.chmod(0o600)
    assert file.find(token, NOW) == made
    path.write_bytes(path.read_bytes() + b'{"name":"x"}\n')
    with pytest.raises(TokensError, match="line 3"):
        file.find(token, NOW)


@pytest.mark.parametrize("restarts", [False, True])
def test_an_older_copy_revives_no_revoked_token(path: Path, restarts: bool) -> None:
    _, kept = add_token(path, "shop-1", [], None, NOW)
    revoked, token = add_token(path, "shop-2", [], None, NOW)
    file, copy = server(path), path.read_bytes()
    assert file.find(token, NOW) == revoked
    revoke_token(path, "shop-2")
    _, later = add_token(path, "shop-3", [], None, NOW)
    last = path.read_bytes()
    assert file.find(token, NOW) is None
    path.write_bytes(copy)
    file = server(path) if restarts else file
    assert file.find(token, NOW) is None
    assert not file.is_valid(revoked, NOW)
    assert file.find(kept, NOW) is not None
    assert file.find(later, NOW) is None
    assert f"{path}: its number is 2, and number 4 is in force" in (file.trouble or "")
    path.write_bytes(last)
    assert file.find(later, NOW) is not None
    assert file.trouble is None


def test_a_file_that_was_changed_by_hand_can_only_take_away(path: Path) -> None:
    _, token = add_token(path, "shop-1", [], None, NOW)
    _, other = add_token(path, "shop-2", [], None, NOW)
    file = server(path)
    assert file.find(token, NOW) is not None
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(whole[0] + whole[2])
    assert file.find(token, NOW) is None
    assert file.find(other, NOW) is not None
    assert "changed by hand" in (file.trouble or "")
    path.write_bytes(b"")
    assert file.tokens() == ()


def test_the_file_of_an_earlier_release_counts_until_it_is_changed(path: Path) -> None:
    _, token = add_token(path, "shop-1", [], None, NOW)
    before = path.read_bytes().split(b"\n", 1)[1]
    path.write_bytes(before)
    file = server(path)
    assert file.find(token, NOW) is not None
    revoke_token(path, "shop-1")
    assert file.find(token, NOW) is None
    path.write_bytes(before)
    assert file.find(token, NOW) is None


def test_two_servers_remember_one_file(path: Path) -> None:
    _, token = add_token(path, "shop-1", [], None, NOW)
    first, second, copy = server(path), server(path), path.read_bytes()
    assert first.find(token, NOW) is not None
    assert second.find(token, NOW) is not None
    revoke_token(path, "shop-1")
    assert first.tokens() == ()
    path.write_bytes(copy)
    assert second.find(token, NOW) is None


def test_a_newer_file_counts_although_it_cannot_be_stored(path: Path) -> None:
    _, token = add_token(path, "shop-1", [], None, NOW)
    file = server(path)
    assert file.find(token, NOW) is not None
    part = path.parent / "web" / f"{MEMORY_FILE}.part"
    part.mkdir()  # so that nothing can be written
    revoke_token(path, "shop-1")
    assert file.find(token, NOW) is None
    assert "cannot be remembered" in (file.trouble or "")
    part.rmdir()
    assert file.tokens() == ()
    assert file.trouble is None
    assert server(path).tokens() == ()


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
    file = server(path)
    for wrong in (text, token[:-1], token + text[:1] + " ", token.upper()):
        assert file.find(wrong, NOW) is None
