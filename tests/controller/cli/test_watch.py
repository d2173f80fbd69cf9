"""``novamas watch``: the display that it runs."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from controller.cli import CommandLineError, main, watch
from tests.support.daemon.process import table

BROKER = """[site]
id = "palma"

[broker]
url = "{url}"
{more}
[people]
required = "accept-the-risk"
"""


def words(file: Path, *given: str) -> list[str]:
    parser = argparse.ArgumentParser()
    watch.arguments(parser)
    return watch.display_words(parser.parse_args([str(file), *given]))


def written(folder: Path, url: str = "mqtt://127.0.0.1:1883", more: str = "") -> Path:
    file = folder / "novamas.toml"
    device = '[[table.device]]\nid = "w"\ndriver = "cammegh-ss2"\nlink = "tcp://127.0.0.1:40{}"\n'
    tables = [
        table(f"r{number}", None, simulated=number == 3) + device.format(number)
        for number in (1, 2, 3)
    ]
    file.write_text(BROKER.format(url=url, more=more) + "".join(tables))
    return file


def test_all_real_tables_or_those_that_are_named(tmp_path: Path) -> None:
    file = written(tmp_path)
    always = ["--broker=mqtt://127.0.0.1:1883", "--site=palma"]
    assert words(file) == [*always, "--table=r1", "--table=r2"]
    assert words(file, "--table", "r3", "--json") == [
        *always,
        "--table=r3",
        "--simulated",
        "--json",
    ]
    with pytest.raises(CommandLineError, match="watch them in a separate"):
        words(file, "--table", "r1", "--table", "r3")
    with pytest.raises(CommandLineError, match="r1"):
        words(file, "--table", "r4")


def test_files_are_named_and_no_secret_is(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of this test alone")
    file = written(tmp_path, more='username = "pit"\npassword_file = "secret"')
    assert words(file)[-2:] == ["--username=pit", f"--password-file={secret}"]
    other = words(file, "--username", "display", "--password-file", "mine", "--language", "eu")
    assert other[-3:] == ["--username=display", "--password-file=mine", "--language=eu"]
    with pytest.raises(CommandLineError, match="requires --username"):
        words(file, "--password-file", "mine")
    assert not any("of this test alone" in word for word in words(file) + other)


def test_a_credential_that_only_the_service_has_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    file = written(tmp_path, more='username = "pit"\npassword_credential = "broker"')
    with pytest.raises(CommandLineError, match="give --username and --password-file"):
        words(file)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", "/run/credentials/novamas")
    assert words(file)[-1] == "--password-file=/run/credentials/novamas/broker"


def test_the_embedded_broker_is_reached_over_mqtt(tmp_path: Path) -> None:
    assert words(written(tmp_path, "embedded://127.0.0.1:1884"))[0] == (
        "--broker=mqtt://127.0.0.1:1884"
    )


def test_a_configuration_with_mistakes_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(tmp_path / "lost.toml")]) == 1
    assert "cannot be read" in capsys.readouterr().err
