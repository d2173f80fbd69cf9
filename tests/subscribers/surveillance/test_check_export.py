"""``novamas surveillance check-export``: who signed an export is named, and anything that was
changed in it is refused.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from common.people.jws import sign
from common.people.register import Person, checked_people, to_base64url, write_people
from subscribers.surveillance.check_export import main
from subscribers.surveillance.export_statement import Statement
from subscribers.surveillance.signed_export import signed_export
from tests.support.people.staff import HEAD, KEY_OF, PERSONS, SIGNER, SITE_KEY, secret

SITE = "casino-mayor"
WATCHER = "s-mora"
STATEMENT = Statement(
    site=SITE,
    person=WATCHER,
    name="S. Mora",
    time="2026-03-20T02:10:16.215319Z",
    query={"table": "r1"},
    records=0,
    through=0,
    checkpoints=(),
)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.zip"
    path.write_bytes(signed_export([], STATEMENT, secret(KEY_OF[WATCHER]), "es"))
    return path


def checked(folder: Path, export: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and output. The people are those of the tests, at this site."""
    people = folder / "people.jsonl"
    if not people.exists():
        write_with(folder, PERSONS)
    settings = {
        "site": SITE,
        "people_file": str(people),
        "people_key": to_base64url(SIGNER),
    }
    status = main(["check-export", "--file", str(export), "--settings", json.dumps(settings)])
    output = capsys.readouterr()
    return status, output.out + output.err


def write_with(folder: Path, persons: Iterable[Person]) -> None:
    people = checked_people(
        replace(HEAD, site=SITE, pits={}),
        [replace(each, tables=("*",), pits=()) for each in persons],
    )
    (folder / "people.jsonl").write_bytes(write_people(people, SITE_KEY))


def rewritten(export: Path, **changes: bytes | None) -> None:
    """Replace files of the export by name, with _ for the dot; None removes one."""
    with zipfile.ZipFile(export) as packed:
        files: dict[str, bytes | None] = {name: packed.read(name) for name in packed.namelist()}
    files |= {name.replace("_", "."): data for name, data in changes.items()}
    with zipfile.ZipFile(export, "w") as packed:
        for name, data in files.items():
            if data is not None:
                packed.writestr(name, data)


def test_who_exported_is_named(
    tmp_path: Path, export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, output = checked(tmp_path, export, capsys)
    assert status == 0
    assert f"({WATCHER}) at 2026-03-20T02:10:16" in output
    assert "0 records of casino-mayor: table = r1" in output


def signed(statement: Statement, who: str = WATCHER) -> dict[str, bytes | None]:
    """The statement and its signature by this person."""
    body = msgspec.json.encode(statement)
    return {
        "statement_json": body,
        "statement_jws": sign(secret(KEY_OF[who]), body).encode(),
    }


FORGERIES: dict[str, tuple[dict[str, bytes | None], str]] = {
    "a record is changed": ({"records_csv": b"number\n"}, "records.csv is not the exported one"),
    "the page is changed": ({"records_pdf": b"%PDF-1.4"}, "records.pdf is not the exported one"),
    "a file is missing": ({"records_pdf": None}, "not the four files"),
    "a file is added": ({"more_txt": b""}, "not the four files"),
    "the statement is changed": ({"statement_json": b"{}"}, "statement.json is not the signed one"),
    "no token": ({"statement_jws": b"nothing"}, "no statement of an export"),
    "another payload": ({"statement_jws": b"e30.e30.AAAA"}, "no statement of an export"),
    "of another site": (signed(replace(STATEMENT, site="other")), "is of"),
    "of another format": (signed(replace(STATEMENT, format="2")), "is of"),
    "by another person": (signed(STATEMENT, "a-riera"), "a-riera signed it"),
    "without hashes": (signed(STATEMENT), "records.csv is not the exported one"),
    "without a time": (signed(replace(STATEMENT, time="now")), "no statement of an export"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_was_changed_is_refused(
    name: str, tmp_path: Path, export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes, reason = FORGERIES[name]
    rewritten(export, **changes)
    status, output = checked(tmp_path, export, capsys)
    assert (status, reason in output) == (1, True), output


def test_a_signature_that_does_not_fit_is_refused(
    tmp_path: Path, export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(export) as packed:
        head, body, signature = packed.read("statement.jws").split(b".")
    rewritten(export, statement_jws=b".".join((head, body, b"A" * len(signature))))
    assert "is not signed with the key" in checked(tmp_path, export, capsys)[1]


@pytest.mark.parametrize("revoked", ["person", "key"])
def test_a_revoked_key_proves_nothing(
    revoked: str, tmp_path: Path, export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = "2026-06-01T00:00:00Z"
    persons = [
        each
        if each.id != WATCHER
        else replace(each, revoked=at)
        if revoked == "person"
        else replace(each, keys=tuple(replace(key, revoked=at) for key in each.keys))
        for each in PERSONS
    ]
    write_with(tmp_path, persons)
    status, output = checked(tmp_path, export, capsys)
    assert (status, "revoked" in output or "has no key" in output) == (1, True), output


def test_a_damaged_byte_anywhere_is_refused_or_changes_nothing(
    tmp_path: Path, export: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some bytes of a ZIP file, such as its times, are of no file in it."""
    whole = export.read_bytes()
    outcomes = set()
    for place in range(0, len(whole), 7):
        export.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        status, output = checked(tmp_path, export, capsys)
        outcomes.add(status)
        assert (status == 0) == ("as exported by" in output), (place, output)
    assert outcomes == {0, 1}


def test_what_is_no_export_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = tmp_path / "none.zip"
    assert checked(tmp_path, none, capsys)[0] == 1
    none.write_bytes(b"PK\x03\x04 torn")
    assert "not a ZIP file" in checked(tmp_path, none, capsys)[1]
