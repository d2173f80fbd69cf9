"""Each page of the documentation is short, and names its reader first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MAX_PAGE_LINES = 300
"""Maximum lines of a page."""
GENERATED = ("integrator/vocabulary/", "inspector/rules/", "technician/troubleshooting/")
READERS = ("technician", "pit", "integrator", "inspector", "engineer")
PAGES = sorted(
    path
    for reader in READERS
    for page in (DOCS / reader).rglob("*.md")
    if not (path := page.relative_to(DOCS).as_posix()).startswith(GENERATED)
)
FOR_WHOM = re.compile(r"\b(For|Para|Per a|\w+entzat)\b")
"""The statement of a page's reader, in the languages of the pages."""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_short_and_names_its_reader(page: str) -> None:
    title, _, first, *rest = (DOCS / page).read_text().splitlines()
    assert title.startswith("# ")
    assert FOR_WHOM.match(first), "the first paragraph says for whom the page is, and to what end"
    assert len(rest) + 3 <= MAX_PAGE_LINES, "split it: one page has one purpose"


QUESTIONS = {
    "Where is a spin judged void?": (["docs/engineer/where.md"], "WheelTurn.breach"),
    "How do I add a setting?": (["docs/engineer/new-setting.md"], "RouletteSettings"),
    "What does a refused command look like on the wire?": (
        ["docs/integrator/commands.md"],
        '"refusal":{"key":',
    ),
    "Which file decides who may void?": (["docs/engineer/where.md"], "deciders.tsv"),
    "Who may void a spin here?": (["docs/inspector/rules/who-decides.md"], "`round.void`"),
    "How do I see my wheel's bytes?": (["docs/technician/connect-a-wheel.md"], "novamas record"),
    "What do I do when a device is silent?": (["docs/pit/es.md"], "un aparato calla"),
    "How do I know that the journal was not changed?": (
        ["docs/inspector/durability.md", "docs/inspector/verify.md"],
        "novamas verify",
    ),
}
"""Questions of a stranger: the pages from one link to the next, from the README, and the answer."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_stranger_finds_the_answer_by_following_links(question: str) -> None:
    pages, answer = QUESTIONS[question]
    here = DOCS.parent / "README.md"
    for page in pages:
        links = re.findall(r"\]\(([^)#\s]+)", here.read_text())
        there = DOCS.parent / page
        assert there in [(here.parent / link).resolve() for link in links]
        here = there
    assert answer in here.read_text()
