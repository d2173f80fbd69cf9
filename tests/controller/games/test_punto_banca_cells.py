"""All 88 cells of the third-card table of punto y banca, played by the program itself."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from controller.cli import main
from controller.games.baccarat import value
from tests.support.games.decrees import by_decree

BANK_DRAWS = {3: "012345679P", 4: "234567P", 5: "4567P", 6: "67", 7: ""}
"""The player's third cards on which a bank of 3 to 7 draws, ``P`` if the player has none; with less
it always draws.
"""


def cells() -> list[tuple[int, str]]:
    """Every cell: the total of the bank's first two cards, and the player's third card,
    or ``P``.
    """
    return [(bank, third) for bank in range(8) for third in "0123456789P"]


def script_of_cells() -> list[str]:
    """A coup for each cell, from as many shoes as needed."""
    lines: list[str] = []
    used: Counter[str] = Counter()

    def send(kind: str, **fields: object) -> None:
        lines.append(json.dumps({"at": float(len(lines)), "type": kind, **fields}))

    def person(kind: str, **fields: object) -> None:
        send(kind, by="M. Lasa", role="table_head", **fields)

    def draw(points: int) -> None:
        ranks = "TJQK" if points == 0 else "A23456789"[points - 1]
        card = min(
            (rank + suit for rank in ranks for suit in "cdhs"), key=lambda each: (used[each], each)
        )
        used[card] += 1
        send("card.drawn", card=card, device="shoe")

    person("session.open")
    for number, (bank, third) in enumerate(cells()):
        if number % 11 == 0:
            used.clear()
            person("shoe.start", shoe=f"S{number // 11}")
            draw(1)
            draw(0)
        person("bets.open")
        person("bets.close")
        for points in (0, 0, 6 if third == "P" else 0, bank):
            draw(points)
        person("cards.turn")
        if third != "P":
            draw(int(third))
            person("cards.turn")
        if bank < 3 or third in BANK_DRAWS[bank]:
            draw(0)
            person("cards.turn")
    return lines


@pytest.mark.parametrize("decree", by_decree("BAL05-101", "ARA02-079", "EUS96-122", "GAL07-089"))
def test_the_program_answers_every_cell(
    decree: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "cells.jsonl"
    script.write_text("\n".join(script_of_cells()), encoding="utf-8")
    assert main(["play", "punto-banca", "--decree", decree, str(script)]) == 0
    out = capsys.readouterr()
    assert out.err == ""
    events = [json.loads(line) for line in out.out.splitlines()]
    assert [event for event in events if event["type"] == "irregularity"] == []
    results = [event for event in events if event["type"] == "round.result"]
    decided = {
        (event["round"], event["who"]): event["decision"]
        for event in events
        if event["type"] == "hand.decided"
    }
    assert len(results) == 88
    for (bank, third), result in zip(cells(), results, strict=True):
        player, banker = (hand["cards"] for hand in result["outcome"]["hands"])
        assert sum(map(value, banker[:2])) == bank
        assert third == "P" if len(player) == 2 else value(player[2]) == int(third)
        draws = bank < 3 or third in BANK_DRAWS[bank]
        assert decided[result["round"], "banker"] == ("draw" if draws else "stand")
        assert len(banker) == (3 if draws else 2)
