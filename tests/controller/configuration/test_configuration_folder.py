"""A configuration in several files, and settings that hold for all tables of the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.cli import main
from controller.configuration.file import load
from controller.configuration.settings import ConfigurationError
from tests.controller.configuration.test_profiles import ROTA

MAIN = """\
[site]
id = "casino"
decree = "EUS96"
languages = ["es", "eu"]
[broker]
url = "embedded://127.0.0.1:1883"
"""
TABLE = """\
[[table]]
id = "ruleta-{n}"
game = "roulette-french"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:400{n}"
"""


def written(folder: Path, **files: str) -> Path:
    """A configuration ``casino.toml`` with these files in its folder, by name without suffix."""
    (folder / "casino.d").mkdir()
    (folder / "casino.toml").write_text(files.pop("main", MAIN))
    for name, text in files.items():
        (folder / "casino.d" / f"{name}.toml").write_text(text)
    return folder / "casino.toml"


def reported(file: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The errors of ``novamas check``, without the folder of the files."""
    assert main(["check", str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return [line.removeprefix(f"{file.parent}/") for line in captured.err.splitlines()[:-1]]


def test_tables_in_files_of_their_own_are_ordered_by_name(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        main=MAIN + TABLE.format(n=3),
        b=TABLE.format(n=1),
        a=TABLE.format(n=2) + TABLE.format(n=4),
    )
    (tmp_path / "casino.d" / ".hidden.toml").write_text("x = 1")
    (tmp_path / "casino.d" / "c.toml.old").write_text("x = 1")
    assert [table.id for table in load(file).table] == [f"ruleta-{n}" for n in (3, 2, 4, 1)]


def test_all_tables_may_be_in_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, a=TABLE.format(n=1))
    assert main(["check", str(file)]) == 0
    output = capsys.readouterr().out
    assert f"  read from {file}, {tmp_path / 'casino.d' / 'a.toml'}\n" in output


def test_the_same_table_twice_names_both_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(
        tmp_path, main=MAIN + TABLE.format(n=1), a=TABLE.format(n=2), b=TABLE.format(n=1)
    )
    assert reported(file, capsys) == [
        f"casino.d/b.toml: line 2: table[0].id: another table has the id ruleta-1 too, in {file}",
        (
            "casino.d/b.toml: line 7: table[0].device[0].link: another device is on "
            f"127.0.0.1:4001 too, in {file}"
        ),
    ]
    (tmp_path / "casino.d" / "b.toml").write_text(TABLE.format(n=2))
    first = tmp_path / "casino.d" / "a.toml"
    assert reported(file, capsys)[0] == (
        f"casino.d/b.toml: line 2: table[0].id: another table has the id ruleta-2 too, in {first}"
    )


def test_every_mistake_of_every_file_is_reported_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(
        tmp_path,
        main=MAIN.replace("[broker]", "[broker]\nkeepaliv = 3"),
        a='[site]\nid = "casino"\n' + TABLE.format(n=1).replace("camm", "cam"),
        b=TABLE.format(n=2).replace("french", "frensh")
        + "[[tabel]]\n[table.settings]\nphase = 1\n",
        c="[jackpot]\n",
    )
    assert reported(file, capsys) == [
        "casino.toml: line 6: broker.keepaliv: unknown key; did you mean `keepalive`?",
        (
            "casino.d/a.toml: line 1: site: is allowed only in casino.toml; a file of casino.d has "
            "[[table]] and [[jackpot]]"
        ),
        (
            "casino.d/a.toml: line 8: table[0].device[0].driver: no driver 'camegh-ss2'; did you "
            "mean `cammegh-ss2`?"
        ),
        (
            "casino.d/b.toml: line 3: table[0].game: no game 'roulette-frensh'; did you mean "
            "`roulette-french`?"
        ),
        "casino.d/b.toml: line 8: tabel: unknown key; did you mean `table`?",
        "casino.d/b.toml: line 10: table[0].settings.phase: unknown key; did you mean `phases`?",
        (
            "casino.d/c.toml: line 1: jackpot: there may be several of these; begin each with "
            "double brackets: [[jackpot]]"
        ),
    ]


NO_VALUE = "the value is no text in quotes, number, true, false or list: put a string in quotes"


def test_invalid_toml_is_reported_of_every_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line that is wrong by itself; everything that an open line swallows is one mistake."""
    file = written(
        tmp_path,
        main=MAIN.replace('"casino"', "casino").replace('"EUS96"', '"EUS96'),
        a="[[table]]\nid = \n",
        b="x = [1,\ny = 2\nz = 3\n",
    )
    (tmp_path / "casino.d" / "c.toml").write_bytes(b"id = '\xff'")
    assert [line.partition(": ")[::2] for line in reported(file, capsys)] == [
        ("casino.toml", f"line 2, column 6: {NO_VALUE}"),
        (
            "casino.toml",
            "line 3, column 16: a quote is not closed: write the same quote at the end of the text",
        ),
        ("casino.d/a.toml", f"line 2, column 6: {NO_VALUE}"),
        ("casino.d/b.toml", f"line 2, column 1: {NO_VALUE}"),
        ("casino.d/c.toml", "byte 7: is not UTF-8 text"),
    ]


def test_mistakes_of_the_broker_and_of_tables_are_reported_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also mistakes that only opening a file shows."""
    (tmp_path / "ca.pem").write_text("no certificate")
    broker = MAIN.replace("embedded", "mqtts").replace("[broker]", '[broker]\nca_file = "ca.pem"')
    file = written(
        tmp_path,
        main=f'{broker}[people]\nrequired = "accept-the-risk"\n',
        a=TABLE.format(n=1).replace("camm", "cam"),
    )
    first, second = reported(file, capsys)
    assert first.startswith("casino.d/a.toml: line 6: table[0].device[0].driver: no driver")
    assert second.startswith(f"casino.toml: broker.ca_file {tmp_path}/ca.pem: ")


def test_a_profile_lies_beside_the_file_that_names_it(tmp_path: Path) -> None:
    options = 'options = { file = "acme-rota.toml" }\n'
    file = written(
        tmp_path, main=MAIN, a=TABLE.format(n=1).replace("cammegh-ss2", "profile") + options
    )
    profiles = tmp_path / "casino.d" / "profiles"
    profiles.mkdir()
    (profiles / "acme-rota.toml").write_text(ROTA)
    with pytest.raises(ConfigurationError, match=r"casino\.d/acme-rota\.toml: cannot be read"):
        load(file)
    (tmp_path / "casino.d" / "a.toml").write_text(
        (tmp_path / "casino.d" / "a.toml").read_text().replace("acme", "profiles/acme")
    )
    assert load(file).table[0].device[0].options["file"] == str(profiles / "acme-rota.toml")


def test_decree_and_languages_are_set_once(tmp_path: Path) -> None:
    own = '[[table]]\ndecree = "ARA02"\nlanguages = ["en"]'
    file = written(
        tmp_path, main=MAIN + TABLE.format(n=1), a=TABLE.format(n=2).replace("[[table]]", own)
    )
    tables = load(file).table
    assert [(each.decree, each.languages) for each in tables] == [
        ("EUS96", ("es", "eu")),
        ("ARA02", ("en",)),
    ]


def test_a_wrong_default_is_reported_once_at_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(
        tmp_path,
        main=MAIN.replace("EUS96", "EUS69").replace('"eu"', '"eus"') + TABLE.format(n=1),
        a=TABLE.format(n=2),
    )
    decree, languages = reported(file, capsys)
    assert decree == "casino.toml: line 3: site.decree: no decree 'EUS69'; did you mean EUS96?"
    assert languages.startswith("casino.toml: line 4: site.languages: expected a list of en, es")


def test_without_a_default_a_decree_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, main=MAIN.replace("decree", "# decree"), a=TABLE.format(n=2))
    assert reported(file, capsys) == [
        "casino.d/a.toml: line 1: table[0]: the key `decree` is missing"
    ]
