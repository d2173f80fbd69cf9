"""The page of an inspector in a real browser, opened as a file: what it finds, and that it finds
what the command line finds.
"""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Page, expect

from common.chain.checkpoint import checkpoint_path
from common.contract.node import Checkpoint
from controller.inspection.checking import check_page
from controller.inspection.export import export_page
from controller.inspection.words import words
from controller.proof.audit import audit
from controller.proof.findings import Audit
from controller.proof.outcome import ProofOutcome
from tests.support.journal.forgeries import FORGERIES, three_runs
from tests.web.firefox import OLD

ALL = "20"
"""The days of this century."""


class Forged(msgspec.Struct):
    """A forged journal: its page, what the audit says, and the key that a person kept."""

    page: Path
    audited: Audit
    kept: str
    audited_with_key: Audit


@pytest.fixture(scope="module", autouse=True)
def forged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Forged]:
    """Every forgery, made before the browser starts: then there is no event loop any more."""
    made = {}
    for number, (name, forge) in enumerate(FORGERIES.items()):
        folder = tmp_path_factory.mktemp(f"forged-{number}")
        journal = folder / "journal.sqlite3"
        asyncio.run(three_runs(journal))
        point = msgspec.json.decode(checkpoint_path(journal).read_bytes(), type=Checkpoint)
        kept = str(point.key)
        forge(journal)
        export_page(journal, ALL, folder / "page.html")
        made[name] = Forged(folder / "page.html", audit(journal), kept, audit(journal, key=kept))
    return made


def outcome(page: Page, path: Path) -> str:
    """Open the page, and return its verdict."""
    page.goto(path.as_uri())
    return verdict(page)


def verdict(page: Page) -> str:
    page.wait_for_selector("#verdict:not([data-outcome=running])")
    return str(page.get_attribute("#verdict", "data-outcome"))


@pytest.mark.parametrize("name", FORGERIES)
def test_the_page_shows_a_forgery_as_the_audit_does(
    name: str, forged: dict[str, Forged], page: Page
) -> None:
    found = forged[name]
    assert outcome(page, found.page) == found.audited.outcome
    shown = page.inner_text("#page")
    findings = [problem.what for problem in found.audited.chain.problems]
    findings += [difference.what for difference in found.audited.differences]
    assert [each for each in findings if each not in shown] == []
    page.fill("#key", found.kept)
    page.click("#use-key")
    page.wait_for_selector(f"#key[value='{found.kept}']")
    expected = check_page(found.page, found.kept).outcome
    assert expected is found.audited_with_key.outcome
    expect(page.locator("#verdict")).to_have_attribute("data-outcome", expected)


def test_the_browser_finds_what_only_hashes_and_signatures_show(
    forged: dict[str, Forged], page: Page
) -> None:
    """What the page checks itself, beside what the audit states."""
    for name, state in (
        ("nothing", "right"),
        ("a number changed", "wrong"),
        ("a number changed, chained", "wrong"),
        ("the last entries dropped", "wrong"),
    ):
        outcome(page, forged[name].page)
        states = page.eval_on_selector_all("#checks > li", "all => all.map((one) => one.className)")
        assert ("wrong" in states[:2]) is (state == "wrong"), name


def test_rounds_show_results_articles_evidence_and_who_gave_commands(
    forged: dict[str, Forged], page: Page
) -> None:
    outcome(page, forged["nothing"].page)
    page.click(".table summary")
    results = page.locator("td .outcome")
    expect(results.filter(has_text="17")).to_have_count(1)
    assert "Decreto 159/2002, anexo I" in page.inner_text("table")
    row = page.locator("tr", has=results.filter(has_text="17"))
    row.get_by_role("button").click()
    entries = page.locator(".entries")
    expect(entries).to_contain_text("2a 58 3b 35 3b 30 30 32 3b 31 37 3b")
    expect(entries).to_contain_text("*X;5;002;17;0;165;0")
    expect(entries).to_contain_text("wheel.number")
    opened = page.locator("tr", has_text="1 / –").first
    opened.get_by_role("button").click()
    expect(page.locator(".entries").first).to_contain_text("M. Lasa (table head)")


def test_a_finding_names_its_round_and_the_round_is_marked(
    forged: dict[str, Forged], page: Page
) -> None:
    for name in ("a number changed", "chained and signed"):
        outcome(page, forged[name].page)
        expect(page.locator("#verdict li").first).to_contain_text("(r1, session 1, round 1)")
        page.click(".table summary")
        expect(page.locator("td div.red")).to_have_count(1)


@pytest.mark.parametrize("language", ["es", "ca", "eu", "gl", "en"])
def test_the_verdict_comes_first_in_the_language_of_the_reader(
    language: str, forged: dict[str, Forged], page: Page
) -> None:
    outcome(page, forged["a number changed"].page)
    page.select_option("#language", language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("#verdict strong")).to_have_text(words()["verdict.does_not_hold"][language])
    top = page.locator("#verdict").bounding_box()
    assert top is not None
    assert top["y"] < 200


def test_a_browser_without_ed25519_says_so_and_judges_nothing(
    forged: dict[str, Forged], page: Page
) -> None:
    """The worker's own functions are replaced before the page runs, as an old browser has them."""
    old = (
        "const Old = Blob; window.Blob = class extends Old { constructor(parts, how) { super("
        "how?.type === 'text/javascript' ? ['crypto.subtle.importKey = async () => { throw new "
        'DOMException("", "NotSupportedError") };\', ...parts] : parts, how); } };'
    )
    page.add_init_script(old)
    assert outcome(page, forged["nothing"].page) == ProofOutcome.NOT_JUDGED
    assert words()["lacking.ed25519"]["en"] in page.inner_text("#verdict")
    assert outcome(page, forged["a number changed"].page) == ProofOutcome.DOES_NOT_HOLD


def test_a_browser_that_cannot_run_the_checker_accuses_nobody(
    forged: dict[str, Forged], page: Page
) -> None:
    """One before 2023 cannot decompress, and a page over plain HTTP has no digests."""
    page.add_init_script(f"({OLD})()")
    assert outcome(page, forged["nothing"].page) == ProofOutcome.NOT_JUDGED
    assert words()["lacking.browser"]["en"] in page.inner_text("#verdict")
    assert outcome(page, forged["a number changed"].page) == ProofOutcome.DOES_NOT_HOLD


def test_the_paper_has_the_key_that_was_given_and_no_buttons(
    forged: dict[str, Forged], page: Page
) -> None:
    found = forged["nothing"]
    outcome(page, found.page)
    page.emulate_media(media="print")
    for hidden in ("#key", "#use-key", "#language"):
        expect(page.locator(hidden)).to_be_hidden()
    page.emulate_media(media="screen")
    page.fill("#key", found.kept)
    page.click("#use-key")
    page.wait_for_selector(f"#key[value='{found.kept}']")
    page.emulate_media(media="print")
    expect(page.locator("#key")).to_be_visible()
    expect(page.locator("#use-key")).to_be_hidden()
    paper = page.pdf(prefer_css_page_size=True)
    assert b"/MediaBox [0 0 594.95996 841.91998]" in paper, "A4"


def test_no_page_of_paper_begins_amid_the_fields_of_an_entry(
    forged: dict[str, Forged], page: Page, tmp_path: Path
) -> None:
    outcome(page, forged["nothing"].page)
    for closed in page.locator("details").all():
        closed.evaluate("element => { element.open = true; }")
    buttons = page.locator("td button")
    for index in range(buttons.count()):
        buttons.nth(index).click()
    fields = page.locator(".entries dl").first
    expect(fields).to_be_visible()
    names = set(page.locator(".entries dt").all_inner_texts())
    paper = tmp_path / "paper.pdf"
    page.pdf(path=paper, prefer_css_page_size=True)
    read = subprocess.run(["pdftotext", "-layout", paper, "-"], capture_output=True, check=True)
    sheets = [sheet.strip().splitlines() for sheet in read.stdout.decode().split("\f")]
    first = [lines[1 if lines[0].startswith("time (UTC)") else 0 :] for lines in sheets if lines]
    begun = [next(filter(str.strip, lines), "").split("  ")[0].strip() for lines in first]
    assert len(sheets) > 3
    assert not names & set(begun)
