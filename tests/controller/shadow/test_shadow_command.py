"""``novamas shadow``, from the journal of a real table to signed reports of a day and a month."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
import pytest

from benchmarks.month import MonthTable, make, status_lines
from common.contract.messages.messages import LANGUAGES
from common.contract.times import format_utc
from tests.controller.commissioning.commissioned import key
from tests.support.pdf import pdf_text

pytestmark = pytest.mark.usefixtures("programs")
NOVAMAS = Path(sys.executable).with_name("novamas")
ROUNDS = 90
NUMBERS = Random(7).choices(range(36), k=ROUNDS)
START = 1_793_491_200.0
CONFIG = """
[site]
id = "palma"
letterhead = ["Casino de Prueba"]

[broker]
url = "mqtt://127.0.0.1"

[people]
required = "accept-the-risk"

[web]
day_begins = "00:00"

[journal]
path = "journal.sqlite3"

[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial:///dev/null"
"""


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("journal")
    make(folder / "journal.sqlite3", status_lines(ROUNDS, number_of=number_of), MonthTable())
    return folder


@pytest.fixture
def house(journal: Path, tmp_path: Path) -> Path:
    for path in journal.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "novamas.toml").write_text(CONFIG)
    return tmp_path


def number_of(spin: int) -> int:
    return NUMBERS[spin - 1]


def rows(seconds: float = 30.0) -> list[list[str]]:
    """The list of another system, whose clock is half a minute ahead."""
    return [
        [format_utc(START + 60 * spin - 8 + seconds), str(number_of(spin))]
        for spin in range(1, ROUNDS + 1)
    ]


def write_list(house: Path, listed: list[list[str]]) -> Path:
    path = house / "list.csv"
    lines = ["# of another system", "time,result", *(",".join(row) for row in listed)]
    path.write_text("\r\n".join(lines))
    return path


def shadow(house: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NOVAMAS, "shadow", *words],
        cwd=house,
        env={"PATH": "/usr/bin:/bin", "TZ": "UTC", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )


def compared(house: Path, listed: list[list[str]]) -> subprocess.CompletedProcess[str]:
    write_list(house, listed)
    what = ("--day", "2026-11-01", "--list", "list.csv", "--format", "novamas")
    return shadow(house, "day", "ruleta-1", *what, *key(house))


def test_a_day_that_is_equal(house: Path) -> None:
    done = compared(house, rows())
    assert done.returncode == 0, done.stderr
    assert f"Equal: {ROUNDS} results" in done.stdout
    assert "30 to 30 seconds ahead of this system" in done.stdout
    assert [path.name for path in sorted((house / "shadow").iterdir())] == [
        "ruleta-1-2026-11-01.json",
        "ruleta-1-2026-11-01.pdf",
    ]
    checked = shadow(house, "check", "shadow/ruleta-1-2026-11-01.json")
    assert checked.returncode == 0
    assert "as it was signed, and it follows from its sources" in checked.stdout
    paper = pdf_text((house / "shadow" / "ruleta-1-2026-11-01.pdf").read_bytes())
    assert "Casino de Prueba" in paper
    assert f"Igual: {ROUNDS} resultados" in paper


def test_differences_are_listed_explained_and_gathered(house: Path) -> None:
    listed = rows()
    listed[19][1] = "36"
    del listed[49]
    done = compared(house, listed)
    assert done.returncode == 3, done.stderr
    assert "1. Different number: session 1, round 20 (2026-11-01 00:19:5" in done.stdout
    assert f"): {number_of(20)}; in the list: line 22 (" in done.stdout
    assert "2. Missing in the list: session 1, round 50 (" in done.stdout

    month = ("month", "shadow", "--table", "ruleta-1", "--month", "2026-11", *key(house))
    first = shadow(house, *month)
    assert first.returncode == 3, first.stderr
    assert "Differences without explanation: 2" in first.stdout
    report = "shadow/ruleta-1-2026-11-01.json"
    for difference, words in (("1", "The dealer entered 36 by hand."), ("2", "Restarted.")):
        named = ("--difference", difference, "--words", words)
        explained = shadow(house, "explain", report, *named, *key(house))
        assert explained.returncode == 0, explained.stderr
    second = shadow(house, *month)
    assert second.returncode == 0, second.stderr
    assert "Equal or explained on 1 days" in second.stdout
    assert "2026-11-02, 2026-11-03" in second.stdout  # without a comparison
    checked = shadow(house, "check", "shadow/ruleta-1-2026-11.json")
    assert checked.returncode == 0, checked.stderr
    notes = sorted((house / "shadow").glob("*.explained-1-*.json"))
    assert "The dealer entered 36 by hand." in shadow(house, "check", str(notes[0])).stdout

    notes[0].unlink()  # the month no longer follows from its files
    checked = shadow(house, "check", "shadow/ruleta-1-2026-11.json")
    assert checked.returncode == 1
    assert "ruleta-1-2026-11-01.json: is missing, was changed, or has other" in checked.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_paper_in_each_language(house: Path, language: str) -> None:
    listed = rows()
    listed[19][1] = "36"
    assert compared(house, listed).returncode == 3
    printed = shadow(
        house, "check", "shadow/ruleta-1-2026-11-01.json", "--language", language
    ).stdout
    assert "shadow_paper" not in printed
    assert "36" in printed


def test_a_report_that_was_changed_is_refused(house: Path) -> None:
    listed = rows()
    listed[19][1] = "36"
    compared(house, listed)
    path = house / "shadow" / "ruleta-1-2026-11-01.json"
    data = path.read_bytes()
    document = msgspec.json.decode(data)
    for change in (
        data.replace(b'"same":89', b'"same":90'),
        data.replace(b"shadow day 1", b"shadow day 2"),
        data[:-40],
        b"",
        b"[]",
        msgspec.json.encode(document | {"signature": "AAAA"}),
    ):
        assert change != data
        path.write_bytes(change)
        done = shadow(house, "check", str(path))
        assert done.returncode == 1
        assert done.stderr.startswith(f"novamas: {path}: ")
        assert "Traceback" not in done.stderr


def test_a_report_whose_differences_were_removed_before_it_was_signed(house: Path) -> None:
    """A signer can sign anything: the differences are derived from both sides again."""
    from nacl.signing import SigningKey

    from controller.shadow.report import DayReport, read_as, write_signed

    listed = rows()
    listed[19][1] = "36"
    compared(house, listed)
    path = house / "shadow" / "ruleta-1-2026-11-01.json"
    report, _ = read_as(path.read_bytes(), DayReport)
    clean = msgspec.structs.replace(report, differences=())
    path.write_bytes(write_signed(clean, SigningKey.generate()))
    done = shadow(house, "check", str(path))
    assert done.returncode == 1
    assert "its differences do not follow from its results" in done.stderr
    month = ("month", "shadow", "--table", "ruleta-1", "--month", "2026-11", *key(house))
    assert "do not follow" in shadow(house, *month).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("day", "ruleta-1"), "shadow day: --day is missing"),
        (("day",), "shadow day: TARGET is missing"),
        (("check",), "shadow check: TARGET is missing"),
        (("check", "novamas.toml"), "novamas.toml: is not a file of a shadow run"),
        (("check", "other.json"), "other.json: No such file or directory"),
        (("month", "shadow", "--table", "ruleta-1", "--month", "november"), "such as 2026-11"),
        (
            ("month", "nowhere", "--table", "ruleta-1", "--month", "2026-11"),
            "nowhere: is no folder",
        ),
        (("month", ".", "--table", "ruleta-2", "--month", "2026-11"), "did you mean `ruleta-1`?"),
        (
            ("day", "ruleta-1", "--day", "26.11.", "--list", "x", "--format", "novamas"),
            "--day 26.11.: expected a day such as 2026-11-26",
        ),
        (
            ("day", "ruleta-1", "--day", "2026-11-01", "--list", "x.csv", "--format", "novamas"),
            "x.csv: No such file or directory",
        ),
        (
            ("day", "ruleta-1", "--day", "2026-11-01", "--list", "list.csv", "--format", "novams"),
            "no format 'novams'; did you mean `novamas`?",
        ),
    ],
)
def test_a_mistake_is_named(house: Path, words: tuple[str, ...], message: str) -> None:
    write_list(house, rows())
    signer = key(house) if words[0] in ("day", "month") else ()
    done = shadow(house, *words, *signer)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (house / "shadow").exists()


def test_the_formats_are_listed() -> None:
    done = subprocess.run(
        [NOVAMAS, "shadow", "formats"], capture_output=True, text=True, check=True
    )
    assert "numbers: plausible (no vendor's document" in done.stdout
