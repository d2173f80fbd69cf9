"""Commands speak the language of the machine, or the one named; output for machines stays."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import msgspec
import pytest

from common.contract.messages.messages import LANGUAGES, catalogue, text
from common.own_language import LOCALE_VARIABLES, add_language, own_language
from controller.cli import SUBCOMMANDS, command_line, main, subcommands
from controller.cli.doctor import format_finding
from controller.cli.identify import ListeningResult, summary
from controller.cli.send import _Amounts, _refusal
from controller.cli.verdicts import _coloured
from controller.cli.verify import headline
from controller.doctor.finding import Finding
from controller.proof.verdict import Verdict
from devices.codec import FrameProof
from devices.identification import Match
from tests.support.for_each import for_each

IN_LANGUAGES = {"send", "identify", "record", "doctor", "setup", "verify"}
"""Commands of people of the floor, and the questions of setup; `watch` has the language of each
decree, `carrousel` its own program.
"""


@for_each(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "es_ES.UTF-8"}, "es"),
        ({"LANG": "ca"}, "ca"),
        ({"LANG": "eu_ES"}, "eu"),
        ({"LANG": "gl.UTF-8"}, "gl"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "es_ES.UTF-8", "LC_MESSAGES": "eu_ES.UTF-8"}, "eu"),
        ({"LANG": "es_ES.UTF-8", "LC_MESSAGES": "eu_ES.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "es_ES.UTF-8", "LC_ALL": ""}, "es"),
    ],
)
def test_the_locale_names_the_language(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], language: str
) -> None:
    for name in LOCALE_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert own_language(LANGUAGES) == language
    parser = argparse.ArgumentParser()
    add_language(parser, LANGUAGES)
    assert parser.parse_args([]).language == language
    assert parser.parse_args(["--language", "gl"]).language == "gl"


def test_which_commands_have_a_language() -> None:
    assert {
        name
        for name, parser in subcommands(command_line(SUBCOMMANDS)).items()
        if "LC_MESSAGES" in " ".join(parser.format_help().split())
    } == IN_LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_is_rendered_in_each_language(language: str) -> None:
    texts = {key: found for key, found in catalogue(language).items() if key[:9] == "terminal."}
    assert len(texts) > 20
    for key, found in texts.items():
        names = set(re.findall(r"{(\w+)}", found))
        shown = text(key, language, **{name: f"<{name}>" for name in names})
        assert all(f"<{name}>" in shown for name in names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_refusal_is_in_the_language(language: str) -> None:
    reply = {
        "ok": False,
        "error": "the daemon's own words",
        "refusal": {"key": "adjust_nothing", "fields": {}},
    }
    said = _refusal(reply, None, language)
    assert said == (
        "the daemon's own words" if language == "en" else text("refusal.adjust_nothing", language)
    )
    newer = {**reply, "refusal": {"key": "of_a_newer_daemon", "fields": {}}}
    assert _refusal(newer, None, language) == "the daemon's own words"


def test_amounts_are_named_in_the_language() -> None:
    amounts = _Amounts(("minimum",), "EUR")
    assert amounts.described({"minimum": 500}, "en") == "minimum 5.00 EUR"
    assert amounts.described({"minimum": 500}, "eu") == "gutxienekoa 5.00 EUR"


@pytest.mark.parametrize("language", LANGUAGES)
def test_verdicts_are_in_the_language_and_in_colour(language: str) -> None:
    journal = Verdict(journal="journal.sqlite3")
    together = msgspec.structs.replace(journal, entries=7, proved=7, through=7, head=7)
    for verdict in (journal, together):
        line = headline(verdict, language)[0]
        first = headline(verdict)[0]
        assert (line == first) == (language == "en")
        assert _coloured(line).startswith("\033[")
    assert headline(together, "es")[0].startswith("ES COHERENTE: cada uno de los 7 asientos")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_finding_has_its_level_and_alert_in_the_language(language: str) -> None:
    finding = Finding("fault", "wheel", "what is wrong", "what to do", "link.lost")
    shown = format_finding(finding, colour=False, language=language)
    assert shown.startswith(text("terminal.level.fault", language))
    assert "what is wrong" in shown
    assert "novamas explain link.lost" in shown
    assert (catalogue(language)["alert.link.lost"] in shown) == (language != "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_device_is_named_in_the_language(language: str) -> None:
    match = Match("cammegh-ss2", {}, 91, 92, FrameProof.FORM)
    found = ListeningResult("serial:///dev/ttyUSB0?baud=9600", 2000, match)
    shown = text("terminal.device", language, driver="cammegh-ss2", count=91, total=92)
    assert summary([found], language) == f"9600 baud, {shown}"


def test_output_for_machines_is_the_same_in_all_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = str(tmp_path / "journal.sqlite3")
    seen = set()
    for language in LANGUAGES:
        status = main(["verify", lost, "--json", "--language", language])
        seen.add((status, capsys.readouterr().out))
    assert len(seen) == 1
    assert json.loads(next(iter(seen))[1])["holds"] is False
