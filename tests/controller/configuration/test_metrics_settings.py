"""The address of the metrics endpoint in the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.cli.check import exposed_metrics
from controller.configuration.file import load
from controller.configuration.listening import address
from controller.configuration.settings import Configuration, ConfigurationError

BASE = """
[site]
id = "palma"
[[table]]
id = "r1"
game = "roulette-french"
decree = "BAL05"
simulated = true
device = [{ id = "wheel", driver = "cammegh-ss2", link = "tcp://127.0.0.1:1" }]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "novamas.toml"


def read(file: Path, more: str) -> Configuration:
    file.write_text(BASE + more)
    return load(file)


def mistakes(file: Path, more: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        read(file, more)
    return [f"{mistake.place}: {mistake.what}" for mistake in caught.value.mistakes]


def test_a_wrong_metrics_address_is_reported(file: Path) -> None:
    same = '[metrics]\nlisten = "127.0.0.1:9463"\n[archive]\nlisten = "127.0.0.1:9463"\n'
    [clash] = mistakes(file, same)
    assert clash.startswith("line 13: archive.listen: 127.0.0.1:9463 is where metrics.listen ")
    for wrong in ("9463", "127.0.0.1:", ":9463", "127.0.0.1:65536", "127.0.0.1:x"):
        assert mistakes(file, f'[carrousel]\nlisten = "{wrong}"\n') == [
            "line 11: carrousel.listen: write host:port, as 127.0.0.1:9463"
        ]
    assert mistakes(file, '[carrousel]\nmetrics = "127.0.0.1:9463"\n') == [
        "line 11: carrousel.metrics: is called `listen` now"
    ]
    assert address("[::1]:9463") == ("::1", 9463)


@pytest.mark.parametrize("host", ["0.0.0.0", "10.20.0.5", "[::]", "casino.example"])
def test_an_address_that_others_can_reach_is_reported(file: Path, host: str) -> None:
    for section in ("metrics", "carrousel", "archive"):
        [warning] = exposed_metrics(read(file, f'[{section}]\nlisten = "{host}:9463"\n'))
        assert warning.startswith(f"{section}.listen: anyone who reaches {host}:9463")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "[::1]", "localhost"])
def test_a_loopback_address_is_not_reported(file: Path, host: str) -> None:
    assert exposed_metrics(read(file, f'[metrics]\nlisten = "{host}:9463"\n')) == []
