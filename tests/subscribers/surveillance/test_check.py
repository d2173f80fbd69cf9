"""What ``novamas check`` says of ``[archive]``."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.cli import main
from tests.support.for_each import for_each

BEFORE = """\
[site]
id = "madrid-1"
node = "pit-1"
[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "ARA02"
[[table.device]]
id = "wheel-1"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
[broker]
url = "mqtt://127.0.0.1"
[people]
required = "accept-the-risk"
[archive]
"""
LINE = BEFORE.count("\n")
PLACED = 'site = [{ id = "palma", url = "mqtt://b"'
KEY = "9c" * 32


def checked(
    folder: Path, archive: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, list[str]]:
    file = folder / "novamas.toml"
    file.write_text(BEFORE + archive + "\n")
    status = main(["check", str(file)])
    output = capsys.readouterr()
    return status, output.out, output.err.replace(f"{file}: ", "").splitlines()


@for_each(
    ("archive", "place", "said"),
    [
        ('pth = "a"', "pth", "unknown key"),
        ("path = 7", "path", "expected"),
        ('path = ""', "path", "expected"),
        ('database = "mysql://db/novamas"', "database", "write postgresql://USER@HOST/DATABASE"),
        ('database = "postgresql://a:b@db/n"', "database", "remove the password"),
        ('database = "postgresql://db/n?password=b"', "database", "remove the password"),
        ('database = "postgresql://[db/n"', "database", "not an address"),
        ('node = "Cámara"', "node", "expected"),
        ('node = "pit-1"', "node", "the daemon's own node"),
        ('recall_key = "k"\nrecall_person = "r"', "recall_key", "`recall_passphrase_file` or"),
        (
            'recall_key = "k"\nrecall_passphrase_file = "p"',
            "recall_key",
            "`recall_person` is required too",
        ),
        ('listen = "9465"', "listen", "host:port"),
        ("keep_days = { event = 29 }", "keep_days", "whole days, 30 to 36500"),
        ("keep_days = { removal = 400 }", "keep_days", "unknown key"),
        ('keys = { pit-1 = "9c" }', "keys", "expected"),
        (f'keys = {{ "pit 1" = "{KEY}" }}', "keys", "expected"),
        ('password_file = "a"\npassword_credential = "b"', "password_credential", "remove one"),
        ('site = [{ id = "madrid-1", url = "mqtt://b" }]', "site[0].id", "archived already"),
        ('site = [{ id = "palma", url = "http://b" }]', "site[0].url", "write mqtt://host:port"),
        ('site = [{ id = "palma", url = "mqtt://a@b" }]', "site[0].url", "without a user"),
        (f'{PLACED}, username = "a" }}]', "site[0].username", "`password_file` or"),
        (f'{PLACED}, keys = {{ n = "x" }} }}]', "site[0].keys", "expected"),
    ],
)
def test_each_mistake_is_reported_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], archive: str, place: str, said: str
) -> None:
    status, out, err = checked(tmp_path, archive, capsys)
    assert (status, out, len(err)) == (1, "", 2), err
    line, where, *what = err[0].split(": ", 2)
    assert where.startswith(f"archive.{place}"), err
    assert said in what[0]
    number = int(line.removeprefix("line "))
    assert LINE < number <= LINE + 1 + archive.count("\n")


@for_each(
    ("archive", "warned"),
    [
        ("", ["archive.keys"]),
        ('path = "archive.sqlite3"', ["archive.keys"]),
        ('path = "a.sqlite3"', ["archive.keys"]),
        ('listen = "127.0.0.1:9465"', ["archive.keys"]),
        (f'path = "a.sqlite3"\nkeys = {{ pit-1 = "{KEY}" }}', []),
        (f'keys = {{ pit-2 = "{KEY}" }}', ["archive.keys"]),
        (f'keys = {{ pit-1 = "{KEY}" }}\n{PLACED} }}]', ["archive.site palma"]),
        (f'keys = {{ pit-1 = "{KEY}" }}\n{PLACED}, keys = {{ n = "{KEY}" }} }}]', []),
    ],
)
def test_keys_that_are_believed_at_first_sight_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], archive: str, warned: list[str]
) -> None:
    status, out, err = checked(tmp_path, archive, capsys)
    assert (status, err) == (0, [])
    warnings = [line for line in out.splitlines() if "trusts the first key" in line]
    assert [each.removeprefix("warning: ").split(": ")[0] for each in warnings] == warned


def test_without_an_archive_no_key_is_believed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(BEFORE.replace("[archive]\n", ""))
    assert main(["check", str(file)]) == 0
    assert "trusts the first key" not in capsys.readouterr().out


def test_a_recorder_needs_no_table_and_a_daemon_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    alone = '[site]\nid = "madrid-1"\n[broker]\nurl = "mqtt://127.0.0.1"\n'
    file.write_text(f"{alone}[archive]\n")
    assert main(["check", str(file)]) == 0
    assert "archive: keys: the recorder trusts the first key" in capsys.readouterr().out
    assert main(["run", str(file)]) == 78
    assert "table: no table is configured; add [[table]]" in capsys.readouterr().err
    file.write_text(alone)
    assert main(["check", str(file)]) == 1
    assert "table: no table is configured; add [[table]]" in capsys.readouterr().err
