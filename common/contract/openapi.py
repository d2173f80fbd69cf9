"""Generates the OpenAPI document of the HTTP API from the types of the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from common.contract.http_bodies import (
    CloudEvent,
    HistoryBody,
    HttpProblem,
    JackpotsBody,
    TableBody,
    TablesBody,
)
from common.contract.schemas import (
    DIALECT,
    VERSION,
    Schema,
    described,
    markdown,
    require_what_is_sent,
    structs,
)

BODIES = (TablesBody, TableBody, HistoryBody, JackpotsBody, HttpProblem)
"""Types of the bodies that the document describes."""
TABLE: Schema = {
    "name": "table",
    "in": "path",
    "required": True,
    "description": "The table's id.",
    "schema": {"type": "string"},
}
PROBLEMS: Mapping[int, str] = {
    401: "There is no token, or it is unknown, revoked or expired.",
    403: "The token is limited to some tables.",
    404: "There is no such table, or the token may not read it.",
    429: "Too many wrong tokens came from this address.",
    503: "The server is shutting down, or its file of tokens cannot be read.",
}
"""Statuses of errors, and what they mean."""


def openapi() -> Schema:
    """Return the OpenAPI 3.1 document. Its paths are those of the routes of ``subscribers/api``."""
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": DIALECT,
        "info": {
            "title": "Novamás over HTTP",
            "version": VERSION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "What gaming tables publish, for programs that do not speak MQTT: "
            "read-only. docs/integrator/http.md explains it.",
        },
        "servers": [{"url": "/", "description": "The web server, with its `base` if it has one."}],
        "security": [{"token": []}],
        "paths": {
            "/v1/tables": _get("tables", "All tables", TablesBody),
            "/v1/tables/{table}": _get("table", "One table", TableBody, TABLE, cloud=True),
            "/v1/tables/{table}/history": _get(
                "history", "The latest rounds of a table", HistoryBody, TABLE
            ),
            "/v1/jackpots": _get("jackpots", "All jackpots", JackpotsBody, limited=True),
            "/v1/openapi.json": _get("openapi", "This document", None),
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "`novamas token add NAME` makes one.",
                }
            },
        },
    }


def _schemas() -> Schema:
    _, components = msgspec.json.schema_components(
        BODIES, ref_template="#/components/schemas/{name}"
    )
    kinds = structs(*BODIES)
    defs = {name: described(component, kinds[name]) for name, component in components.items()}
    require_what_is_sent({"$defs": defs}, kinds)
    return dict(sorted(defs.items()))


def _get(
    name: str,
    summary: str,
    body: type[msgspec.Struct] | None,
    *parameters: Schema,
    cloud: bool = False,
    limited: bool = False,
) -> Schema:
    """Return a path with one GET. ``cloud``: it has the headers of a CloudEvent; ``limited``: it
    refuses tokens that are limited to tables.
    """
    schema: Schema = {"type": "object"}
    if body is not None:
        schema = {"$ref": f"#/components/schemas/{body.__name__}"}
    answer: Schema = {"description": summary, "content": {"application/json": {"schema": schema}}}
    if cloud:
        answer["headers"] = _cloud_headers()
    errors = {*PROBLEMS} - ({403} if not limited else set()) - ({404} if not parameters else set())
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "parameters": [*parameters],
            "responses": {"200": answer} | {str(status): _problem(status) for status in errors},
        }
    }


def _cloud_headers() -> dict[str, Any]:
    properties = described(
        msgspec.json.schema_components([CloudEvent])[1][CloudEvent.__name__], CloudEvent
    )["properties"]
    return {
        f"ce-{name}": {
            "description": markdown(field["description"]),
            "schema": {"type": "string"},
        }
        for name, field in properties.items()
    }


def _problem(status: int) -> Schema:
    schema = {"$ref": f"#/components/schemas/{HttpProblem.__name__}"}
    return {
        "description": PROBLEMS[status],
        "content": {"application/problem+json": {"schema": schema}},
    }
