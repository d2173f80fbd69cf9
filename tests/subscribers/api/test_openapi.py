"""The OpenAPI document is valid, is the one in docs/integrator, and describes what is answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from common.contract.openapi import openapi
from common.contract.schemas import to_bytes
from tests.support import contract
from tests.web.in_process import API_HEADERS, JACKPOT, TABLE, InProcess

STORED = contract.INTEGRATOR / "openapi.json"
DOCUMENT = json.loads(STORED.read_bytes())
HOST = [("host", "127.0.0.1")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    with closing(InProcess(tmp_path_factory.mktemp("server"))) as made:
        yield made


def test_the_document_is_valid() -> None:
    validate(DOCUMENT, cls=OpenAPIV31SpecValidator)


def test_the_stored_document_is_the_generated_one() -> None:
    assert STORED.read_bytes() == to_bytes(openapi())


def test_it_has_every_route_and_no_other(server: InProcess) -> None:
    served = {
        route.path
        for route in server.routes
        if route.path.startswith("/v1/") and "{path:path}" not in route.path
    }
    assert served == set(DOCUMENT["paths"])


@pytest.mark.parametrize("path", [*DOCUMENT["paths"]])
def test_each_answer_is_as_described(server: InProcess, path: str) -> None:
    answers = DOCUMENT["paths"][path]["get"]["responses"]
    for headers, status in ((API_HEADERS, "200"), ([], "401")):
        answer = server.ask("GET", path.replace("{table}", TABLE), [*HOST, *headers])
        assert str(answer.status) == status
        [(kind, content)] = answers[status]["content"].items()
        if kind == "text/event-stream":
            assert answer.body.startswith(b"retry: ")
            continue
        _validator(content["schema"]).validate(json.loads(answer.body))


def test_a_table_and_a_jackpot_are_as_they_were_published(server: InProcess) -> None:
    table = json.loads(server.ask("GET", f"/v1/tables/{TABLE}", [*HOST, *API_HEADERS]).body)
    assert table["current"] is True
    assert table["state"]["shown"]["view"] == "roulette"
    assert table["result"]["outcome"]["number"] == 36
    history = server.ask("GET", f"/v1/tables/{TABLE}/history", [*HOST, *API_HEADERS])
    numbers = [line["outcome"]["number"] for line in json.loads(history.body)["results"]]
    assert numbers == [17, 0, 36]
    [jackpot] = json.loads(server.ask("GET", "/v1/jackpots", [*HOST, *API_HEADERS]).body)[
        "jackpots"
    ]
    assert jackpot["jackpot"] == JACKPOT
    assert jackpot["current"] is False


def _validator(schema: Any) -> Draft202012Validator:
    components = json.loads(
        json.dumps(DOCUMENT["components"]["schemas"]).replace("#/components/schemas/", "#/$defs/")
    )
    local = json.loads(json.dumps(schema).replace("#/components/schemas/", "#/$defs/"))
    return Draft202012Validator({**local, "$defs": components})
