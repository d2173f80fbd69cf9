"""Entries in a page: the bytes that their hashes cover, and nothing else is read."""

from __future__ import annotations

import gzip
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.chain.schema import ChainHead, Entry, Record, genesis, rows
from controller.inspection import packing
from controller.inspection.packing import ExcerptError, pack, pack_entry, unpack, unpack_entry

START = genesis("j")
TEXTS = st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=8)
RECORDS = st.builds(
    Record,
    table=TEXTS,
    boot=TEXTS,
    seq=st.integers(0, 2**53),
    time=TEXTS,
    mono_ns=st.integers(0, 2**63 - 1),
    input=st.none() | st.binary(max_size=40),
    before=st.lists(st.tuples(st.just("bytes"), st.binary(max_size=40)), max_size=2).map(tuple),
)


def chained(records: list[Record]) -> list[Entry]:
    return [Entry(*row) for row in rows(records, ChainHead(0, START))[0]]


@given(st.lists(RECORDS, max_size=6))
def test_what_is_packed_comes_out_unchanged(records: list[Record]) -> None:
    found = chained(records)
    blocks = list(pack(found, START))
    assert list(unpack(blocks, START)) == found
    packed = b"".join(map(gzip.decompress, blocks))
    for before, entry in pairwise([START, *(each.hash for each in found)]):
        assert entry in packed
        assert before != entry


@given(st.lists(RECORDS, min_size=1, max_size=6), st.data())
def test_any_changed_byte_gives_other_entries_or_an_error_in_words(
    records: list[Record], data: st.DataObject
) -> None:
    found = chained(records)
    if not found:
        return
    packed = bytearray(gzip.decompress(b"".join(pack(found, START))))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= data.draw(st.integers(1, 255))
    try:
        changed = list(unpack([gzip.compress(bytes(packed))], START))
    except ExcerptError:
        return
    assert changed != found


def test_a_hash_covers_the_bytes_of_the_record() -> None:
    [entry] = chained([Record(table="t", boot="b", seq=1, time="n", mono_ns=2, input=b'{"\xff\n')])
    record = pack_entry(entry, None)
    assert record[0] == 1
    assert sha256(record[45:]).digest() == entry.hash
    assert unpack_entry(record) == entry


@pytest.mark.parametrize("change", ["table", "time", "boot"])
def test_a_column_with_a_newline_is_refused(change: str) -> None:
    [entry] = chained([Record(table="t", boot="b", seq=1, time="n", mono_ns=2, input=b"{}")])
    columns = {name: getattr(entry, name) for name in Entry.__struct_fields__}
    with pytest.raises(ExcerptError, match="entry 1"):
        pack_entry(Entry(**{**columns, change: "a\nb"}), START)


@pytest.mark.parametrize(
    "text",
    [
        b"t\nb\ninput\n01\nn\n2\n{}",
        b"t\nb\ninput\n-0\nn\n2\n{}",
        b"t\nb\ninput\n1_0\nn\n2\n{}",
        b"t\nb\nother\n1\nn\n2\n{}",
        b"t\n\xff\ninput\n1\nn\n2\n{}",
        b"t\nb\ninput\n9223372036854775808\nn\n2\n{}",
        b"t\nb\ninput\n1\nn",
    ],
)
def test_columns_that_no_journal_has_are_refused(text: bytes) -> None:
    record = packing._HEAD.pack(0, len(text), 1, b"h" * 32) + text
    with pytest.raises(ExcerptError, match="entry 1"):
        list(unpack([gzip.compress(record)], START))


@pytest.mark.parametrize("cut", [1, 44, 46])
def test_a_block_that_is_cut_off_is_refused(cut: int) -> None:
    [entry] = chained([Record(table="t", boot="b", seq=1, time="n", mono_ns=2, input=b"{}")])
    with pytest.raises(ExcerptError):
        list(unpack([gzip.compress(pack_entry(entry, START)[:cut])], START))
    with pytest.raises(ExcerptError):
        list(unpack([gzip.compress(pack_entry(entry, START))[:-cut]], START))


def test_a_bomb_is_refused() -> None:
    with pytest.raises(ExcerptError, match="too large"):
        list(unpack([gzip.compress(bytes(packing.MAX_BLOCK_BYTES + 1))], START))
