"""`novamas conform driver`: every mistake is found by its id, and every shipped driver passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from controller.conform.codec_checks import try_codec
from controller.conform.codecs import TriedCodec
from controller.conform.requirements import to_try
from devices.codec import Codec
from devices.drivers import driver
from devices.recording import read_recording
from tests.conftest import cases
from tests.controller.conform.broken_codecs import BROKEN, Around, BrokenCodec
from tests.devices.test_recordings import FOLDER, RECORDINGS
from tests.devices.test_splits import make

PLAYED = {
    "bee-tek": "bee-tek-punto-banca",
    "cammegh-ss2": "cammegh-ss2-double-zero",
}


def subject(path: Path, codec: Callable[[], Codec] | None = None) -> TriedCodec:
    recording = read_recording(path)
    return TriedCodec(
        codec or (lambda: make(recording)),
        path.name,
        recording,
        tuple(path.with_suffix(".readings.jsonl").read_bytes().splitlines()),
        driver(recording.header["driver"]).scheme == "serial",
    )


def failed(subjects: list[TriedCodec], seed: int = 1) -> dict[str, tuple[str, ...]]:
    return {
        finding.id: finding.problems
        for finding in try_codec(subjects, seed)
        if finding.outcome == "failed"
    }


def recordings(name: str, codec: Callable[[], Codec]) -> list[TriedCodec]:
    return [subject(FOLDER / f"{PLAYED[name]}.txt", codec)]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.make.__name__)
def test_a_broken_codec_is_caught_by_its_id(broken: BrokenCodec) -> None:
    found = failed(recordings(broken.make().name, broken.make))
    assert broken.id in found, found
    assert found.keys() <= {broken.id} | broken.follows, found


def test_every_requirement_has_a_codec_that_violates_it() -> None:
    assert {broken.id for broken in BROKEN} == {*to_try("driver")}


def test_the_codec_that_they_change_is_correct() -> None:
    assert failed(recordings("bee-tek", Around)) == {}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_driver_conforms(path: Path) -> None:
    for seed in range(1, cases(2, 10)):
        findings = try_codec([subject(path)], seed)
        assert {finding.id: finding.problems for finding in findings} == dict.fromkeys(
            to_try("driver"), ()
        )
