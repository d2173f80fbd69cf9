"""The people file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from nacl.signing import SigningKey

from common.people.register import (
    Key,
    PeopleError,
    PeopleHeader,
    checked_people,
    from_base64url,
    read_people,
    read_unsigned,
    thumbprint,
    to_base64url,
    write_people,
)
from tests.support.for_each import for_each
from tests.support.people.staff import (
    HEAD,
    LASA,
    PERSONS,
    SIGNER,
    SITE,
    SITE_KEY,
    people,
    public,
    secret,
)

FILE = write_people(people(), SITE_KEY)


def test_a_written_file_is_read_back() -> None:
    assert read_people(FILE, SITE, SIGNER) == people()
    assert read_unsigned(FILE) == people()
    assert FILE.endswith(b"\n")
    assert [json.loads(line).get("id") for line in FILE.splitlines()][1:-1] == [
        person.id for person in PERSONS
    ]


def test_a_key_is_known_by_its_thumbprint() -> None:
    """The key of RFC 8037, A.3."""
    x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    assert thumbprint(x) == Key(x=x).id == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
    for person in PERSONS:
        for key in person.keys:
            assert people().owners[key.id] == (person, key)


def test_the_tables_of_a_person() -> None:
    found = people()
    by_id = {person.id: person for person in found.persons}
    where = {
        name: [
            table
            for table in ("ruleta-1", "ruleta-2", "bacara-1", "x")
            if found.may_be_at(by_id[name], table)
        ]
        for name in ("m-lasa", "a-riera", "t-vidal")
    }
    assert where == {
        "m-lasa": ["ruleta-1", "bacara-1"],
        "a-riera": ["ruleta-1", "ruleta-2"],
        "t-vidal": ["ruleta-1", "ruleta-2", "bacara-1", "x"],
    }


def test_a_term() -> None:
    key = public("x", since="2026-01-01T00:00:00Z", until="2026-01-01T00:00:10Z")
    begin = 1_767_225_600.0
    assert [key.in_term(begin + after) for after in (-0.1, 0, 9.9, 10)] == [
        False,
        True,
        True,
        False,
    ]


@given(st.integers(0, len(FILE) - 1), st.integers(1, 255))
def test_one_changed_byte_is_noticed(at: int, by: int) -> None:
    changed = bytearray(FILE)
    changed[at] ^= by
    with pytest.raises(PeopleError):
        read_people(bytes(changed), SITE, SIGNER)


@for_each("end", range(0, len(FILE), 7))
def test_a_file_that_is_cut_off_is_noticed(end: int) -> None:
    with pytest.raises(PeopleError):
        read_people(FILE[:end], SITE, SIGNER)


def test_no_person_can_add_himself() -> None:
    other = SigningKey(secret("somebody else"))
    for forged in (
        write_people(people(), other),
        FILE[: FILE.rindex(b'{"key"')],
        FILE + FILE,
        FILE.replace(b'["croupier"]', b'["director"]'),
    ):
        with pytest.raises(PeopleError):
            read_people(forged, SITE, SIGNER)


@for_each(
    ("changed", "message"),
    [
        ({"id": "M Lasa"}, "line 2: "),
        ({"name": "M.\nLasa"}, "line 2: name: has a control character"),
        ({"name": "A. Riera"}, "line 3: name: A. Riera is in line 2 too"),
        ({"id": "a-riera"}, "line 3: id: a-riera is in line 2 too"),
        ({"roles": []}, "line 2: "),
        ({"roles": ["owner"]}, "owner"),
        ({"tables": [], "pits": []}, "line 2: tables: is missing"),
        ({"pits": ["pit-9"]}, "pit-9 is not among the pits of line 1"),
        ({"from": "yesterday"}, "line 2: from: 'yesterday' is not a time in UTC"),
        ({"until": "2026-01-01"}, "line 2: until: "),
        ({"revoked": "2026-01-01T00:00:00+01:00"}, "line 2: revoked: "),
        ({"kind": "x"}, "kind"),
        ({"keys": [{"kty": "EC", "crv": "Ed25519", "x": LASA.keys[0].x}]}, "kty"),
        ({"keys": [{"x": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}, "keys[0].x: is not"),
        ({"keys": [{"x": LASA.keys[0].x[:-1] + "/"}]}, "line 2: "),
        ({"keys": [{"x": LASA.keys[0].x}, {"x": LASA.keys[0].x}]}, "is in line 2 too"),
        ({"keys": [{"x": public("riera").x}]}, "line 3: key: "),
        ({"keys": [{"x": LASA.keys[0].x, "until": "soon"}]}, "line 2: keys[0].until: "),
    ],
)
def test_each_mistake_is_reported_with_its_place(changed: dict[str, Any], message: str) -> None:
    lines = FILE.splitlines()
    person = json.loads(lines[1]) | changed
    text = b"\n".join([lines[0], json.dumps(person).encode(), *lines[2:-1]]) + b"\n"
    with pytest.raises(PeopleError, match=r".*") as refused:
        read_unsigned(text)
    assert message in str(refused.value)
    signature = SITE_KEY.sign(b"novamas people 1\n" + text).signature.hex()
    last = json.dumps({"key": SIGNER.hex(), "signature": signature}).encode()
    with pytest.raises(PeopleError) as refused_signed:
        read_people(text + last + b"\n", SITE, SIGNER)
    assert str(refused_signed.value) == str(refused.value)


@pytest.mark.parametrize(
    "small",
    [
        bytes(32),
        b"\x01" + bytes(31),
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
        bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        b"\xff" * 32,
    ],
    ids=bytes.hex,
)
def test_points_of_small_order_are_no_keys(small: bytes) -> None:
    """Anybody can sign for them."""
    with pytest.raises(PeopleError, match="not an Ed25519 key"):
        checked_people(HEAD, [replace(LASA, keys=(Key(x=to_base64url(small)),))])


def test_a_name_that_occurs_twice_in_a_line_is_refused() -> None:
    text = FILE.replace(b'"roles":["croupier"]', b'"roles":["croupier"],"roles":["director"]')
    with pytest.raises(PeopleError, match="'roles' occurs twice"):
        read_unsigned(text)


def test_the_file_of_another_site_is_refused() -> None:
    with pytest.raises(PeopleError, match="of the site casino-mayor, not of palma"):
        read_people(FILE, "palma", SIGNER)


def test_a_large_file_is_not_read() -> None:
    with pytest.raises(PeopleError, match="at most 4000000"):
        read_people(b"\n" * 4_000_001, SITE, SIGNER)


def test_a_file_without_people() -> None:
    head = PeopleHeader(site=SITE, number=1, time="2026-11-22T12:00:00Z")
    none = checked_people(head, ())
    assert read_people(write_people(none, SITE_KEY), SITE, SIGNER).persons == ()


@given(st.binary(max_size=64))
def test_bytes_are_spelled_in_one_way(raw: bytes) -> None:
    assert from_base64url(to_base64url(raw)) == raw


def test_left_over_bits_are_no_spelling() -> None:
    assert from_base64url("AA") == b"\0"
    for other in ("AB", "A", "AA==", "A A", "AA\n", "A/"):
        with pytest.raises(ValueError, match=r".*"):
            from_base64url(other)
