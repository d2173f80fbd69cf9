"""The recorder of steps finds every difference, and none where there is none."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from common.contract.notation import Input
from common.contract.refusals import Refusal, RejectedError
from controller.games.game import GameView
from controller.games.machine import AnyMachine, Machine
from controller.tables.table import InputResult, Table
from tests.steps import renames
from tests.steps.__main__ import main
from tests.steps.recording import Recorded, difference, lines, record, write
from tests.steps.renames import output_then
from tests.steps.runs import STEPS, Run, runs

RUN = Run("random 0", "punto-banca", "ARA02", noise=0.1)


def test_a_run_is_the_same_each_time() -> None:
    line = record(RUN)
    assert len(line.steps) == STEPS
    assert record(RUN) == line
    assert difference(line) is None


def test_the_step_that_differs_is_named() -> None:
    line = record(RUN)
    steps = [*line.steps[:7], replace(line.steps[7], digest="0" * 16), *line.steps[8:]]
    found = difference(replace(line, steps=steps))
    assert found is not None
    assert found.step == 7


def other_key(refusal: Refusal) -> Refusal:
    return replace(refusal, key="unknown")


def other_fields(refusal: Refusal) -> Refusal:
    return replace(refusal, fields={"unknown": 1})


def other_law(refusal: Refusal) -> Refusal:
    return replace(refusal, law="no law")


@pytest.mark.parametrize("change", [other_key, other_fields, other_law])
def test_another_refusal_is_a_difference(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Refusal], Refusal]
) -> None:
    line = record(RUN)
    unchanged = Table.handle
    refused: list[Refusal] = []

    def take(self: Table, given: Input, time: str, mono_ns: int) -> InputResult:
        try:
            return unchanged(self, given, time, mono_ns)
        except RejectedError as rejected:
            refused.append(rejected.refusal)
            rejected.refusal = change(rejected.refusal)
            raise

    monkeypatch.setattr(Table, "handle", take)
    assert difference(line) is not None
    assert len(refused) == 1
    assert refused[0].key != "unknown"


def test_another_list_of_accepted_commands_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    line = record(RUN)
    unchanged = Machine.view

    def view(self: AnyMachine, state: Any) -> GameView:
        whole = unchanged(self, state)
        return whole._replace(takes=whole.takes[1:])

    monkeypatch.setattr(Machine, "view", view)
    found = difference(line)
    assert found is not None
    assert found.step == 0


@pytest.mark.usefixtures("programs")
def test_a_recording_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "steps.gz"
    line = record(RUN)
    other = replace(line, steps=[replace(line.steps[0], digest="0" * 16), *line.steps[1:]])
    assert write(file, [line, other]) == 2 * STEPS
    assert list(lines(file)) == [line, other]
    assert main(["compare", str(file)]) == 1
    assert capsys.readouterr().out.endswith(f"{2 * STEPS} steps compared, 1 runs differ\n")


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("head", [b"", b'{"form":1}\n', b'{"form":3}\n'])
def test_a_recording_of_another_form_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], head: bytes
) -> None:
    file = tmp_path / "steps.gz"
    with gzip.open(file, "wb") as recording:  # without a head: as commits before the form wrote it
        recording.write(head + msgspec.json.encode(Recorded(RUN, [])) + b"\n")
    with pytest.raises(SystemExit) as exited:
        main(["compare", str(file)])
    assert exited.value.code == 2
    assert "choose another BASE" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["script", "recording"])
def test_recorded_runs_are_played(kind: str) -> None:
    run = next(run for run in runs(0) if run.source.startswith(kind))
    assert record(run).steps
    assert difference(record(run)) is None


def test_every_pair_is_played() -> None:
    random = [run for run in runs(STEPS * 69) if run.source.startswith("random")]
    assert len({(run.game, run.decree) for run in random}) == 69
    assert [run.source for run in islice(random, 2)] == ["random 0", "random 0"]


def test_a_renamed_irregularity_is_compared_by_its_former_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(renames, "IRREGULARITIES", {"dice_reread": "dice_changed"})
    told = {"type": "irregularity", "what": "dice_reread", "law": "ARA02-124"}
    retained: dict[str, object] = {"state": {"shown": {}}}
    [event] = output_then({"events": [told], "retained": retained})["events"]
    assert event == {**told, "what": "dice_changed"}
