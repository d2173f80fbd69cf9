"""Reading a ledger: exports, books, receipts, and ``novamas carrousel``."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import money
from common.contract.jackpot import AwardPay
from common.contract.messages.messages import LANGUAGES, catalogue, text
from common.days import bounds
from subscribers.carrousel.amount_words import amount_in_words
from subscribers.carrousel.amounts import format_amount
from subscribers.carrousel.awards import find_awards
from subscribers.carrousel.entry import TransactionKind
from subscribers.carrousel.export import CSV_COLUMNS, as_csv, as_json, select_entries
from subscribers.carrousel.payments import read_payments
from subscribers.carrousel.reading import LedgerReader
from subscribers.carrousel.receipt import as_text as receipt_text
from subscribers.carrousel.receipt import read_receipt
from subscribers.carrousel.receipt_escpos import LINE_WIDTH, as_escpos
from subscribers.carrousel.receipt_pdf import as_pdf as receipt_pdf
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.statement import JackpotStatement, build_statement
from subscribers.carrousel.statement_page import as_csv as book_csv
from subscribers.carrousel.statement_page import as_text, sections
from subscribers.carrousel.statement_pdf import as_pdf as book_pdf
from tests.subscribers.carrousel.played import evening, opened
from tests.support.pdf import pdf_text
from tests.support.waiting import TIMEOUT_SECONDS

SIX = time(6, 0)
DAY = date(2026, 3, 20)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of an evening."""
    made = tmp_path_factory.mktemp("evening") / "carrousel.sqlite3"
    evening(made)
    return made


@pytest.fixture
def file(path: Path) -> Iterator[LedgerReader]:
    with closing(LedgerReader(path)) as reading:
        yield reading


def book(
    file: LedgerReader, jackpot: str = "j", first: date = DAY, last: date = DAY
) -> JackpotStatement:
    begin, end = bounds(first, SIX)[0], bounds(last, SIX)[1]
    return build_statement(file, jackpot, first, last, begin, end)


def test_the_export_has_every_posting_and_sums_to_zero(file: LedgerReader) -> None:
    rows = list(csv.DictReader(as_csv(file.entries())))
    assert tuple(rows[0]) == CSV_COLUMNS
    (count,) = file.connection.execute("SELECT count(*) FROM posting").fetchone()
    assert len(rows) == count > 100
    assert sum(int(row["amount"]) for row in rows) == 0
    coins = [row for row in rows if row["fact"] == "staked"]
    assert all(row["cause_table"] and row["cause_boot"] and row["cause_seq"] for row in coins)
    assert {row["fact"] for row in rows} > {"award.pay", "won", "pool.transfer", "received"}
    of_k = list(csv.DictReader(as_csv(select_entries(file.entries(), None, None, "k"))))
    assert {row["jackpot"] for row in of_k} == {"k"}


def test_an_exported_entry_proves_the_chain_by_the_words_of_the_documentation(
    file: LedgerReader,
) -> None:
    """Verified without this project's code: JSON, the order of the fields and SHA-256."""
    previous = sha256(f"novamas carrousel 1\n{file.id}".encode()).hexdigest()
    for line in as_json(file.entries()):
        entry = json.loads(line)
        assert entry["previous"] == previous
        cause = entry["cause"] or dict.fromkeys(("time", "table", "boot", "seq"))
        lines = [
            dumped([entry["position"], entry["time"], entry["jackpot"], *cause.values()]),
            re.search(r'"fact":(\{.*\}),"postings":', line)[1],  # type: ignore[index]
        ]
        for each in entry["postings"]:
            of = each["cause"] or dict.fromkeys(("time", "table", "boot", "seq"))
            names = ("line", "transaction", "what", "jackpot", "account", "part", "amount")
            values = [each[name] for name in names]
            lines.append(dumped([*values, *each["at"].values(), *of.values()]))
        content = "".join(f"{each}\n" for each in lines).encode()
        previous = sha256(bytes.fromhex(previous) + content).hexdigest()
        assert entry["hash"] == previous


def dumped(values: list[object]) -> str:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False)


def test_a_day_begins_with_what_the_one_before_left(file: LedgerReader) -> None:
    before = book(file, first=DAY - timedelta(1), last=DAY - timedelta(1))
    of = book(file)
    after = book(file, first=DAY + timedelta(1), last=DAY + timedelta(1))
    assert before.movements == after.movements == {}
    assert before.after == of.before
    assert of.after == after.before == after.after
    assert of.balances
    assert of.after.meter == file.connection.execute(
        "SELECT sum(amount) FROM posting WHERE jackpot = 'j' AND account = 'meter'"
    ).fetchone()[0]  # fmt: skip


@pytest.mark.rule("EUS96-199")
def test_the_book_lists_the_transactions(file: LedgerReader) -> None:
    of = book(file)
    tables = {table.table: table for table in of.tables}
    assert tables["poker-1"].stakes == 1100
    assert tables["poker-2"].stakes == 1200
    for table in of.tables:
        assert table.rise == table.stakes * 9 // 10
        assert table.stakes == table.rise + table.reserve + table.house
    first, second = of.awards
    assert (first.of.table, first.of.round, first.of.box) == ("poker-2", 1, "box:2")
    assert first.locked == first.value == first.paid == (50_000 + 1080) // 10
    assert [each.receipt for each in first.payments] == [1, 2]
    assert sum(reading.amount for reading in first.payments) == first.paid
    assert second.value == 50_000 + 1080 + 450 + 540 - first.value
    assert second.paid == 0
    assert tables["poker-2"].awarded == first.value + second.value
    assert tables["poker-2"].paid == first.paid
    assert of.after.meter == 50_000 + 125 - 7
    assert of.late == 0


def test_the_csv_of_the_book_adds_up(file: LedgerReader) -> None:
    page = "".join(
        line
        for line in book_csv(book(file), "en").splitlines(keepends=True)
        if not line.startswith("#")
    )
    rows = list(csv.DictReader(io.StringIO(page)))

    def total(section: str, column: str) -> int:
        return sum(int(row[column] or 0) for row in rows if row["section"] == section)

    for column in ("meter", "reserve"):
        assert total("begin", column) + total("movement", column) == total("end", column)
    rise = sum(int(row["meter"]) for row in rows if row["what"] == "stake")
    assert total("table", "meter") == rise
    assert total("table", "stakes") == sum(
        total("table", each) for each in ("meter", "reserve", "house")
    )
    assert total("payment", "paid") == total("table", "paid") == total("award", "paid")
    assert total("award", "awarded") == total("table", "awarded")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_book_in_each_language_has_its_proof(file: LedgerReader, language: str) -> None:
    of = book(file)
    assert of.checkpoint is not None
    page = as_text(of, language)
    assert text("book.balances", language) in page
    assert of.checkpoint.signature is not None
    for wanted in (of.hash, of.checkpoint.hash, of.checkpoint.signature, "Ane Núñez", "J-17/2026"):
        assert wanted in page
    shown = pdf_text(book_pdf(of, language))
    for section in sections(of, language):
        for row in section.rows:
            assert said_in(shown, row[-1].replace("’", "'"))
    assert said_in(shown, of.checkpoint.signature)


def test_every_kind_of_transaction_has_its_words() -> None:
    for what in get_args(TransactionKind):
        assert f"book.what.{what}" in catalogue("en")


def said_in(shown: str, wanted: str) -> bool:
    """Return whether a text occurs; it may continue in the next line."""
    return "".join(wanted.split()) in "".join(shown.split())


def test_each_sheet_of_a_long_book_has_the_whole_head(tmp_path: Path) -> None:
    path = tmp_path / "carrousel.sqlite3"
    with opened(path) as floor:
        floor.open("j")
        for _ in range(60):
            floor.play("j", "poker-1", 2, won=(("box:1", "straight_flush", (1, 10)),))
            floor.hear("j")
        floor.commit()
    with closing(LedgerReader(path)) as file:
        of = book(file)
        data = book_pdf(of, "en")
        assert len(of.awards) == 60
        assert len(find_awards(file, "j", {1, 60})) >= 60, "older ones come from the facts"
        with pytest.raises(LedgerError, match="no award 61"):
            find_awards(file, "j", {61})
    sheets = data.count(b"/Type /Page\n")
    assert sheets >= 3
    assert pdf_text(data).count(of.hash) == sheets
    assert text("book.unproved", "en") in pdf_text(data)


def test_a_late_posting_belongs_to_its_day_and_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "carrousel.sqlite3"
    with opened(path) as floor:
        floor.open("j")
        floor.play("j", "poker-1")
        floor.commit()
    with closing(LedgerReader(path)) as file:
        (written,) = file.connection.execute(
            "SELECT time FROM entry WHERE cause_table IS NOT NULL ORDER BY position LIMIT 1"
        ).fetchone()
        end = datetime.fromisoformat(written)
        of = build_statement(file, "j", DAY, DAY, end - timedelta(hours=1), end)
        assert of.late == 3, "the coin's postings count before the end, and are written at it"
        assert of.tables[0].stakes == 100
        assert text("book.late", "en", count=3) in as_text(of, "en")


def test_an_unbalanced_book_reports_it(file: LedgerReader) -> None:
    of = book(file)
    wrong = msgspec.structs.replace(of, before=msgspec.structs.replace(of.before, meter=1))
    assert not wrong.balances
    assert text("book.unbalanced", "en") in as_text(wrong, "en")


def test_receipts_are_counted_as_the_rules_count_them(path: Path, file: LedgerReader) -> None:
    found = list(read_payments(file, "j"))
    assert [each.receipt for each in found] == [1, 2]
    with opened(path.with_name("other.sqlite3")) as floor:
        floor.open("j")
        for _ in range(2):
            floor.play("j", "poker-1", won=(("box:1", "straight_flush", (1, 10)),))
            floor.hear("j")
        for award, receipt_, paid in ((2, 1, 0), (1, 2, 0), (2, 3, 10)):
            order = AwardPay(by="Ane Núñez", role="inspector", award=award, amount=10, paid=paid)
            assert floor.order("j", order).receipt == receipt_
        floor.commit()
        with closing(LedgerReader(floor.store.path)) as other:
            assert [(each.receipt, each.award) for each in read_payments(other, "j")] == [
                (1, 2),
                (2, 1),
                (3, 2),
            ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_receipt_names_payer_amount_and_hand(file: LedgerReader, language: str) -> None:
    of = read_receipt(file, "j", 2)
    assert (of.before, of.payment.amount, of.left) == (2000, 3108, 0)
    page = printed(as_escpos(of, language))
    shown = pdf_text(receipt_pdf(of, language))
    plain = receipt_text(of, language)
    for wanted in (
        text("book.receipt_title", language, number=2),
        format_amount(3108, "EUR", language),
        "poker-2",
        "Ane Núñez",
        "Jordi Plaça",
        of.payment.hash,
        of.ledger,
        "J-17/2026",
    ):
        assert said_in(page, wanted), wanted
        assert said_in(shown, wanted), wanted
        assert wanted in plain
    words = amount_in_words(3108, "EUR", language)
    assert words is not None
    assert said_in(page, words.replace("’", "'"))
    assert said_in(shown, words.replace("’", "'"))
    assert said_in(page, "As Ks Qs Js 10s")
    assert said_in(shown, "A« K« Q« J« 10«")  # spades in the font of symbols
    assert "A♠ K♠ Q♠ J♠ 10♠" in plain
    assert all(len(line) <= LINE_WIDTH for line in page.splitlines())


def test_a_receipt_begins_with_the_letterhead_of_the_house(file: LedgerReader) -> None:
    of, house = read_receipt(file, "j", 2), ("Casino Mayor, S.A.", "NIF A-12345678")
    for shown in (
        receipt_text(of, "es", house),
        printed(as_escpos(of, "es", house)),
        pdf_text(receipt_pdf(of, "es", house)),
    ):
        assert shown.index(house[0]) < shown.index(house[1]) < shown.index("recibo 2")


def test_the_thermal_printer_prints_the_hash_as_a_code(file: LedgerReader) -> None:
    of = read_receipt(file, "j", 2)
    data = of.payment.hash.encode()
    stored = b"\x1d(k" + (len(data) + 3).to_bytes(2, "little") + b"1P0" + data
    code = as_escpos(of, "es").partition(stored)
    assert code[1] == stored
    assert code[2].startswith(b"\x1d(k\x03\x001Q0")


def printed(data: bytes) -> str:
    """Return what an ESC/POS printer prints. Fails for unknown commands."""
    assert data.startswith(b"\x1b@\x1bt\x13")
    assert data.endswith(b"\x1dVB\x00")
    page = bytearray()
    at = 0
    lengths = {b"\x1b@": 0, b"\x1bt": 1, b"\x1bE": 1, b"\x1ba": 1, b"\x1d!": 1, b"\x1dV": 2}
    while at < len(data):
        if data[at : at + 3] == b"\x1d(k":
            at += 5 + int.from_bytes(data[at + 3 : at + 5], "little")
        elif data[at] in b"\x1b\x1d":
            at += 2 + lengths[data[at : at + 2]]
        else:
            assert data[at] == 10 or data[at] >= 32
            page.append(data[at])
            at += 1
    return page.decode("cp858")


def test_nothing_that_a_person_is_called_commands_the_printer(file: LedgerReader) -> None:
    of = read_receipt(file, "j", 1)
    wild = msgspec.structs.replace(of.payment.signed[0], name="\x1bp\x00Ane ’ç 你\n\x1d")
    of = msgspec.structs.replace(of, payment=msgspec.structs.replace(of.payment, signed=(wild,)))
    assert "?p?Ane 'ç ?" in printed(as_escpos(of, "en"))
    assert pdf_text(receipt_pdf(of, "en"))


def test_there_is_no_receipt_and_no_jackpot_that_is_not_there(file: LedgerReader) -> None:
    with pytest.raises(LedgerError, match="no receipt 3; it has 2"):
        read_receipt(file, "j", 3)
    with pytest.raises(LedgerError, match="no jackpot x; it has j, k"):
        book(file, "x")


@given(st.integers(-(10**14), 10**14), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_an_amount_is_the_same_in_every_writing(amount: int, currency: str) -> None:
    digits = {"EUR": 2, "JPY": 0, "KWD": 3}[currency]
    number = money.format_amount(amount, currency)
    assert round(float(number) * 10**digits) == amount
    english, spanish = format_amount(amount, currency, "en"), format_amount(amount, currency, "es")
    assert english.replace(",", "") == f"{number} {currency}"
    assert spanish.translate(str.maketrans(",.", ".,")) == english


def run(*words: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "controller.cli", "carrousel", *map(str, words)],
        capture_output=True,
        timeout=2 * TIMEOUT_SECONDS,
        check=False,
    )


@pytest.mark.usefixtures("programs")
def test_novamas_carrousel_reads_a_ledger(path: Path, tmp_path: Path) -> None:
    held = run("verify", path)
    assert held.returncode == 0, held.stderr
    assert held.stdout.startswith(b"HOLDS: 48 entries")
    assert json.loads(run("verify", "--json", path).stdout)["holds"] is True
    published = path.with_name(f"{path.name}.checkpoint")
    assert run("verify", path, "--checkpoint", published, "--signer", "0" * 64).returncode == 1
    assert run("export", path).stdout.count(b"\n") == 102
    assert len(run("export", path, "--format", "json").stdout.splitlines()) == 48
    made = run("statement", path, "--jackpot", "j", "--day", "2026-03-20", "--language", "eu")
    assert made.returncode == 0, made.stderr
    assert text("book.balances", "eu") in made.stdout.decode()
    paper = tmp_path / "receipt.pdf"
    assert run("receipt", path, "--jackpot", "j", "--number", 1, "--output", paper).returncode == 0
    assert paper.read_bytes().startswith(b"%PDF-")
    plain = run("receipt", path, "--jackpot", "j", "--number", 1, "--format", "text")
    assert plain.stdout.startswith(text("book.receipt_title", "en", number=1).encode())


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("words", "status", "said_"),
    [
        (("verify", "/nowhere/x"), 3, "COULD NOT BE JUDGED: /nowhere/x"),
        (("verifi",), 2, "no action 'verifi'; did you mean `verify`"),
        (("novamas.toml", "--day", "x"), 2, "no options after novamas.toml"),
        (("verify",), 2, "required: FILE"),
        (("statement", "{}", "--jackpot", "x"), 1, "there is no jackpot x"),
        (("statement", "{}", "--jackpot", "j", "--day", "20.3."), 2, "write it as 2026-11-19"),
        (("statement", "{}", "--jackpot", "j", "--day-begins", "6"), 2, "write it as 06:00"),
        (("export", "{}", "--jackpot", "x"), 1, "there is no jackpot x"),
        (("export", "{}", "--from", "2026-03-20", "--to", "2026-03-19"), 1, "is before"),
        (("receipt", "{}", "--jackpot", "j", "--number", "9"), 1, "no receipt 9; it has 2"),
        (("receipt", "{}", "--jackpot", "j", "--number", "1", "--output", "/no/p"), 1, "/no/p: No"),
    ],
)
def test_mistakes_are_reported(path: Path, words: tuple[str, ...], status: int, said_: str) -> None:
    made = run(*(word.format(path) for word in words))
    assert made.returncode == status
    assert said_ in (made.stdout + made.stderr).decode()
    assert b"Traceback" not in made.stderr
