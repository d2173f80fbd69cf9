"""Findings that a person may settle, and the effect."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from common.contract.times import format_utc
from subscribers.feed.tables import BrokerLogin
from subscribers.surveillance.admitted import AccessRefusedError
from subscribers.surveillance.archive import Query, RecordArchive
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.findings import open_findings, refused_keys
from subscribers.surveillance.settings import SiteSettings
from subscribers.surveillance.settle import main, settle
from subscribers.surveillance.site import RecordedSite
from tests.subscribers.surveillance.said import finding
from tests.support.people.staff import RIERA, VIDAL
from tests.support.web.pit import PINS, console

KEY = "ab" * 32
SITE = "madrid-1"


def changed_key(archive: RecordArchive) -> int:
    """The number of the finding that a node signs with another key."""
    body = msgspec.json.encode({"detail": "another key"})
    key = f"checkpoint_key_changed:floor:{KEY}:7"
    kept = archive.store([finding(1, type="checkpoint_key_changed", key=key, body=body)])
    return kept.new[0].number


def test_a_changed_key_is_settled_by_an_authorised_person(tmp_path: Path) -> None:
    with closing(SQLiteArchive(tmp_path / "archive.sqlite3")) as archive:
        number = changed_key(archive)
        assert refused_keys(archive, SITE) == {KEY}
        assert refused_keys(archive, "palma") == frozenset()
        with pytest.raises(
            AccessRefusedError, match="sign in with --as PERSON, or name the key in the"
        ):
            settle(archive, number, "J. Serra", "")
        with pytest.raises(AccessRefusedError, match="name the key"):
            settle(archive, number, "J. Serra", "", keys={SITE: {"floor": "cd" * 32}})
        with pytest.raises(
            AccessRefusedError, match=r"A\. Riera has none of the roles director, surv"
        ):
            settle(archive, number, RIERA.name, "", RIERA)
        assert refused_keys(archive, SITE) == {KEY}
        record = settle(archive, number, VIDAL.name, "new machine", VIDAL)
        assert msgspec.json.decode(record.body)["person"] == "t-vidal"
        assert open_findings(archive) == []
        assert refused_keys(archive, SITE) == frozenset()
        with pytest.raises(ArchiveError, match="is not an open finding"):
            settle(archive, number, VIDAL.name, "", VIDAL)


def test_a_key_that_the_configuration_names_is_settled_by_any_person(tmp_path: Path) -> None:
    with closing(SQLiteArchive(tmp_path / "archive.sqlite3")) as archive:
        number = changed_key(archive)
        settle(archive, number, "J. Serra", "", keys={SITE: {"floor": KEY}})
        assert refused_keys(archive, SITE) == frozenset()


def test_findings_and_settle_at_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = tmp_path / "archive.sqlite3"
    with closing(SQLiteArchive(where)) as archive:
        body = msgspec.json.encode({"detail": "an older copy"})
        archive.store([finding(1, body=body)])
        number = changed_key(archive)
    told = f"--settings={msgspec.json.encode({'archive': str(where), 'site': SITE}).decode()}"
    assert main(["findings", told]) == 0
    shown = capsys.readouterr().out
    assert f"1  {format_utc(1_790_000_001)}  madrid-1  journal_rolled_back" in shown
    assert "an older copy" in shown
    assert main(["settle", told, "--finding", "1", "--by", "J. Serra"]) == 0
    assert capsys.readouterr().out == "1 is settled by J. Serra\n"
    assert main(["settle", told, "--finding", "1", "--by", "J. Serra"]) == 1
    assert "1 is not an open finding" in capsys.readouterr().err
    assert main(["settle", told, "--finding", str(number), "--as", "t-vidal"]) == 1
    assert "set `pin_keys` and `pepper_file` in [web]" in capsys.readouterr().err


def test_a_person_signs_in_to_settle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the PIN that opens the own key: asked for at a terminal, or from a file."""
    where, pin = tmp_path / "archive.sqlite3", tmp_path / "pin"
    with closing(SQLiteArchive(where)) as archive:
        number = changed_key(archive)
        archive.store([finding(2, body=msgspec.json.encode({"detail": "an older copy"}))])
    state = tmp_path / "state"
    given = {
        "archive": str(where),
        "site": SITE,
        "pit": console(tmp_path / "pit", SITE),
        "state": str(state),
    }
    told = f"--settings={msgspec.json.encode(given).decode()}"

    def tried(who: str, number: int, said: str, mode: int = 0o600) -> str:
        pin.write_text(f"{said}\n")
        pin.chmod(mode)
        words = ["--finding", str(number), "--as", who, "--pin-file", str(pin), "--note", "seen"]
        status, shown = main(["settle", told, *words]), capsys.readouterr()
        assert (status == 0) == (shown.err == "")
        return shown.err or shown.out

    def left() -> list[str]:
        with closing(SQLiteArchive(where, read_only=True)) as archive:
            return [record.type for _, record in open_findings(archive)]

    both = ["checkpoint_key_changed", "journal_rolled_back"]
    assert "Name or PIN is wrong" in tried("t-vidal", number, "000000")
    assert "Name or PIN is wrong" in tried("nobody", number, PINS["t-vidal"])
    assert "can be read by others; chmod 600" in tried("t-vidal", number, PINS["t-vidal"], 0o640)
    assert "has none of the roles" in tried("a-riera", number, PINS["a-riera"])
    assert left() == both
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda _: PINS["s-mora"])
    assert main(["settle", told, "--finding", str(number), "--as", "s-mora"]) == 0
    assert capsys.readouterr().out == f"{number} is settled by S. Mora\n"
    assert left() == both[1:]
    assert "is settled by A. Riera" in tried("4712", number + 1, PINS["a-riera"])  # by the badge
    with closing(SQLiteArchive(where, read_only=True)) as archive:
        assert refused_keys(archive, SITE) == frozenset()
        settled = [row.record for row in archive.find(Query(types=("settled",)))]
    bodies = [msgspec.json.decode(each.body) for each in settled]
    assert [body["person"] for body in bodies] == ["s-mora", "a-riera"]
    assert bodies[1]["note"] == "seen"
    assert {"S. Mora", "s-mora"} <= {*settled[0].words}


def test_wrong_pins_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where, pin = tmp_path / "archive.sqlite3", tmp_path / "pin"
    with closing(SQLiteArchive(where)) as archive:
        number = changed_key(archive)
    given = {
        "archive": str(where),
        "site": SITE,
        "pit": console(tmp_path / "pit", SITE),
        "state": str(tmp_path / "state"),
    }
    told = f"--settings={msgspec.json.encode(given).decode()}"
    words = ["--finding", str(number), "--as", "t-vidal", "--pin-file", str(pin)]
    pin.touch(0o600)
    said = []
    for each in ["000000"] * 8 + [PINS["t-vidal"]]:
        pin.write_text(each)
        assert main(["settle", told, *words]) == 1
        said.append(capsys.readouterr().err)
    assert "Name or PIN is wrong" in said[0]
    assert "Name or PIN is wrong" not in said[-1]


async def test_what_is_settled_while_the_archive_recovers_is_shown_no_more(tmp_path: Path) -> None:
    """Open findings are read first, and shown after those settled since were removed."""
    settings = SiteSettings(id=SITE, broker=BrokerLogin(url="mqtt://127.0.0.1:1"))
    site = RecordedSite(settings, "surveillance", "b", lambda: None, None, None)
    with closing(SQLiteArchive(tmp_path / "archive.sqlite3")) as archive:
        number = changed_key(archive)
        site.restore(archive)
        assert site.alerts.shown == 1
        before = archive.newest_number()
        opened = [record for _, record in open_findings(archive)]
        settle(archive, number, VIDAL.name, "", VIDAL)
        site.alerts.check_settled(archive)
        assert site.alerts.shown == 0
        site.alerts.restore_findings(opened, before)
        site.alerts.check_settled(archive)
        assert site.alerts.shown == 0
