"""Generates the contract for programs from the types of the code: JSON Schemas and an AsyncAPI
document.

The output is deterministic, so a test compares the files in ``docs/integrator/`` with it.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from common.contract.commands import COMMANDS, AnyCommand
from common.contract.events import (
    EVENTS,
    ROUND_EVENTS,
    SESSION_EVENTS,
    AnyEvent,
    ResultCorrected,
    RoundResult,
)
from common.contract.field_docs import field_docs
from common.contract.jackpot import JACKPOT_ORDERS, JackpotReply, JackpotState
from common.contract.motion import Motion
from common.contract.node import Checkpoint, Health, NodeClaim, NodeStatus
from common.contract.orders import DeviceOrder, Recall, Reply
from common.contract.retained import Alert, History, Info, ShoeTopic, State
from common.contract.sealed import Opened, Sealed
from common.contract.topics import Topics, level
from common.readings import AnyReading

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSION = "1"
"""The version in the topics. It changes only when a subscriber must change."""

ENVELOPE = ("site", "table", "game", "decree", "boot", "seq", "time", "mono_ns")
"""Fields that every published event has. They have defaults in the types because the table fills
them in, not the game.
"""

PUBLISHED_FIELDS: Mapping[type[msgspec.Struct], tuple[str, ...]] = {
    **dict.fromkeys(EVENTS, ENVELOPE),
    **dict.fromkeys(SESSION_EVENTS, (*ENVELOPE, "session")),
    **dict.fromkeys(ROUND_EVENTS, (*ENVELOPE, "session", "round")),
    Info: ("node",),
    State: ("node",),
}
"""Fields that are in every published message of a type, although they have defaults."""

EVENT_NAMES = {event: str(event.__struct_config__.tag) for event in EVENTS}
ORDERS: tuple[type[msgspec.Struct], ...] = (*COMMANDS, DeviceOrder, Recall)
JACKPOT_NAMES = {order: str(order.__struct_config__.tag) for order in JACKPOT_ORDERS}
COMMAND_NAMES = {command: str(command.__struct_config__.tag) for command in COMMANDS}


SENDER: Schema = {
    "client": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_-]{1,64}$",
        "description": "The client that wants a reply: the last level of the reply topic.",
    },
    "id": {"description": "Returned in the reply as it was sent: any JSON value."},
}
"""Fields that the body of any command message may have."""

TAG = "Names the type of this object."

FAMILIES: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "readings": ("Reports of devices: one object per line.", (AnyReading,)),
    "commands": (
        "Commands of persons, as in the journal and the scripts of `novamas play`.",
        (AnyCommand,),
    ),
    "orders": ("The bodies of `command/<name>`.", ORDERS),
    "events": ("The events of a table: the topic `event`.", (AnyEvent,)),
    "replies": ("The replies on `reply/<client>`.", (Reply,)),
    "retained": (
        "The retained topics of a table.",
        (Info, State, RoundResult | ResultCorrected | None, History, ShoeTopic, Alert),
    ),
    "jackpot": (
        "The topics below `jackpot/<jackpot>/`, the alerts of the retained topics excepted.",
        (JackpotState, *JACKPOT_ORDERS, JackpotReply),
    ),
    "node": ("The retained topics of a daemon.", (NodeStatus, NodeClaim, Health, Checkpoint)),
    "motion": ("The topic `motion`: decoration, of which nothing may be derived.", (Motion,)),
    "sealed": ("The topic `sealed`, and the content that surveillance opens.", (Sealed, Opened)),
}
"""The schema files: title and types."""

RECEIVED = ("readings", "commands", "orders")
"""Families of what others send: a field with a default may be left out."""


def documents() -> dict[str, bytes]:
    """The generated files for machines: path below ``docs/integrator/`` -> content."""
    files = {
        f"schemas/{name}.json": {"$id": f"urn:novamas:v{VERSION}:{name}", **schema}
        for name, schema in schemas().items()
    }
    return {
        path: to_bytes(content)
        for path, content in (files | {"asyncapi.json": _asyncapi()}).items()
    }


@cache
def schemas() -> Mapping[str, Schema]:
    """Return the schema of each family by its name."""
    found = {name: _family(title, *types) for name, (title, types) in FAMILIES.items()}
    for name, (_, types) in FAMILIES.items():
        if name not in RECEIVED:
            require_what_is_sent(found[name], structs(*types))
    _order_bodies(found["orders"], ORDERS)
    _order_bodies(found["jackpot"], JACKPOT_ORDERS)
    return found


def structs(*types: Any) -> dict[str, type[msgspec.Struct]]:
    """Return every struct in these types by its name in the schemas."""
    return {
        kind.__name__: kind for each in msgspec.inspect.multi_type_info(types) for kind in _in(each)
    }


def _in(found: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs in the description of a type, recursively."""
    if isinstance(found, msgspec.inspect.StructType):
        yield found.cls
        for field in found.fields:
            yield from _in(field.type)
    elif isinstance(found, msgspec.Struct):
        for name in found.__struct_fields__:
            yield from _in(getattr(found, name))
    elif isinstance(found, tuple):
        for each in found:
            yield from _in(each)


def _family(title: str, *types: Any) -> Schema:
    """Return the schema of one file, which accepts any of these types."""
    schemas, components = (
        _plain(part)
        for part in msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    )
    found = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
    kinds = structs(*types)
    defs = {name: described(component, kinds[name]) for name, component in components.items()}
    return {"$schema": DIALECT, "title": title, **found, "$defs": dict(sorted(defs.items()))}


def _plain(part: Any) -> Any:
    """Remove ``discriminator``: JSON Schema does not have that keyword, and AsyncAPI allows only a
    string there. Each type lists its own tag under ``type``, so nothing is lost.
    """
    if isinstance(part, dict):
        return {key: _plain(value) for key, value in part.items() if key != "discriminator"}
    return [_plain(each) for each in part] if isinstance(part, list | tuple) else part


def described(component: Schema, kind: type[msgspec.Struct]) -> Schema:
    """Add the docstrings of a type and of its fields to its schema."""
    meanings = {str(kind.__struct_config__.tag_field): TAG} | dict(field_docs(kind))
    properties = {
        name: field | ({"description": markdown(meanings[name])} if name in meanings else {})
        for name, field in component["properties"].items()
    }
    return component | {
        "description": markdown(component["description"]),
        "properties": properties,
    }


def markdown(text: str) -> str:
    """Return a docstring as Markdown: without indentation, with single backticks."""
    return re.sub(r"``(.+?)``", r"`\1`", inspect.cleandoc(text))


def require_what_is_sent(family: Schema, kinds: Mapping[str, type[msgspec.Struct]]) -> None:
    """Require every field that a message always has: all fields of a type that does not leave out
    its defaults, and those of ``PUBLISHED_FIELDS``.
    """
    for name, component in family["$defs"].items():
        kind = kinds[name]
        if kind in JACKPOT_NAMES:
            continue  # a program sends it
        always = component["properties"]
        if kind.__struct_config__.omit_defaults:
            always = {*component["required"], *PUBLISHED_FIELDS.get(kind, ())}
        component["required"] = [field for field in component["properties"] if field in always]


def _order_bodies(family: Schema, orders: Iterable[type[msgspec.Struct]]) -> None:
    """Adapt commands to the bodies of messages: the topic names the command, the table stamps the
    time, and the sender may request a reply.
    """
    for order in orders:
        component = family["$defs"][order.__name__]
        left = {
            name: field
            for name, field in component["properties"].items()
            if name not in ("at", "type", "signed")
        }
        component["properties"] = left | SENDER
        component["required"] = [name for name in component["required"] if name in left]


NULL: Schema = {
    "no-result": {
        "name": "no-result",
        "summary": "There is no result yet.",
        "payload": {"type": "null"},
    }
}
CLEARED: Schema = {
    "cleared": {
        "name": "cleared",
        "summary": "An empty message clears the topic: what it described no longer exists.",
        "contentType": "application/octet-stream",
        "payload": {"type": "string", "maxLength": 0},
    }
}
"""An alert ends, or a table is no longer in the configuration of its daemon."""

TABLE = {"site": "The site's id.", "table": "The table's id."}
JACKPOT = {"site": "The site's id.", "jackpot": "The jackpot's id."}
NODE = {"site": "The site's id.", "node": "The id of the daemon at this site."}


def _asyncapi() -> Schema:
    """AsyncAPI 3.1: channels as ``common/contract/topics.py`` spells them, messages as the
    schemas have them.
    """
    topics = Topics("{site}")
    channels = _table_channels(topics) | _jackpot_channels(topics) | _node_channels(topics)
    simulated = Topics("{site}", simulated=True).root
    return {
        "asyncapi": "3.1.0",
        "info": {
            "title": "Novamás",
            "version": VERSION,
            "license": {"name": "Apache-2.0"},
            "description": (
                "What gaming tables publish over MQTT, seen from the daemon, and what the "
                "controller of a jackpot publishes, seen from it. The pages in docs/integrator "
                "have the rules of a session, their folder vocabulary the meaning of each name. "
                "Simulated tables have "
                f"the same topics under `{simulated}` in place of `{topics.root}`."
            ),
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": _operations(channels),
    }


def _table_channels(topics: Topics) -> dict[str, Schema]:
    return {
        "event": _channel(
            topics.table("{table}", "event"),
            TABLE,
            {EVENT_NAMES[e]: ("events", e.__name__) for e in EVENTS},
        ),
        "sealed": _channel(
            topics.table("{table}", "sealed"), TABLE, {"sealed": ("sealed", "Sealed")}
        ),
        "motion": _channel(
            topics.table("{table}", "motion"), TABLE, {"motion": ("motion", "Motion")}
        ),
        "info": _channel(
            topics.table("{table}", "info"), TABLE, {"info": ("retained", "Info")}, CLEARED
        ),
        "state": _channel(
            topics.table("{table}", "state"), TABLE, {"state": ("retained", "State")}, CLEARED
        ),
        "result": _channel(
            topics.table("{table}", "result"),
            TABLE,
            {EVENT_NAMES[e]: ("retained", e.__name__) for e in (RoundResult, ResultCorrected)},
            NULL | CLEARED,
        ),
        "history": _channel(
            topics.table("{table}", "history"), TABLE, {"history": ("retained", "History")}, CLEARED
        ),
        "shoe": _channel(
            topics.table("{table}", "shoe"), TABLE, {"shoe": ("retained", "ShoeTopic")}, CLEARED
        ),
        "alert": _channel(
            topics.table("{table}", "alert/{alert}"),
            TABLE | {"alert": "The alert's id."},
            {"alert": ("retained", "Alert")},
            CLEARED,
        ),
        "command": _channel(
            topics.command("{table}", "{command}"),
            TABLE
            | {
                "command": "One of "
                + ", ".join(sorted({*map(level, COMMAND_NAMES.values()), "recall"}))
                + "."
            },
            {COMMAND_NAMES[c]: ("orders", c.__name__) for c in COMMANDS}
            | {"recall": ("orders", "Recall"), "device": ("orders", "DeviceOrder")},
        ),
        "reply": _channel(
            topics.reply("{table}", "{client}"),
            TABLE | {"client": "As the command named it in `client`."},
            {"reply": ("replies", "Reply")},
        ),
    }


def _jackpot_channels(topics: Topics) -> dict[str, Schema]:
    return {
        "jackpot-state": _channel(
            topics.jackpot("{jackpot}", "state"),
            JACKPOT,
            {"jackpot-state": ("jackpot", "JackpotState")},
        ),
        "jackpot-alert": _channel(
            topics.jackpot("{jackpot}", "alert/{alert}"),
            JACKPOT | {"alert": "The alert's id."},
            {"alert": ("retained", "Alert")},
            CLEARED,
        ),
        "jackpot-command": _channel(
            topics.jackpot("{jackpot}", "command/{command}"),
            JACKPOT
            | {"command": "One of " + ", ".join(sorted(map(level, JACKPOT_NAMES.values()))) + "."},
            {name: ("jackpot", order.__name__) for order, name in JACKPOT_NAMES.items()},
        ),
        "jackpot-reply": _channel(
            topics.jackpot("{jackpot}", "reply/{client}"),
            JACKPOT | {"client": "As the command named it in `client`."},
            {"jackpot-reply": ("jackpot", "JackpotReply")},
        ),
    }


def _node_channels(topics: Topics) -> dict[str, Schema]:
    return {
        "status": _channel(
            topics.node("{node}", "status"), NODE, {"status": ("node", "NodeStatus")}
        ),
        "claim": _channel(topics.node("{node}", "claim"), NODE, {"claim": ("node", "NodeClaim")}),
        "health": _channel(topics.node("{node}", "health"), NODE, {"health": ("node", "Health")}),
        "node-alert": _channel(
            topics.node("{node}", "alert/{alert}"),
            NODE | {"alert": "The alert's id."},
            {"alert": ("retained", "Alert")},
            CLEARED,
        ),
        "checkpoint": _channel(
            topics.node("{node}", "checkpoint"), NODE, {"checkpoint": ("node", "Checkpoint")}
        ),
    }


def _operations(channels: Iterable[str]) -> dict[str, Schema]:
    """Return what the daemon, or the controller of a jackpot, does with each channel."""
    momentary = ("event", "sealed", "motion", "reply", "jackpot-reply")
    commands = {"command": "reply", "jackpot-command": "jackpot-reply"}
    return {
        name: _operation("send", name, retain=name not in momentary, qos=int(name != "motion"))
        for name in channels
        if name not in commands
    } | {
        name: _operation("receive", name, retain=False)
        | {"reply": {"channel": {"$ref": f"#/channels/{reply}"}}}
        for name, reply in commands.items()
    }


def _channel(
    address: str,
    parameters: Mapping[str, str],
    messages: Mapping[str, tuple[str, str]],
    others: Schema | None = None,
) -> Schema:
    """Return a channel. ``messages``: name -> file and component of the schema; ``others``: those
    without a schema.
    """
    return {
        "address": address,
        "parameters": {name: {"description": meaning} for name, meaning in parameters.items()},
        "messages": {
            name: {"name": name, "payload": {"$ref": f"schemas/{file}.json#/$defs/{component}"}}
            for name, (file, component) in messages.items()
        }
        | (others or {}),
    }


def _operation(action: str, channel: str, *, retain: bool, qos: int = 1) -> Schema:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "bindings": {"mqtt": {"qos": qos, "retain": retain, "bindingVersion": "0.2.0"}},
    }


def to_bytes(content: Schema) -> bytes:
    """Return a document as JSON, as it is stored in docs/integrator."""
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"
