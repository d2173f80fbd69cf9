"""Who may read: no token, a wrong one, one for some tables, too many wrong ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common import clock
from common.people.tokens import add_token
from subscribers.api.bearers import MAX_WRONG_TOKENS
from tests.web.in_process import API_HEADERS, TABLE, InProcess

PATHS = ("/v1/tables", f"/v1/tables/{TABLE}", "/v1/jackpots", "/v1/openapi.json")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[InProcess]:
    with closing(InProcess(tmp_path, with_console=False)) as made:
        yield made


def ask(
    server: InProcess, path: str, headers: Sequence[tuple[str, str]] = (), method: str = "GET"
) -> tuple[int, Any]:
    answer = server.ask(method, path, [("host", "127.0.0.1"), *headers])
    return answer.status, json.loads(answer.body) if answer.body else None


def bearer(token: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {token}")]


def tokens(server: InProcess) -> Path:
    assert server.settings.api is not None
    return Path(server.settings.api.tokens)


def test_nothing_is_told_without_a_token(server: InProcess) -> None:
    wrong: tuple[list[tuple[str, str]], ...] = (
        [],
        [("authorization", "")],
        [("authorization", "Basic eDp5")],
        [("authorization", "Bearer ")],
        [("authorization", "Bearer \xff\xfe")],
        bearer("novamas_wrong"),
        [("cookie", "novamas=x")],
    )
    for path in (*PATHS, "/v1/tables/none"):
        for headers in wrong[:-2]:
            status, body = ask(server, path, headers)
            assert status == 401, (path, headers)
            assert TABLE not in json.dumps(body).removeprefix(path)
    status, body = ask(server, f"/v1/tables/{TABLE}", wrong[-2])
    assert (status, body["title"]) == (401, "Unauthorized")


def test_it_only_reads(server: InProcess) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        for path in PATHS:
            assert ask(server, path, API_HEADERS, method)[0] == 405, (method, path)


def test_a_token_for_some_tables_sees_no_other_and_no_jackpot(server: InProcess) -> None:
    _, own = add_token(tokens(server), "own", [TABLE], None, clock.wall())
    _, other = add_token(tokens(server), "other", ["another"], None, clock.wall())
    assert [each["table"] for each in ask(server, "/v1/tables", bearer(own))[1]["tables"]] == [
        TABLE
    ]
    assert ask(server, "/v1/tables", bearer(other))[1] == {"tables": []}
    hidden, missing = (
        ask(server, f"/v1/tables/{name}", bearer(other)) for name in (TABLE, "no-such-table")
    )
    assert hidden[0] == 404
    assert hidden == missing
    assert ask(server, "/v1/jackpots", bearer(own))[0] == 403


def test_wrong_tokens_are_limited_and_right_ones_never(server: InProcess) -> None:
    statuses = [
        ask(server, "/v1/tables", bearer(f"novamas_{guess}"))[0]
        for guess in range(MAX_WRONG_TOKENS + 5)
    ]
    assert statuses == [401] * (MAX_WRONG_TOKENS - 1) + [429] * 6
    assert ask(server, "/v1/tables", API_HEADERS)[0] == 200


def test_no_token_counts_while_the_file_is_unreadable(server: InProcess) -> None:
    tokens(server).chmod(0o644)
    status, body = ask(server, "/v1/tables", API_HEADERS)
    assert status == 503
    assert str(tokens(server)) not in json.dumps(body)
    tokens(server).chmod(0o600)
    assert ask(server, "/v1/tables", API_HEADERS)[0] == 200


def test_a_table_is_not_current_by_the_rule_of_liveness(server: InProcess) -> None:
    def current() -> Any:
        body = ask(server, f"/v1/tables/{TABLE}", API_HEADERS)[1]
        history = ask(server, f"/v1/tables/{TABLE}/history", API_HEADERS)[1]
        assert body["not_current"] == history["not_current"]
        assert body["current"] == history["current"] == (body["not_current"] is None)
        return body["not_current"] and body["not_current"]["why"]

    assert current() is None
    server.node(b'{"status":"online","boot":"b2"}')
    assert current() == "daemon_offline"
    server.node(b'{"status":"online","boot":"b1"}')
    assert current() is None
    for status in ("stale", "fault"):
        server.state(status=status)
        assert current() == status
    server.state(status="open")
    assert current() is None
    server.node(b'{"status":"offline","boot":"b1"}')
    assert current() == "daemon_offline"
    server.disconnect()
    assert current() == "no_broker"
