"""Write ``controller/rulebooks/printed.tsv``: for each numbered rule its place in the decree and
the words printed there.

``python -m tests.controller.rulebooks.printed [FOLDER]``. The words are those of the copies beside
the checkout: broken lines are joined and words that were divided at the end of a line are made
whole, nothing else is corrected, though some copies are badly scanned.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import NamedTuple

from tests.conftest import SHARED

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "controller" / "rulebooks" / "printed.tsv"
OWN = ROOT / "controller" / "rulebooks" / "own_rules.tsv"
HEAD = ("id", "article", "lines", "words")

COPIES = {
    "BAL05": "000_*.txt",
    "BAL09": "001_*.txt",
    "ARA02": "002_*.txt",
    "EUS96": "003_*.txt",
    "GAL07": "004_*.txt",
}

WHOLE: dict[str, dict[tuple[int, int], tuple[int, int]]] = {
    "ARA02-008": {(278, 278): (278, 280)},
    "ARA02-009": {(280, 280): (278, 280)},
    "ARA02-033": {(396, 398): (396, 400)},
    "ARA02-037": {(448, 448): (446, 448)},
    "ARA02-048": {(484, 484): (484, 486)},
    "ARA02-074": {(692, 692): (692, 694)},
    "ARA02-075": {(692, 692): (692, 694)},
    "ARA02-130": {(1246, 1246): (1244, 1246)},
    "EUS96-056": {(2925, 2925): (2923, 2925)},
    "EUS96-184": {(1819, 1819): (1817, 1819)},
    "GAL07-097": {(432, 432): (432, 434)},
}
"""Lines that the numbered list cuts in the middle of a sentence, at the end of a line or a page,
and those that have the whole sentence. EUS96-056 lost the last shoe of black jack this way.
"""

HEADINGS: dict[str, dict[int, str]] = {
    "BAL05": {
        1: "preàmbul",
        94: "01 Ruleta",
        308: "02 Ruleta americana",
        462: "03 Blackjack",
        686: "04 Boule o bola",
        796: "05 Trenta i quaranta",
        909: "06 Daus o craps",
        1184: "07 Punt i banca",
        1373: "08 Bacarà, chemin de fer o ferrocarril",
        1845: "09 Bacarà de dos taulers",
        2160: "10 Ruleta de la fortuna",
        2225: "11 Pòquer sense descart",
        2469: "12 Pòquer sintètic",
        2843: "13 Pòquer trijoker",
        3009: "14 Lototrot",
        3324: "15 Promotrot",
    },
    "BAL09": {
        1: "preàmbul",
        52: "article primer, 12 Pòquer de cercle",
        537: "article primer, 12.1 Pòquer cobert de 5 cartes amb descart",
        662: "article primer, 12.2 Variants de pòquer descobert",
        663: "article primer, 12.2.a Seven Card Stud",
        790: "article primer, 12.2.b Omaha",
        813: "article primer, 12.2.c Texas Hold’em",
        825: "article primer, 12.2.d Five Stud",
        852: "article primer, 12.2.e Pòquer sintètic",
        922: "article segon, 16 Pai Gow Poker",
        1152: "article tercer, 17 Pòquer de tres cartes",
    },
    "ARA02": {
        1: "preámbulo",
        119: "anexo I",
        168: "anexo I, art. 3, 1 Ruleta francesa",
        292: "anexo I, art. 3, 2 Ruleta americana",
        342: "anexo I, art. 3, 3 Bola o boule",
        412: "anexo I, art. 3, 4 Treinta y cuarenta",
        474: "anexo I, art. 3, 5 Veintiuno o black jack",
        608: "anexo I, art. 3, 6 Punto y banca",
        718: "anexo I, art. 3, 7 Ferrocarril, bacará o chemin de fer",
        968: "anexo I, art. 3, 8 Bacará a dos paños",
        1130: "anexo I, art. 3, 9 Dados o craps",
        1266: "anexo I, art. 3, 10-A Póquer sin descarte",
        1402: "anexo I, art. 3, 10-B Póquer sintético",
        1594: "anexo I, art. 3, 11 Ruleta de la fortuna",
        1676: "anexo I",
        1785: "anexos II a VII",
    },
    "EUS96": {
        1: "dekretua",
        100: "eranskina",
        186: "eranskina, 2. artikulua",
        196: "2. artikulua, 01 Erruleta frantsesa",
        324: "2. artikulua, 02 Erruleta amerikarra",
        380: "2. artikulua, 03 Hogeita bata edo black jack",
        570: "2. artikulua, 03.01 Black jack hirukoitza",
        628: "2. artikulua, 04 Boule edo bola",
        688: "2. artikulua, 05 Hogeita hamar eta berrogei",
        753: "2. artikulua, 06 Dadoak edo craps",
        921: "2. artikulua, 07 Puntu eta bankua",
        1059: "2. artikulua, 08 Trenbidea, baccara edo chemin de fer",
        1323: "2. artikulua, 09 Bi oihaleko baccara",
        1485: "2. artikulua, 10 Zori-erruleta",
        1535: "2. artikulua, 11 Karta-uzterik gabeko pokerra",
        1697: "2. artikulua, 12 Pokerra karta-uztearekin",
        1885: "2. artikulua, 13 Trijoker pokerra",
        2004: "2. artikulua, 14 Pai Gow pokerra",
        2144: "2. artikulua, 15 Hiru kartako pokerra",
        2265: "2. artikulua, 16 Texas pokerra",
        2409: "2. artikulua, 17 Zirkuluko pokerraren arau orokorrak",
        2686: "2. artikulua, 17.1 Poker estalia, karta-uztearekin",
        2710: "2. artikulua, 17.2.1 Omaha",
        2728: "2. artikulua, 17.2.2 Bost kartako omaha",
        2756: "2. artikulua, 17.2.3 Omaha hi & low",
        2780: "2. artikulua, 17.3.1 Texas hold’em",
        2790: "2. artikulua, 17.3.2 Doble hold’em",
        2824: "2. artikulua, 17.4 Five Stud Poker",
        2850: "2. artikulua, 17.5 Seven Card Stud Poker",
        2876: "2. artikulua, 17.6 Poker sintetikoa",
        2919: "2. artikulua, joko-mahaien funtzionamendua",
        2935: "2 bis artikulua, txapelketak",
        2961: "eranskina",
    },
    "GAL07": {
        1: "decreto",
        88: "anexo",
        92: "anexo, 01 Ruleta francesa",
        198: "anexo, 02 Ruleta americana",
        238: "anexo, 03 Vinte e un ou black jack",
        330: "anexo, 04 Bóla ou boule",
        374: "anexo, 05 Trinta e corenta",
        420: "anexo, 06 Punto e banca",
        498: "anexo, 07 Ferrocarril, bacará ou chemin de fer",
        690: "anexo, 08 Bacará a dous panos",
        830: "anexo, 09 Dados ou craps",
        994: "anexo, 10 Ruleta da fortuna",
    },
}
"""The beginning of each game in the copy, and an inspector's name of it. The sections within are
read from the copy itself.
"""

SECTIONS = {"BAL05": {103: 2, 695: 2, 1191: 2, 2478: 2, 2853: 2, 3043: 2}}
"""Sections whose number is lost in the copy: «1. Elements del joc» is II everywhere."""
UNNUMBERED = {"GAL07": {642: "erros e infraccións", 774: "erros e infraccións"}}
"""Headings without a number."""

_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_SECTION = re.compile(r"([IVXl1|]{1,5}) ?[.-]+ ?(?=[^\W\d])")
_NUMBER = re.compile(r"(\d{1,2}(?:\.\d)?)(?:r|n|t|è|é|e)?\.?[.-] ?(?=[^\W\d_a-z]|«|-)")
_CAPITAL = re.compile(r"([A-D])[.)] (?=\w)")
_LETTER = re.compile(r"(?:- )?([a-z¢€])\) ?(?=\S)")
_MISREAD = {"¢": "c", "€": "e"}
_NO_PRINT = re.compile(r"<\|[\w-]*\|>")
"""Marks in a copy that are in no gazette."""
_REFERENCE = re.compile(r"L(\d+)(?:-L?(\d+))?")


class Printed(NamedTuple):
    """A rule as the gazette prints it: where, in which lines of the copy, and the words."""

    id: str
    article: str
    lines: str
    words: str


def places(decree: str, lines: list[str]) -> list[str]:
    """For each line of a copy, counted from 1, the game and the section that enclose it."""
    found, game, way = [""], "", _Way()
    for number, line in enumerate(lines, start=1):
        if number in HEADINGS[decree]:
            game, way = HEADINGS[decree][number], _Way()
        elif number in SECTIONS.get(decree, {}):
            way = _Way(SECTIONS[decree][number])
        elif number in UNNUMBERED.get(decree, {}):
            way = _Way(name=UNNUMBERED[decree][number])
        else:
            way = way.after(line.strip("* _"))
        found.append(", ".join(filter(None, (game, way.words()))))
    return found


class _Way(NamedTuple):
    """Section, number, capital and letter, as far as they were read: ``IV.1.A.a)``."""

    section: int = 0
    number: str = ""
    capital: str = ""
    letter: str = ""
    name: str = ""

    def after(self, line: str) -> _Way:
        if (told := _SECTION.match(line)) and (section := _roman(told[1], self)):
            return _Way(section)
        if (told := _NUMBER.match(line)) and self._leads_to(told[1]):
            return self._replace(number=told[1], capital="", letter="")
        if told := _CAPITAL.match(line):
            return self._replace(capital=told[1], letter="")
        if told := _LETTER.match(line):
            letter = _MISREAD.get(told[1], told[1])
            return (
                self._replace(letter=letter) if letter in ("a", *_following(self.letter)) else self
            )
        return self

    def _leads_to(self, number: str) -> bool:
        """Return True if a number follows the one before: 2 after 1, 3 after 1 where 2 is lost; 5.1
        after 5, 8.1 in VIII.
        """
        whole, last = (int(text.partition(".")[0] or 0) for text in (number, self.number))
        return (
            number == "1"
            or ("." in number and whole in (last, self.section))
            or last < whole <= last + 2
        )

    def words(self) -> str:
        section = "" if not self.section or "." in self.number else _ROMAN[self.section - 1]
        numbers = ".".join(filter(None, (section, self.number, self.capital, self.letter))) + (
            ")" if self.letter else ""
        )
        return f"{self.name} {numbers}".strip()


def _roman(message: str, way: _Way) -> int:
    """The section, if it follows the one before; scans have 1, l and | for I. A bare 1 is
    a number.
    """
    read = re.sub("[1l|]", "I", message)
    number = _ROMAN.index(read) + 1 if read in _ROMAN else 0
    return number if message != "1" and way.section < number <= way.section + 3 else 0


def _following(letter: str) -> tuple[str, ...]:
    return tuple(chr(ord(letter) + step) for step in (1, 2)) if letter else ()


def references(rule: str) -> list[tuple[int, int]]:
    """The lines that a numbered rule is taken from, first and last."""
    return list(
        dict.fromkeys((int(first), int(last or first)) for first, last in _REFERENCE.findall(rule))
    )


def words(lines: list[str], first: int, last: int) -> str:
    """The printed words of these lines, as one line. A word that is divided at a line's end is made
    whole.
    """
    text = ""
    for line in (" ".join(_NO_PRINT.sub(" ", line).split()) for line in lines[first - 1 : last]):
        parted = len(text) > 1 and text[-1] in "-¬" and text[-2].isalpha() and line[:1].islower()
        text = text[:-1] + line if parted else f"{text} {line}".strip()
    return text


def printed(shared: Path) -> list[Printed]:
    """All numbered rules as they are printed, and those that the numbered list lacks."""
    copies = {
        decree: next((shared / "seeds").glob(name)).read_text(encoding="utf-8").split("\n")
        for decree, name in COPIES.items()
    }
    at = {decree: places(decree, lines) for decree, lines in copies.items()}
    found = []
    numbered = _numbered(shared / "rules" / "rules.tsv", "rule") + _numbered(OWN, "lines")
    for rule, digested in numbered:
        decree = rule.partition("-")[0]
        told = [WHOLE.get(rule, {}).get(lines, lines) for lines in digested]
        if decree in SHORT_LINES:
            told = [whole_sentences(copies[decree], first, last) for first, last in told]
        articles = dict.fromkeys(at[decree][first] for first, _ in told)
        text = " […] ".join(words(copies[decree], first, last) for first, last in told)
        lines = ", ".join(
            f"L{first}" if first == last else f"L{first}-{last}" for first, last in told
        )
        found.append(Printed(rule, "; ".join(articles), lines, text))
    return found


def whole_sentences(lines: list[str], first: int, last: int) -> tuple[int, int]:
    """The lines with those before and after that have the rest of a sentence that they cut."""
    if not _BEGINS.match(lines[first - 1]):
        while first > 1 and lines[first - 2].strip() and not _ENDS.search(lines[first - 2]):
            first -= 1
            if _NEXT.search(lines[first - 1]):
                break
    cut = not _ENDS.search(lines[last - 1])
    while cut and last < len(lines) and lines[last].strip():
        last += 1
        cut = not (_ENDS.search(lines[last - 1]) or _NEXT.search(lines[last - 1]))
    return first, last


SHORT_LINES = ("BAL05", "BAL09")
"""The copies that keep the lines of the gazette's columns, at whose ends the numbered list cuts
sentences. In the others a line is a paragraph.
"""
_BEGINS = re.compile(r"\W*([A-ZÀ-Ý0-9]|[a-z]\)|<\|)")
_ENDS = re.compile(r"[.:;?!»”)]\s*$")
_NEXT = re.compile(r"\w[.;:]\s+[A-ZÀ-Ý]")


def _numbered(table: Path, column: str) -> list[tuple[str, list[tuple[int, int]]]]:
    """The rules of a table by id, and the lines that they are taken from, which the
    column names.
    """
    with table.open(encoding="utf-8", newline="") as lines:
        return [
            (row["id"], references(row[column]))
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


def text(rows: list[Printed]) -> str:
    """The content of the file."""
    return "".join("\t".join(row) + "\n" for row in (HEAD, *rows))


if __name__ == "__main__":
    FILE.write_text(
        text(printed(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED)), encoding="utf-8"
    )
