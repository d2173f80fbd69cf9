"""Each alert has an entry with its remedy, ``novamas explain`` prints that of the page, and
findings and log lines name that command.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from common.contract.commands import COMMANDS, tag_of
from common.contract.jackpot import JACKPOT_ORDERS
from common.contract.messages.messages import ENGLISH, LANGUAGES, catalogue
from common.contract.remedies import (
    FOLDER,
    PAGES,
    alert_ids,
    entry,
    find,
    heading,
    message_in,
    names,
    pages,
    remedies,
)
from controller.cli import SUBCOMMANDS, main

ROOT = Path(__file__).resolve().parents[3]


@cache
def nodes() -> list[ast.AST]:
    """Every node of the source."""
    return [
        node
        for package in ("common", "devices", "controller", "subscribers")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    ]


@cache
def literals() -> list[str]:
    """Every string in the source."""
    return [
        node.value
        for node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def printed(capsys: pytest.CaptureFixture[str], name: str) -> str:
    assert main(["explain", name]) == 0
    return capsys.readouterr().out


def plain(text: str) -> str:
    """Text without links and line ends, to compare a page with a terminal."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split())


def test_each_alert_of_the_catalogue_has_an_entry_and_no_other() -> None:
    keys = {key for key in remedies() if key.startswith("alert.")}
    assert keys == {key for key in catalogue(ENGLISH) if key.startswith("alert.")}


def test_each_entry_has_a_remedy_on_an_existing_page() -> None:
    assert [key for key, each in remedies().items() if not each.do or each.page not in PAGES] == []
    assert [
        key for key, each in remedies().items() if key.startswith("message.") != bool(each.text)
    ] == []


def test_each_message_is_printed_by_the_program() -> None:
    texts = [remedy.text for remedy in remedies().values() if remedy.text]
    assert texts
    assert [text for text in texts if not any(text in piece for piece in literals())] == []


def test_each_command_that_an_entry_names_exists() -> None:
    steps = " ".join(step for remedy in remedies().values() for step in remedy.do)
    assert set(re.findall(r"`(?:sudo )?novamas (\w+)", steps)) <= set(SUBCOMMANDS)
    known = {tag_of(kind) for kind in COMMANDS} | {
        str(kind.__struct_config__.tag) for kind in JACKPOT_ORDERS
    }
    named = set(re.findall(r"`([a-z]+\.[a-z]+)[ `]", steps)) - {
        key.removeprefix("alert.") for key in remedies()
    }
    assert named
    assert named - known == set()


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_are_as_written(page: str) -> None:
    assert (ROOT / FOLDER / f"{page}.md").read_text() == pages()[f"{page}.md"], (
        f"write them with `novamas explain --pages {FOLDER}`"
    )


def test_the_command_prints_the_entry_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    whole = " ".join(plain(text) for text in pages().values())
    for key in remedies():
        shown = plain(printed(capsys, key.removeprefix("alert.").removeprefix("message.")))
        head, body = plain(heading(key)), plain(entry(key))
        assert shown == f"{head} {body}"
        # a link shows the file's name alone
        assert f"## {head} " + re.sub(r"docs/[a-z]+/(\S+\.md)(#\S+)?", r"\1", body) in whole


def test_an_entry_has_the_text_in_every_language() -> None:
    for key in remedies():
        if key.startswith("alert."):
            said = plain(f"{heading(key)} {entry(key)}")
            assert [
                language for language in LANGUAGES if catalogue(language)[key] not in said
            ] == []


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("link.lost", ["alert.link.lost"]),
        ("journal-set-aside", ["alert.journal.set_aside"]),
        ("journal", ["alert.journal.failed"]),
        ("second-daemon", ["alert.table.second_daemon"]),
        ("certificates", ["alert.certificate.ends"]),
        ("poker-1-gap", ["alert.jackpot.gap"]),
        ("program-changed", ["alert.jackpot.program_changed"]),
        ("journal-cut-0a1b2c3d4e", ["alert.surveillance.journal_cut"]),
        ("ball_out", ["alert.ball_out"]),
        ("refusal.bets_closed", ["refusal.bets_closed"]),
        ("permission to open the port", ["message.no-permission"]),
        ("/dev/x: another program has the port open: cat", ["message.port-in-use"]),
        ("no such alert", []),
    ],
)
def test_an_entry_is_found_by_key_id_and_message(name: str, keys: list[str]) -> None:
    assert find(name) == keys


def test_a_link_alert_means_each_state_of_a_link() -> None:
    states = [key for key in remedies() if key.startswith("alert.link.")]
    assert find("wheel-link") == states
    assert {alert_ids(key) for key in states} == {("<device>-link",)}


def test_an_unknown_name_is_answered_with_a_similar_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "link.lots"]) == 2
    assert "did you mean `link.lost`?" in capsys.readouterr().err
    assert main(["explain", "foo"]) == 2
    assert "`novamas explain` lists them" in capsys.readouterr().err


def test_without_a_name_each_entry_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == list(names())
    assert "link.lost: the device is disconnected" in lines


def test_a_message_is_found_in_what_a_program_prints() -> None:
    assert message_in("/dev/x: no such port; `novamas devices` lists them") == "no-such-port"
    assert message_in("clock: it is synchronised") == ""


def test_the_command_for_an_alert_in_the_log_has_an_entry() -> None:
    """A line of the log with ``alert=ID`` gets ``novamas explain ID``."""
    ids = {
        str(node.value.value)
        for node in nodes()
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and any(
            isinstance(name, ast.Name) and name.id.endswith("ALERT_ID") for name in node.targets
        )
    }
    ids |= {
        str(keyword.value.value)
        for node in nodes()
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "alert" and isinstance(keyword.value, ast.Constant)
    }
    assert {"standby-different", "journal", "archive-stalled"} <= ids
    assert [name for name in ids if not find(name)] == []


def test_the_entry_that_a_finding_names_exists() -> None:
    names = {
        str(node.args[4].value)
        for node in nodes()
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Finding"
        and len(node.args) > 4
        and isinstance(node.args[4], ast.Constant)
    }
    assert names == {"journal.room", "certificate.ends", "broker.rules"}
    assert [name for name in names if len(find(name)) != 1] == []
