"""Where the console says that a command takes a second person: the same as the table decides, over
all scripts of all games.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from common.contract.commands import COMMANDS, Command, tag_of
from common.contract.refusals import RejectedError
from common.people.two_persons import MARKED_BY_DEFAULT, needs_two
from controller.people.authority import allowed_commands, command_rights
from subscribers.console.evidence import TableEvidence, add_evidence
from subscribers.console.view import AnswerButton, TableContext
from subscribers.console.work import console_view
from tests.conftest import cases
from tests.support.games.scripts import read, scripts
from tests.support.people.staff import LASA
from tests.support.subscribers.real import RealTable

KINDS = {tag_of(kind): kind for kind in COMMANDS}
SENDER: dict[str, Any] = {"by": "M. Lasa", "role": "table_head"}


def given(answer: AnswerButton, at: float) -> Command:
    """The command that a button sends."""
    fields = {**answer.fields, **SENDER, "at": at}
    return msgspec.convert(fields, KINDS[answer.command], strict=False)


def seen(table: RealTable, evidence: TableEvidence, script: Any) -> TableContext:
    """The view of the head of this table, whose site has marked everything markable."""
    assert table.known.info is not None
    of = command_rights(script.game, script.decree)
    commands = allowed_commands(script.game, script.decree, script.settings, of, MARKED_BY_DEFAULT)
    about = replace(table.known.info.about, commands=commands)
    return TableContext(
        known=replace(table.known, info=replace(table.known.info, about=about)),
        outdated=None,
        evidence=evidence,
        person=LASA,
        language="en",
        touches=(),
        waits=(),
        laws={},
    )


def judged(table: RealTable, answer: AnswerButton, at: float) -> bool | None:
    """Whether the table takes a second person for it; None: it refuses it."""
    command: Any = given(answer, at)
    try:
        return needs_two(command, table.table.preview(command))
    except RejectedError:
        return None


SCRIPTS = [name for index, name in enumerate(sorted(scripts())) if index % cases(7, 1) == 0]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_button_is_mandatory_where_the_table_needs_two(
    name: str,
) -> None:
    script, evidence = read(name), TableEvidence()
    table = RealTable(script.game, script.decree, script.settings)
    for each in script.inputs:
        for leaf, body in table.hear(each):
            evidence = add_evidence(evidence, leaf, body or b"")
        if table.known.state is None:
            continue
        there = console_view(seen(table, evidence, script))
        assert {offer.command for offer in there.offers if offer.two} <= {"result.correct"}
        for item in there.items:
            denied = any(why.why == "witnesses_disagree" for why in evidence.unresolved)
            for answer in item.answers:
                two = None if answer.open else judged(table, answer, each.at)
                if two is not None and not (denied and answer.may_take_two):
                    assert (answer.two, answer.may_take_two) == (two, False), (each, answer)
