"""The page of some days: what is in it, and what the command line finds in it."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import subprocess
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from nacl.public import PrivateKey

from common.chain.checkpoint import checkpoint_path, key_path, load_key, public
from common.confidential.bodies import is_sealed
from common.confidential.boxes import CardCipher, open_sealed
from common.contract.messages.messages import LANGUAGES
from common.contract.node import Checkpoint
from common.readings import LinkUp
from controller.cli import main
from controller.inspection.checking import check_page
from controller.inspection.export import NoEntriesError, export_page
from controller.inspection.packing import unpack
from controller.inspection.page import digest, read_page, shell
from controller.inspection.words import words
from controller.proof.audit import audit
from controller.proof.outcome import ProofOutcome
from controller.proof.segment import segments
from controller.proof.witness import Witness
from tests.controller.proof.test_sealing import sealed, ten_days
from tests.controller.proof.test_verify import archive
from tests.support.journal.forgeries import FORGERIES, three_runs
from tests.support.journal.premises import Premises, entries, evening

STATIC = Path("controller/inspection/static")
ALL = "20"
"""The days of this century."""


def signer(path: Path) -> str:
    return str(msgspec.json.decode(checkpoint_path(path).read_bytes(), type=Checkpoint).key)


async def test_a_page_holds_and_names_what_it_does_not_prove(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    await evening(path)
    days = entries(path)[0].time[:7]
    assert main(["export", str(path), "--page", days, "--output", str(page)]) == 0
    assert digest(shell()) in capsys.readouterr().out
    assert main(["check-export", str(page), "--text"]) == 0
    output = capsys.readouterr().out
    assert "HOLDS TOGETHER" in output
    assert "Who wrote it is not proved" in output
    assert main(["check-export", str(page), "--signer", signer(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["known"], found["code"]) == ("holds", True, digest(shell()))
    assert main(["check-export", str(page), "--signer", "0" * 64]) == 1
    assert main(["check-export"]) == 0
    assert capsys.readouterr().out.endswith(f"{digest(shell())}\n")


async def test_a_page_of_a_day_without_entries_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    with pytest.raises(NoEntriesError, match="no entry of 1999-01-01"):
        export_page(path, "1999-01-01", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "options", [["--page", "19 Nov"], ["--page", "2026-11-19", "--table", "r1"]]
)
def test_a_wrong_call_is_answered_in_words(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path / "journal.sqlite3"), *options]) != 0
    assert "--page" in capsys.readouterr().err


@pytest.mark.parametrize("name", FORGERIES)
async def test_the_command_line_judges_a_page_as_the_audit_judges_its_journal(
    name: str, tmp_path: Path
) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    await three_runs(path)
    FORGERIES[name](path)
    export_page(path, ALL, page)
    assert check_page(page).outcome is audit(path).outcome


async def test_without_the_statement_of_the_audit_what_was_changed_is_found_again(
    tmp_path: Path,
) -> None:
    """The check derives the entries itself: it does not repeat what the page states."""
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    await three_runs(path)
    FORGERIES["chained and signed"](path)
    header = export_page(path, ALL, page)
    assert header.audit is not None
    silent = msgspec.structs.replace(
        header, audit=msgspec.structs.replace(header.audit, outcome="holds", against=())
    )
    line = re.compile(rb'(class="header">)[^<]*')
    encoded = base64.b64encode(msgspec.json.encode(silent))
    page.write_bytes(line.sub(lambda found: found[1] + encoded, page.read_bytes(), count=1))
    check = check_page(page)
    assert check.outcome is ProofOutcome.DOES_NOT_HOLD
    assert "this event does not follow from its input" in check.against()[0]


async def test_a_page_has_the_checkpoints_of_a_witness(tmp_path: Path) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    last = await evening(path)
    stored = archive(path, msgspec.to_builtins(last))
    checkpoint_path(path).unlink()
    header = export_page(path, ALL, page, witness=Witness(stored))
    assert header.witness is not None
    assert header.witness.outcome == "holds"
    assert header.witness.witnessed > 0
    assert read_page(page).checkpoints == (last,)
    assert check_page(page, str(last.key)).outcome is ProofOutcome.HOLDS


async def test_a_file_that_is_no_page_or_is_cut_off_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    await evening(path)
    export_page(path, ALL, page)
    whole = page.read_bytes()
    for content in (b"", b"<html>", whole[: len(whole) // 2], b"\xff" * 100):
        page.write_bytes(content)
        assert main(["check-export", str(page), "--text"]) == 1
        assert "DOES NOT HOLD" in capsys.readouterr().out
    assert main(["check-export", str(tmp_path / "none.html")]) == 2


async def test_an_altered_program_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    await evening(path)
    export_page(path, ALL, page)
    page.write_bytes(page.read_bytes().replace(b'"does_not_hold"', b'"holds"'))
    assert main(["check-export", str(page), "--text"]) == 0  # its data is as it was
    output = capsys.readouterr().out
    assert "not that of" in output
    assert "What the page shows is not proved" in output


def test_the_digest_of_the_program_can_be_had_with_two_old_tools(
    programs: None, tmp_path: Path
) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    asyncio.run(evening(path))
    export_page(path, ALL, page)
    command = """grep -avE '^<script type="text/plain" class="[a-z]+">[A-Za-z0-9+/=]*</script>$'"""
    found = subprocess.run(f"{command} {page} | sha256sum", shell=True, capture_output=True)
    assert found.stdout.decode().split()[0] == digest(shell())


async def test_every_line_of_data_is_base64_alone(tmp_path: Path) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    await evening(path)
    export_page(path, ALL, page)
    lines = page.read_bytes().split(b"\n")
    own = shell().split(b"\n")
    added = [line for line in lines if line not in own]
    form = re.compile(
        rb'<script type="text/plain" class="(header|checkpoints|block)">[\w+/=]*</script>'
    )
    assert len(added) >= 3
    assert all(form.fullmatch(line) for line in added)


def test_the_shell_reaches_for_nothing_outside() -> None:
    text = shell().decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    for name, kind in (("page.js", "script"), ("page.css", "style")):
        content = (STATIC / name).read_bytes()
        assert f"'sha256-{base64.b64encode(sha256(content).digest()).decode()}'" in policy[1]
        assert f"<{kind}>{content.decode()}</{kind}>" in text
    assert not re.search(r"https?://|@import|url\(|\bfetch\(|\bimport\(|innerHTML|eval\(", text)
    for name in ("page.js", "checker.js", "inflate.js"):
        assert "</script" not in (STATIC / name).read_text()


def test_every_text_has_five_languages_and_the_same_fields() -> None:
    used = "".join((STATIC / name).read_text() for name in ("page.js", "checker.js"))
    for key, texts in words().items():
        assert list(texts) == list(LANGUAGES), key
        assert len({frozenset(re.findall(r"\{(\w+)\}", text)) for text in texts.values()}) == 1, key
        name = re.sub(r"^short_|_found$|_means$", "", key.split(".")[1])
        assert re.search(rf"\b{name}\b", used), key


async def test_a_sealed_day_needs_nothing_but_its_own_checkpoint(tmp_path: Path) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    await ten_days(path)
    sealed(path)
    day = segments(path)[3].name[:10]
    header = export_page(path, day, page)
    [chain] = header.chains
    read = read_page(page)
    assert chain.last == chain.end < chain.head
    assert chain.after in {point.position for point in read.checkpoints}
    assert chain.last in {point.position for point in read.checkpoints}
    key = public(load_key(key_path(path)))
    [audit_of_day] = check_page(page, key).audits
    assert audit_of_day.chain.outcome is ProofOutcome.HOLDS
    assert audit_of_day.chain.proved == audit_of_day.chain.entries == 30


async def test_the_audit_may_open_what_stays_sealed_in_the_page(tmp_path: Path) -> None:
    path, page = tmp_path / "journal.sqlite3", tmp_path / "page.html"
    secret = PrivateKey(b"s" * 32)
    cipher = CardCipher(secret.public_key, b"s" * 32)
    run = Premises(path, game="punto-banca", driver="angel-eye", cipher=cipher)
    run.runner.on_readings([LinkUp(at=run.now, device="wheel")])
    await run.end()
    closed = export_page(path, ALL, page).audit
    assert closed is not None
    assert closed.outcome == ProofOutcome.NOT_JUDGED
    assert closed.sealed > 0
    opened = export_page(
        path, ALL, page, unseal=lambda body: bytes(open_sealed(body, secret).body)
    ).audit
    assert opened is not None
    assert opened.sealed == 0
    [(_, blocks)] = read_page(page).chains()
    bodies = [entry.body for entry in unpack(blocks, bytes(32))]
    assert bodies == [entry.body for entry in entries(path)]
    assert any(is_sealed(body) for body in bodies)
