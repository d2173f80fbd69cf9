"""The generated documents match the types; the code reads the examples; the schemas accept and
reject rightly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from common.contract.commands import COMMANDS, Command
from common.contract.jackpot import JackpotState
from common.contract.node import Checkpoint, Health, NodeClaim, NodeStatus
from common.contract.notation import read_event, read_input, write
from common.contract.orders import Reply, read_order
from common.contract.retained import Alert, History, Info, ShoeTopic, State
from common.contract.schemas import FAMILIES, documents
from common.contract.sealed import Opened, Sealed
from common.contract.topics import Topics, level
from common.readings import MAX_EXACT_INTEGER
from tests.support import contract
from tests.support.for_each import for_each

RECORDINGS = Path(__file__).parents[2] / "recordings"
EXAMPLES = [
    (label, json.loads(body))
    for label, body in re.findall(
        r"^```json (.+?)\n(.*?)^```",
        "\n".join(page.read_text() for page in sorted(contract.INTEGRATOR.glob("*.md"))),
        re.MULTILINE | re.DOTALL,
    )
    if label != "outcome"  # part of a result: tests/controller/mqtt/test_integrator_pages.py
]
BODIES: dict[str, tuple[str, type[Any]]] = {
    "info": ("retained", Info),
    "state": ("retained", State),
    "history": ("retained", History),
    "shoe": ("retained", ShoeTopic),
    "alert": ("retained", Alert),
    "jackpot": ("jackpot", JackpotState),
    "status": ("node", NodeStatus),
    "claim": ("node", NodeClaim),
    "health": ("node", Health),
    "checkpoint": ("node", Checkpoint),
    "reply": ("replies", Reply),
    "sealed": ("sealed", Sealed),
    "opened": ("sealed", Opened),
}
"""Schema file and type of each example that is neither an event nor an order."""


@cache
def validator(family: str, component: str | None = None) -> Draft202012Validator:
    """The schema of a file, or of one type in it."""
    schema = contract.schema(family)
    if component is not None:
        schema = {
            "$schema": schema["$schema"],
            "$ref": f"#/$defs/{component}",
            "$defs": schema["$defs"],
        }
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@for_each("path", contract.files())
def test_the_files_match_the_types(path: str) -> None:
    assert (contract.INTEGRATOR / path).read_bytes() == contract.files()[path], (
        "write them with `novamas schemas docs/integrator`"
    )


def _integers(schema: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, list):
        for part in schema:
            yield from _integers(part, place)
    elif isinstance(schema, dict):
        if "integer" in (schema.get("type"), *(schema.get("type") or ())):
            yield place, schema
        for key, part in schema.items():
            yield from _integers(part, f"{place}/{key}")


def test_every_reader_of_json_takes_each_integer_exactly() -> None:
    """Also one whose numbers are doubles: I-JSON, RFC 7493, section 2.2."""
    found = [each for name in FAMILIES for each in _integers(contract.schema(name))]
    assert len(found) > 500
    assert [
        place
        for place, integer in found
        if not -MAX_EXACT_INTEGER
        <= integer.get("minimum", -MAX_EXACT_INTEGER - 1)
        <= integer.get("maximum", 0)
        or integer.get("maximum", MAX_EXACT_INTEGER + 1) > MAX_EXACT_INTEGER
    ] == []


def _unbounded(found: Any, place: str) -> Iterator[str]:
    """Yield places where a type reads an integer that a double cannot hold."""
    if isinstance(found, msgspec.inspect.Metadata) and "maximum" in (found.extra_json_schema or {}):
        return  # a time of an event: older releases have larger ones
    if isinstance(found, msgspec.inspect.IntType):
        if found.ge is None or found.le is None or max(-found.ge, found.le) > MAX_EXACT_INTEGER:
            yield place
    elif isinstance(found, msgspec.inspect.StructType):
        for field in found.fields:
            yield from _unbounded(field.type, f"{found.cls.__name__}.{field.name}")
    elif isinstance(found, msgspec.Struct):
        for name in found.__struct_fields__:
            yield from _unbounded(getattr(found, name), place)
    elif isinstance(found, tuple):
        for part in found:
            yield from _unbounded(part, place)


def test_no_type_reads_a_larger_integer() -> None:
    types = tuple(kind for _, kinds in FAMILIES.values() for kind in kinds)
    assert sorted(set(_unbounded(msgspec.inspect.multi_type_info(types), ""))) == []


def test_there_are_no_other_schema_files() -> None:
    there = {f"schemas/{file.name}" for file in (contract.INTEGRATOR / "schemas").iterdir()}
    assert there | {"asyncapi.json"} == set(contract.files())


def test_generated_files_are_the_same_each_time() -> None:
    assert documents() == documents()


def component(label: str) -> tuple[str, str]:
    """Return the schema of an example."""
    kind, _, name = label.partition(" ")
    if kind == "order":
        own = {level(str(command.__struct_config__.tag)): command.__name__ for command in COMMANDS}
        return "orders", (own | {"recall": "Recall", "device-command": "DeviceOrder"})[name]
    if kind in ("event", "result"):
        return "events", ""
    file, type_ = BODIES[kind]
    return file, type_.__name__


@pytest.mark.parametrize(
    ("label", "body"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_examples_are_read(label: str, body: dict[str, Any]) -> None:
    line = msgspec.json.encode(body)
    kind, _, name = label.partition(" ")
    if kind in ("event", "result"):
        assert json.loads(write(read_event(line))) == body
    elif kind == "order":
        read_order(name, line, at=1.0)
    else:
        msgspec.json.decode(line, type=BODIES[kind][1])
    family, type_ = component(label)
    validator(family, type_ or None).validate(body)


def test_every_kind_of_example_is_there() -> None:
    assert {label.partition(" ")[0] for label, _ in EXAMPLES} == {
        *("event", "result", "order"),
        *BODIES,
    }


@pytest.mark.parametrize(
    "path", sorted(RECORDINGS.glob("*.readings.jsonl")), ids=lambda path: path.name
)
def test_recorded_readings_satisfy_the_schema(path: Path) -> None:
    readings = validator("readings")
    for line in path.read_bytes().splitlines():
        readings.validate(json.loads(line))


@pytest.mark.parametrize(
    "line",
    [
        b'{"at":1,"type":"wheel.phase","phase":"spinning"}',
        b'{"type":"wheel.phase","phase":"idle"}',
        b'{"at":1,"type":"wheel.number","number":17,"colour":"red"}',
        b'{"at":1,"type":"wheel.number","number":17.5}',
        b'{"at":1,"type":"wheel"}',
    ],
)
def test_what_the_code_refuses_the_schema_refuses(line: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        read_input(line)
    assert not validator("readings").is_valid(json.loads(line))


def test_a_published_event_shows_its_envelope() -> None:
    event = next(body for label, body in EXAMPLES if label == "event")
    for field in ("site", "table", "boot", "seq", "time"):
        assert not validator("events").is_valid(
            {name: value for name, value in event.items() if name != field}
        )


def test_every_reference_of_the_asyncapi_document_leads_somewhere() -> None:
    document = json.loads(contract.files()["asyncapi.json"])
    references = re.findall(r'"\$ref": "([^"]+)"', contract.files()["asyncapi.json"].decode())
    assert references
    for reference in references:
        file, _, path = reference.partition("#/")
        found = json.loads(contract.files()[file]) if file else document
        for step in path.split("/"):
            found = found[step]


def test_the_topics_of_the_documents_are_those_of_the_code() -> None:
    channels = json.loads(contract.files()["asyncapi.json"])["channels"]
    addresses = {re.sub(r"\{(\w+)\}", r"<\1>", channel["address"]) for channel in channels.values()}
    below = Topics("<site>").root + "/"
    told = {
        row[0] for row in contract.table(contract.sections("integrator/topics.md")["All topics"])
    }
    assert {below + topic for topic in told} == addresses


def test_every_command_is_in_the_table_of_commands() -> None:
    told = {
        name: set(re.findall(r"`(\w+)`", f"`{fields}`"))
        for name, fields in contract.table(
            contract.sections("integrator/commands.md")["All commands"]
        )
    }
    own = {}
    for command in COMMANDS:
        fields = set(command.__struct_fields__) - set(Command.__struct_fields__)
        own[str(command.__struct_config__.tag)] = fields
    assert told == own
