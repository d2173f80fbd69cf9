"""The games in docs/integrator: the commands that each accepts, and a round of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from nacl.public import PrivateKey

from common.confidential.boxes import CardCipher
from common.contract.commands import COMMANDS
from common.contract.notation import read_input
from common.contract.topics import Topics
from common.readings import Reading
from controller.games.catalogue import catalogue, playable
from controller.games.games import GAMES, make_game
from controller.games.machine import Machine
from controller.journal.journal import Journal
from controller.mqtt.connection import IncomingMessage
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.tables.runner import TableRunner
from controller.tables.table import Table
from tests.support import contract

PAGES = "".join(
    (contract.INTEGRATOR / name).read_text() for name in ("rounds.md", "rounds-cards.md")
)
PERSON = {"by": "M. Lasa", "role": "table_head", "client": "page"}
TABLE, SITE = "t1", "casino-mayor"


class Round(NamedTuple):
    """A round as on the page: the messages sent, and fields that the result must then contain."""

    game: str
    decree: str
    settings: dict[str, str]
    lines: list[tuple[str, dict[str, Any]]]
    result: dict[str, Any]


def rounds() -> Iterator[Round]:
    blocks = re.findall(
        r"^```round (.*)\n((?:.*\n)*?)```\n\n```json outcome\n((?:.*\n)*?)```", PAGES, re.MULTILINE
    )
    for head, lines, result in blocks:
        game, decree, *settings = head.split()
        yield Round(
            game,
            decree,
            dict(setting.split("=") for setting in settings),
            [
                (name, json.loads(body))
                for name, _, body in (line.partition(" ") for line in lines.splitlines())
            ],
            json.loads(result),
        )


ROUNDS = list(rounds())


@pytest.mark.parametrize("played", ROUNDS, ids=lambda played: played.game)
async def test_a_round_comes_to_its_result(played: Round, tmp_path: Path) -> None:
    game = make_game(played.game, played.decree, played.settings)
    clock = count(1.0)
    cipher = CardCipher(PrivateKey.generate().public_key, b"s" * 32)
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        runner = TableRunner(
            lambda: Table(SITE, TABLE, played.game, played.decree, game, "b1"),
            journal,
            lambda: next(clock),
            lambda: None,
            cipher,
        )
        topics = Topics(SITE)
        api = TablesApi("pit-1", "b1", topics, {TABLE: ServedTable(runner, topics, {}, 1.0)})
        for name, body in played.lines:
            if name == "device":
                reading = read_input(json.dumps({"at": next(clock), "device": "device", **body}))
                assert isinstance(reading, Reading)
                runner.on_readings([reading])
                continue
            sent = json.dumps(PERSON | body).encode()
            topic = f"{topics.root}/{TABLE}/{name}"
            table, command = api.command(topic) or ("", "")
            [answer] = await api.commands.answer(
                table, command, IncomingMessage(topic, sent, retain=False)
            )
            assert json.loads(answer.payload) == {"id": None, "ok": True}, name
        await runner.drain()
        result = json.loads(runner.retained["result"] or b"null")
    assert {name: result[name] for name in played.result} == played.result


def test_every_game_has_a_round() -> None:
    assert {GAMES[played.game] for played in ROUNDS} == set(GAMES.values())


def takes(game: str) -> set[str]:
    """The names of the commands that a game accepts."""
    decree = next(pair.decree for pair in catalogue() if pair.game == game and playable(pair))
    made = make_game(game, decree, {})
    assert isinstance(made, Machine)
    return {
        str(command.__struct_config__.tag) for command in COMMANDS if command in made.inputs.takes
    }


def names(text: str) -> set[str]:
    return set(re.findall(r"`([a-z._-]+)`", text))


def test_the_commands_of_each_game() -> None:
    section = contract.sections("integrator/forms.md")["Which game takes which command"]
    every = names(section.partition("and every table takes")[0])
    told = {
        game: every | names(f"`{commands}`")
        for games, commands in contract.table(section)
        for game in names(f"`{games}`")
    }
    assert told == {game: takes(game) for game in GAMES}


def test_every_command_belongs_to_some_game() -> None:
    assert {name for game in GAMES for name in takes(game)} == {
        str(command.__struct_config__.tag) for command in COMMANDS
    } - {"alert.acknowledge", "staff.on", "staff.off", "device.service", "witness.report"}
