"""Generates the OpenAPI document of the HTTP API from the types of the code."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from common.contract.events import AnyEvent
from common.contract.http_bodies import (
    HistoryBody,
    HttpProblem,
    JackpotsBody,
    StreamEnd,
    StreamGap,
    TableBody,
    TablesBody,
)
from common.contract.schemas import (
    DIALECT,
    EVENT_NAMES,
    VERSION,
    Schema,
    described,
    require_what_is_sent,
    structs,
)

BODIES = (
    *(TablesBody, TableBody, HistoryBody, JackpotsBody, HttpProblem),
    *(StreamGap, StreamEnd, AnyEvent),
)
"""Types of the bodies that the document describes."""
TABLE: Schema = {
    "name": "table",
    "in": "path",
    "required": True,
    "description": "The table's id.",
    "schema": {"type": "string"},
}
TABLES: Schema = {
    "name": "table",
    "in": "query",
    "description": "Only these tables.",
    "schema": {"type": "array", "items": {"type": "string"}},
}
STREAM_PARAMETERS: tuple[Schema, ...] = (
    {
        "name": "type",
        "in": "query",
        "description": "Only events of these types, and gaps.",
        "schema": {"type": "array", "items": {"enum": [*EVENT_NAMES.values()]}},
    },
    {
        "name": "format",
        "in": "query",
        "description": "`cloudevents`: each event in the JSON format of CloudEvents 1.0.",
        "schema": {"enum": ["json", "cloudevents"], "default": "json"},
    },
    {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The `id` of the last message that was received; `0`: from the first event "
        "that the server still has. Without it the stream begins now.",
        "schema": {"type": "string"},
    },
)
CLOUD_HEADERS: Mapping[str, str] = {
    "ce-specversion": "The version of CloudEvents: 1.0.",
    "ce-id": "The last event of the state: site, table, run of the daemon, number.",
    "ce-source": "The root of the table's topics, as `novamas/v1/casino/ruleta-1`.",
    "ce-type": "The name of the topic: `state`.",
    "ce-time": "When the state last changed: UTC, ISO 8601.",
}
"""Headers of an answer that is a CloudEvent."""
PROBLEMS: Mapping[int, str] = {
    401: "There is no token, or it is unknown, revoked or expired.",
    403: "The token is limited to some tables.",
    400: "A parameter or `Last-Event-ID` is wrong.",
    404: "There is no such table, or the token may not read it.",
    429: "Too many wrong tokens came from this address, or the token has too many streams.",
    503: "The file of tokens cannot be read, events cannot be stored, or streams are too many.",
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
            "/v1/tables/{table}/events": _stream("tableEvents", "The events of a table", TABLE),
            "/v1/events": _stream("events", "The events of all tables", TABLES),
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
        answer["headers"] = {
            name: {"description": meaning, "schema": {"type": "string"}}
            for name, meaning in CLOUD_HEADERS.items()
        }
    absent = {400} | (set() if limited else {403}) | (set() if parameters else {404})
    errors = sorted({*PROBLEMS} - absent)
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "parameters": [*parameters],
            "responses": {"200": answer} | {str(status): _problem(status) for status in errors},
        }
    }


def _stream(name: str, summary: str, table: Schema) -> Schema:
    """Return a path with a stream of events."""
    kinds = [*structs(AnyEvent), StreamGap.__name__, StreamEnd.__name__]
    schema: Schema = {
        "type": "string",
        "description": "Server-Sent Events. The `data` of each is one of these objects: unnamed "
        "for an event, with the name `gap` where events may be missing, `end` before the server "
        "ends the stream.",
        "contentMediaType": "application/json",
        "contentSchema": {"anyOf": [{"$ref": f"#/components/schemas/{kind}"} for kind in kinds]},
    }
    errors = {*PROBLEMS} - {403}
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "parameters": [table, *STREAM_PARAMETERS],
            "responses": {
                "200": {
                    "description": summary,
                    "content": {"text/event-stream": {"schema": schema}},
                }
            }
            | {str(status): _problem(status) for status in sorted(errors)},
        }
    }


def _problem(status: int) -> Schema:
    schema = {"$ref": f"#/components/schemas/{HttpProblem.__name__}"}
    return {
        "description": PROBLEMS[status],
        "content": {"application/problem+json": {"schema": schema}},
    }
