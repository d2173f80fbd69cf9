"""`novamas conform driver` at the command line: names, verdicts, and the signed report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from common.people.private_key import make_private_key
from controller.cli import main
from tests.devices.test_recordings import FOLDER

RECORDING = str(FOLDER / "bee-tek-punto-banca.txt")
OWN = """
from devices.shoe.bee_tek import BeeTek, DRIVER as BEE_TEK
from msgspec.structs import replace

class Always(BeeTek):
    opening = 0.0
    def kept(self, now):
        pass

DRIVER = replace(BEE_TEK, make=lambda device, options: Always(device, options))
"""


def conform(*words: str) -> int:
    return main(["conform", *words])


def test_a_driver_of_a_module_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme_shoe.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert conform("driver", "acme_shoe:DRIVER", RECORDING) == 1
    shown = capsys.readouterr().out
    assert "failed  DRV-LATE" in shown
    assert shown.count("failed  ") == 1
    assert shown.endswith("requirements met, seed 1: DOES NOT CONFORM\n")


def test_a_report_is_signed_and_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, secret, report = tmp_path / "key", tmp_path / "secret", tmp_path / "report.json"
    secret.write_text("a long passphrase\n")
    secret.chmod(0o600)
    make_private_key(key, b"a long passphrase")
    signing = ("--report", str(report), "--key", str(key), "--passphrase-file", str(secret))
    assert conform("driver", "bee-tek", RECORDING, *signing) == 0
    assert conform("verify", str(report)) == 0
    assert "CONFORMS" in capsys.readouterr().out
    changed = report.read_bytes().replace(b"passed", b"failed", 1)
    report.write_bytes(changed)
    assert conform("verify", str(report)) == 1
    assert "is not as it was signed" in capsys.readouterr().err


def test_a_part_of_the_requirements_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert conform("driver", "bee-tek", RECORDING, "--only", "DRV-SPLIT", "--json") == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["chosen"]) == ("incomplete", True)
    assert [finding["id"] for finding in report["findings"]] == ["DRV-SPLIT"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["driver", "bee-tek"], "driver DRIVER RECORDING"),
        (["driver", "bee-tec", RECORDING], "bee-tek"),
        (["driver", "no_such_module:DRIVER", RECORDING], "cannot be imported"),
        (["driver", "json:dumps", RECORDING], "not a driver"),
        (["driver", "bee-tek", "no-such-file.txt"], "no-such-file.txt"),
        (["driver", "bee-tek", RECORDING, "--only", "DRV-SPLITS"], "DRV-SPLIT"),
        (["driver", "bee-tek", RECORDING, "--only", "DRV-GUESS"], "not tested"),
        (["driver", "bee-tek", RECORDING, "--report", "report.json"], "--key"),
        (["verify", RECORDING], "is not a report"),
        (["verify"], "verify FILE"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert conform(*words) in (1, 2)
    assert message in capsys.readouterr().err
