"""Every link of every Markdown page leads to a file and, where it names one, to a heading."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from common.contract.vocabulary import anchor

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")],
    key=lambda page: page.relative_to(ROOT).parts,
)
GENERATED = (
    "docs/integrator/vocabulary",
    "docs/inspector/rules",
    "docs/technician/troubleshooting",
)
WRITTEN = [
    page
    for page in PAGES
    if page.is_relative_to(ROOT / "docs")
    and not page.relative_to(ROOT).as_posix().startswith(GENERATED)
]
MAX_PAGE_LINES = 300
"""Lines of a page. Generated ones may be longer."""
MAX_LINE_COLUMNS = 100
"""Columns of a line, outside tables, headings and code, which cannot be broken."""


def prose(page: Path) -> str:
    """The text of a page without its code blocks."""
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The addresses of a page's headings, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", prose(page), re.MULTILINE):
        name = anchor(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return frozenset(found)


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    text = re.sub(r"`[^`\n]*`(?!\])", "", prose(page))
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(
        r"^\[[^\]]+\]: (\S+)", text, re.MULTILINE
    )
    wrong = []
    for link in found:
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (
            heading and target.suffix == ".md" and heading not in anchors(target)
        ):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_and_anchor_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    named = {
        (index.parent / link).resolve()
        for link in re.findall(r"\]\(([^)#\s]+)\)", index.read_text())
    }
    assert [
        page.relative_to(ROOT).as_posix()
        for page in PAGES
        if page.is_relative_to(index.parent)
        and page != index
        and not page.relative_to(ROOT).as_posix().startswith(GENERATED)
        and page.resolve() not in named
    ] == []


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_has_one_purpose_and_short_lines(page: Path) -> None:
    assert len(page.read_text().splitlines()) <= MAX_PAGE_LINES
    assert [
        line
        for line in prose(page).splitlines()
        if len(re.sub(r"`[^`]+`", "", line)) > MAX_LINE_COLUMNS
        and " " in line.strip()
        and not line.lstrip().startswith(("|", "#", "!["))
    ] == []
