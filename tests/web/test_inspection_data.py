"""The page of an inspector and data of any kind, in a real browser: it runs none of it, and refuses
what the command line refuses.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nacl.signing import SigningKey
from playwright.sync_api import Page, expect

from common.chain.checkpoint import public, sign
from common.chain.schema import ChainHead, Entry, Record, genesis, rows
from common.contract.times import format_utc
from common.people.register import to_base64url, write_people
from controller.inspection.checking import check_page
from controller.inspection.packing import pack
from controller.inspection.page import (
    FORMAT,
    PageChain,
    PageHeader,
    StatedDifference,
    StatedProof,
    write_page,
)
from controller.inspection.words import words
from controller.proof.outcome import ProofOutcome
from devices.calls import BytesReceived, write_calls
from tests.conftest import cases
from tests.support.people import staff
from tests.web.test_inspection_page import outcome, verdict

JOURNAL = "ab" * 16
KEY = SigningKey(b"k" * 32)

HOSTILE = (
    "</script><script>document.title='run'</script>",
    "<img src=x onerror=\"document.title='run'\">",
    "\u2028\u2029${document.title='run'}",
    "{what} {position} {{ texts }} <!-- data -->",
)


def entry_bodies() -> Iterator[dict[str, Any]]:
    for text in HOSTILE:
        yield {"type": "alert.raised", "what": text, "session": 1, "round": 1, "detail": text}
        yield {"type": text, "by": text, "role": text, "session": 1, "round": 2, text: text}
        yield {"type": "round.result", "session": 1, "round": 3, "outcome": {"number": text}}
        yield {"type": "irregularity", "what": text, "article": text, "law": text, "round": 4}
        yield {"type": "round.result", "frames": text, "signed_by": [text, None, {"name": text}]}


def written(
    path: Path,
    records: list[Record],
    *,
    spoil: tuple[str, int, int] | None = None,
    stated: StatedProof | None = None,
    site: str = "palma",
) -> None:
    """Write a page of these records; ``spoil``: what to change, at which byte, by what."""
    start = genesis(JOURNAL)
    entries = [Entry(*row) for row in rows(records, ChainHead(0, start))[0]]
    block = gzip.decompress(b"".join(pack(entries, start)))
    last = ChainHead(len(entries), entries[-1].hash if entries else start)
    point = msgspec.json.encode(sign(KEY, JOURNAL, "b", "2026-11-28T00:00:00Z", last))
    if spoil is not None:
        part, at, by = spoil
        changed = bytearray(block if part == "block" else point)
        changed[at % len(changed)] ^= by
        block, point = (bytes(changed), point) if part == "block" else (block, bytes(changed))
    header = PageHeader(
        format=FORMAT,
        days="2026-11",
        made="2026-11-28T00:00:00Z",
        software="novamas",
        site=site,
        chains=(
            PageChain(
                journal=JOURNAL,
                after=0,
                last=last.position,
                end=last.position,
                head=last.position,
                previous=start.hex(),
                blocks=1,
            ),
        ),
        audit=stated or StatedProof(outcome="holds"),
    )
    with path.open("wb") as file:
        write_page(file, header, [msgspec.Raw(point)], [gzip.compress(block)])  # type: ignore[list-item]


def events(bodies: list[bytes], table: str = "r1") -> list[Record]:
    return [
        Record(
            table=table,
            boot="b",
            seq=number,
            time=f"2026-11-28T00:00:{number % 60:02d}.000000Z",
            mono_ns=number,
            events=(body,),
        )
        for number, body in enumerate(bodies, 1)
    ]


@pytest.mark.essential
def test_texts_of_a_journal_are_never_run(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    bodies = [json.dumps(body).encode() for body in entry_bodies()]
    bodies += [b"<script>document.title='run'</script>", b"[]", b"null", b"\xff\xfe", b""]
    hostile = StatedProof(
        outcome="does_not_hold",
        against=tuple(StatedDifference(text) for text in HOSTILE),
        unjudged=HOSTILE,
    )
    records = [each for text in HOSTILE for each in events(bodies, text.replace("\n", ""))]
    written(path, records, stated=hostile, site=HOSTILE[0])
    assert outcome(page, path) == ProofOutcome.DOES_NOT_HOLD
    for summary in page.locator(".table > summary").all():
        summary.click()
    expect(page.locator(".table table")).to_have_count(len(HOSTILE))
    for button in page.locator("td button").all():
        button.click()
    expect(page.locator(".entries")).to_have_count(page.locator("td button").count())
    assert page.title() == f"{HOSTILE[0]}: what was played, 2026-11"
    assert page.locator("img, iframe, object, embed, a").count() == 0


BODIES = st.lists(st.binary(max_size=40), min_size=1, max_size=5)


@settings(
    max_examples=cases(40, 600),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    bodies=BODIES,
    spoil=st.none()
    | st.tuples(st.sampled_from(["block", "point"]), st.integers(0, 4000), st.integers(1, 255)),
)
def test_browser_and_command_line_refuse_the_same_data(
    bodies: list[bytes], spoil: tuple[str, int, int] | None, page: Page, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    written(path, events(bodies), spoil=spoil)
    refused = outcome(page, path) == ProofOutcome.DOES_NOT_HOLD
    check = check_page(path, public(KEY))
    if not refused:
        page.fill("#key", public(KEY))
        page.click("#use-key")
        page.wait_for_selector(f"#key[value='{public(KEY)}']")
        refused = verdict(page) == ProofOutcome.DOES_NOT_HOLD
    assert refused == (check.outcome is ProofOutcome.DOES_NOT_HOLD)
    if spoil is None:
        assert not refused
    elif spoil[0] == "block":
        assert refused


UNPACK = """([packed, limit]) => {
  try { return Array.from(unpacked(new Uint8Array(packed), limit)); } catch (error) { return null; }
}"""


@settings(
    max_examples=cases(80, 1000),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    parts=st.lists(st.binary(max_size=30), max_size=12),
    level=st.integers(0, 9),
    spoil=st.none() | st.tuples(st.integers(0, 400), st.integers(1, 255)),
)
def test_packed_calls_are_unpacked_as_python_does(
    parts: list[bytes], level: int, spoil: tuple[int, int] | None, page: Page
) -> None:
    script = Path("controller/inspection/static/inflate.js").read_text()
    if not page.evaluate("typeof unpacked === 'function'"):
        page.add_script_tag(content=script)
    packed = bytearray(zlib.compress(b"".join(parts * 3), level))
    if spoil is not None:
        packed[spoil[0] % len(packed)] ^= spoil[1]
    unpacking = zlib.decompressobj()
    try:
        expected: list[int] | None = list(unpacking.decompress(bytes(packed)))
    except zlib.error:
        expected = None
    if not unpacking.eof or unpacking.unused_data:
        expected = None
    assert page.evaluate(UNPACK, [list(packed), 1 << 20]) == expected
    if expected:
        assert page.evaluate(UNPACK, [list(packed), len(expected) - 1]) is None


STATUS = "*X;1;009;35;0;162;0"
EVIDENCE: dict[str, tuple[str, bytes, bool]] = {
    "a line": (STATUS, b"35\r\n*X;1;009;35;0;162;0\r\n", True),
    "another line": (STATUS, b"35\r\n*X;1;009;34;0;162;0\r\n", False),
    "lines with another between": (
        f"35\\r\\n{STATUS}\\r\\n{STATUS}",
        b"35\r\n*X;5;008;35;0;146;1\r\n" + 2 * b"*X;1;009;35;0;162;0\r\n",
        True,
    ),
    "lines with CR alone": (f"35\\r\\n{STATUS}", b"35\r*X;1;009;35;0;162;0\r", True),
    "one line of two": (f"{STATUS}\\r\\n{STATUS}", b"*X;1;009;35;0;162;0\r\n", False),
    "lines in another order": (f"35\\r\\n{STATUS}", b"*X;1;009;35;0;162;0\r\n35\r\n", False),
    "the end of a line": (f"35\\r\\n{STATUS}", b"135\r\n7\r\n*X;1;009;35;0;162;0\r\n", False),
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_a_frame_is_found_if_the_device_sent_its_lines(
    name: str, page: Page, tmp_path: Path
) -> None:
    """A result that was recovered names the bare number and the lines of the next spin, without
    what came between them.
    """
    frame, sent, is_found = EVIDENCE[name]
    calls = write_calls("wheel", [BytesReceived(1.0, sent)])
    frames = [{"at": 1.0, "device": "wheel", "frame": frame}]
    body = json.dumps({"type": "round.result", "session": 1, "round": 1, "frames": frames}).encode()
    [record] = events([body])
    path = tmp_path / "page.html"
    written(path, [msgspec.structs.replace(record, before=(("bytes", calls),))])
    outcome(page, path)
    assert f"Evidence: {int(is_found)} of 1 " in page.inner_text("#checks")


def boot_of(people_file: bytes) -> bytes:
    key = to_base64url(staff.SIGNER)
    setup = {"file": people_file.decode(), "key": key, "required": True}
    return json.dumps({"site": staff.SITE, "key": None, "people": setup}).encode()


def void(token: bytes, **changed: Any) -> dict[str, Any]:
    signature = {"id": "m-lasa", "name": "M. Lasa", "role": "table_head", "token": token.decode()}
    given = {"by": "M. Lasa", "role": "table_head", "reason": "ball_out", "signed": [signature]}
    return {"type": "round.void", "at": 1.0, **given, **changed}


def tampered(token: bytes) -> bytes:
    head, payload, signature = token.split(b".")
    claims = json.loads(base64.urlsafe_b64decode(payload + b"=="))
    forged = json.dumps({**claims, "jti": "another-number-1"}).encode()
    return b".".join((head, base64.urlsafe_b64encode(forged).rstrip(b"="), signature))


PEOPLE = write_people(staff.people(), staff.SITE_KEY)
OTHER_PEOPLE = PEOPLE.replace(b"A. Riera", b"A. Ribera")
TOKEN = staff.signed()
COMMANDS: dict[str, tuple[bytes, list[dict[str, Any]], str | None]] = {
    "a signed command": (PEOPLE, [void(TOKEN)], None),
    "another reason": (PEOPLE, [void(TOKEN, reason="other")], "signature"),
    "another name": (PEOPLE, [void(TOKEN, by="T. Vidal")], "signature"),
    "another role": (PEOPLE, [void(TOKEN, role="director")], "signature"),
    "another payload": (PEOPLE, [void(tampered(TOKEN))], "signature"),
    "another command": (PEOPLE, [void(TOKEN, type="session.close")], "signature"),
    "another table": (PEOPLE, [void(staff.signed(aud="novamas/v1/x/r2"))], "signature"),
    "another's key": (PEOPLE, [void(staff.signed("riera"))], "signature"),
    "a revoked key": (PEOPLE, [void(staff.signed("lasa-lost"))], "signature"),
    "a role not held": (PEOPLE, [void(staff.signed(role="director"))], "signature"),
    "long before": (PEOPLE, [void(staff.signed(iat=1, exp=30))], "signature"),
    "twice": (PEOPLE, [void(TOKEN), void(TOKEN)], "repeated"),
    "a changed people file": (OTHER_PEOPLE, [void(TOKEN)], "people"),
    "garbage": (PEOPLE, [void(b"a.b.c")], "signature"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_signed_commands_are_checked_against_the_people_in_force(
    name: str, page: Page, tmp_path: Path
) -> None:
    file, commands, problem = COMMANDS[name]
    time = format_utc(staff.NOW)
    records = [
        Record(table="", boot="b", seq=0, time=time, mono_ns=0, before=(("boot", boot_of(file)),))
    ]
    records += [
        Record(
            table=staff.TABLE,
            boot="b",
            seq=0,
            time=time,
            mono_ns=1,
            input=json.dumps(command).encode(),
        )
        for command in commands
    ]
    path = tmp_path / "page.html"
    written(path, records)
    found = outcome(page, path)
    if problem is None:
        assert found == ProofOutcome.HOLDS
        assert "1 of 1 commands carry the valid signature" in page.inner_text("#checks")
        return
    assert found == ProofOutcome.DOES_NOT_HOLD
    first = words()[f"problem.{problem}"]["en"].split(":")[1].partition("{")[0].strip()
    assert first in page.inner_text("#verdict")
