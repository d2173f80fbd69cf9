"""The published text of a rule is that of the gazettes, its answer that of the tables, its proof
that of the tests.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from controller.games.deciding import who_decides
from controller.rulebooks import rows
from controller.rulebooks.dispositions import own_rules
from controller.rulebooks.numbered import numbered, printed_rules
from controller.rulebooks.pages import WHO_DECIDES_PAGE, pages
from tests.controller.rulebooks.printed import FILE, ROOT, printed, references, text, words


def test_the_words_are_those_of_the_gazettes(shared: Path) -> None:
    """Else: ``python -m tests.controller.rulebooks.printed``."""
    assert FILE.read_text(encoding="utf-8") == text(printed(shared))


def test_every_rule_has_its_article_and_its_words() -> None:
    assert len(numbered()) == 750 + len(own_rules())
    assert [
        rule.id
        for rule in numbered().values()
        if not (rule.article and rule.lines and rule.printed)
    ] == []


def test_broken_lines_are_joined_and_parted_words_made_whole() -> None:
    copy = ["La bo-", "la gira en el cilin-", "", "dro. Art. 3-", "B, 3 -", "4"]
    assert words(copy, 1, 6) == "La bola gira en el cilindro. Art. 3- B, 3 - 4"


def test_a_rule_refers_to_lines_and_ranges() -> None:
    assert references("Null [L10-12, L15]; (L10-12: again) **[D]**") == [(10, 12), (15, 15)]


@pytest.mark.parametrize(
    ("rule", "article"),
    [
        ("ARA02-016", "anexo I, art. 3, 1 Ruleta francesa, IV.3.d)"),
        ("BAL05-037", "01 Ruleta, IV.3.e)"),
        ("BAL09-004", "article primer, 12.2.e Pòquer sintètic, II"),
        (
            "EUS96-184",
            (
                "2. artikulua, 11 Karta-uzterik gabeko pokerra, VI.1; 2. artikulua, 12 Pokerra "
                "karta-uztearekin, 8.1"
            ),
        ),
        ("GAL07-105", "anexo, 07 Ferrocarril, bacará ou chemin de fer, erros e infraccións 3"),
    ],
)
def test_the_article_is_where_an_inspector_would_look(rule: str, article: str) -> None:
    assert {
        row["id"]: row["article"]
        for row in rows("printed.tsv", ("id", "article", "lines", "words"))
    }[rule] == article


@pytest.mark.parametrize(
    ("rule", "language"),
    [
        ("ARA02-016", "es"),
        ("BAL05-037", "ca"),
        ("BAL09-004", "ca"),
        ("EUS96-184", "eu"),
        ("GAL07-105", "gl"),
    ],
)
def test_a_quoted_rule_names_the_language_of_its_decree(rule: str, language: str) -> None:
    quoted = msgspec.json.decode(printed_rules())[rule]
    assert quoted == {"words": numbered()[rule].printed, "language": language}


def test_the_pages_are_those_of_the_data() -> None:
    """Else: ``novamas rules --pages docs/inspector/rules``."""
    folder = ROOT / "docs" / "inspector" / "rules"
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == (
        pages() | {WHO_DECIDES_PAGE: who_decides()}
    )
