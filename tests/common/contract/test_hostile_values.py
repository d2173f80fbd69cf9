"""Any value in any field of any command, order, reading, event or file is read, or refused as it
should be. The fields are those of the types: one that is added later is tried too.
"""

from __future__ import annotations

import gzip
import json
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from common.chain.checkpoint import checkpoint_path, last_checkpoint, signature_problem
from common.contract import notation
from common.contract.commands import COMMANDS
from common.contract.events import AnyEvent
from common.contract.json_bodies import read_body
from common.contract.node import Checkpoint
from common.contract.notation import read_event, read_input, write
from common.contract.orders import (
    DeviceOrder,
    Recall,
    UnreadableCommandError,
    client_of,
    read_order,
)
from common.contract.topics import level
from common.readings import MAX_EXACT_INTEGER, READINGS
from controller.games.games import make_game
from controller.journal.setup import Boot, TableStart
from controller.proof.segment import FORMAT, BrokenSegmentError, Segment, SegmentHeader, SegmentLine
from controller.proof.witness import Witness
from controller.tables.saved_state import SavedState
from controller.tables.table import Table
from tests.support.for_each import for_each
from tests.support.hostile import anything, numbers, sample, spoiled


def name_of(kind: type[msgspec.Struct]) -> str:
    return str(kind.__struct_config__.tag or kind.__name__)


def order_of(kind: type[msgspec.Struct]) -> str:
    return {Recall: "recall", DeviceOrder: "device-command"}.get(kind) or level(name_of(kind))


def bounded(line: bytes) -> bool:
    return all(
        isinstance(number, float) or abs(number) <= MAX_EXACT_INTEGER
        for number in numbers(json.loads(line))
    )


ORDERS = (*COMMANDS, Recall, DeviceOrder)
STAMPED = {"at", "type"}


@for_each("kind", ORDERS, ids=name_of)
def test_every_field_of_every_command(kind: type[msgspec.Struct]) -> None:
    taken = 0
    for spoiled_field, line in spoiled(kind, "id", "client", without=STAMPED):
        client_of(line)
        with suppress(UnreadableCommandError):
            sender, said = read_order(order_of(kind), line, 1.0)
            taken += 1
            assert bounded(msgspec.json.encode(said)), (spoiled_field, line[:200])
            assert len(msgspec.json.encode(sender)) < 2000
    assert taken


@given(st.sampled_from(ORDERS), st.data())
def test_anything_in_any_field_of_any_command(
    kind: type[msgspec.Struct], data: st.DataObject
) -> None:
    keys = [field.encode_name for field in fields(kind)] + ["id", "client"]
    given_fields = data.draw(st.dictionaries(st.sampled_from(keys), anything, max_size=4))
    said = {key: value for key, value in sample(kind).items() if key not in STAMPED} | given_fields
    with suppress(UnreadableCommandError, UnicodeEncodeError):
        _, order = read_order(order_of(kind), json.dumps(said).encode(), 1.0)
        assert bounded(msgspec.json.encode(order))
        if not isinstance(order, Recall | DeviceOrder):
            assert read_input(write(order)) == order


@for_each("kind", [*READINGS, *COMMANDS], ids=name_of)
def test_every_field_of_the_notation(kind: type[msgspec.Struct]) -> None:
    taken = 0
    for spoiled_field, line in spoiled(kind):
        with suppress(ValueError):
            said = read_input(line)
            taken += 1
            again = write(said)
            assert read_input(again) == said
            assert bounded(again), (spoiled_field, line[:200])
    assert taken


def test_every_field_of_the_events() -> None:
    kinds = msgspec.inspect.type_info(AnyEvent)
    assert isinstance(kinds, msgspec.inspect.UnionType)
    for kind in kinds.types:
        assert isinstance(kind, msgspec.inspect.StructType)
        for _, line in spoiled(kind.cls):
            with suppress(ValueError):
                read_event(line)


def test_every_field_of_a_segment(tmp_path: Path) -> None:
    path = tmp_path / "segment.jsonl.gz"
    header = msgspec.json.encode(SegmentHeader(FORMAT, "j", 0, "2026-01-01", 0, 1, "00"))
    entry = msgspec.json.encode(
        SegmentLine(1, "t", "b", "event", 1, "2026-01-01T00:00:00Z", 1, "{}", "00")
    )
    point = json.dumps(sample(Checkpoint)).encode()
    files = [
        *((line, entry, point) for _, line in spoiled(SegmentHeader, format=FORMAT, previous="00")),
        *((header, line, point) for _, line in spoiled(SegmentLine, hash="00")),
        *((header, entry, line) for _, line in spoiled(Checkpoint)),
    ]
    for lines in files:
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(b"\n".join(lines) + b"\n")
        with suppress(BrokenSegmentError), closing(Segment(path)) as segment:
            told = [*segment.entries(), segment.header, segment.checkpoint]
            assert all(
                abs(number) < 2**63
                for each in told
                for number in numbers(msgspec.to_builtins(each))
            )


def test_every_field_of_a_checkpoint(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite3"
    for _, line in spoiled(Checkpoint, key="00", signature="00"):
        checkpoint_path(journal).write_bytes(line)
        found = last_checkpoint(journal)
        if found is not None:
            assert 0 <= found.position < 2**63
            assert signature_problem(found, frozenset({found.key or ""}))


def test_every_line_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "archive.jsonl"
    lines = [
        line
        for _, line in [
            *spoiled(Checkpoint),
            *spoiled(notation.KINDS["link.up"], table="t", boot="b", seq=1),
        ]
    ]
    path.write_bytes(
        b"\n".join(
            [
                *lines,
                *(b'{"payload":' + line + b"}" for line in lines),
                b'{"table":"t","boot":"b","seq":1,"type":"\\ud800"}',
            ]
        )
    )
    found = Witness(path)
    assert found.unreadable
    assert all(0 <= point.position < 2**63 for point in found.checkpoints.values())


def test_every_field_of_a_saved_table() -> None:
    game = make_game("roulette-french", "ARA02", {})

    def table(saved: bytes | None) -> Table:
        return Table("palma", "r1", "roulette-french", "ARA02", game, "b1", saved=saved)

    whole = msgspec.json.decode(table(None).saved())
    for _, line in spoiled(SavedState, **whole):
        assert 0 <= table(line).seq < 2**63


@pytest.mark.parametrize("kind", [Boot, TableStart])
def test_every_field_of_an_entry(kind: type[msgspec.Struct]) -> None:
    for _, line in spoiled(kind):
        with suppress(ValueError):
            read_body(line, kind)
