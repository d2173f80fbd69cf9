"""What a person may settle, and what it changes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from controller.contract.times import utc
from subscribers.surveillance.admitted import RefusedError
from subscribers.surveillance.archive import Archive
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.findings import open_findings, refused_keys
from subscribers.surveillance.settle import main, settle
from tests.controller.people.staff import RIERA, VIDAL
from tests.subscribers.surveillance.said import finding

KEY = "ab" * 32
SITE = "madrid-1"


def changed_key(archive: Archive) -> int:
    """The number of the finding that a node signs with another key."""
    body = msgspec.json.encode({"detail": "another key"})
    key = f"checkpoint_key_changed:floor:{KEY}:7"
    kept = archive.keep([finding(1, type="checkpoint_key_changed", key=key, body=body)])
    return kept.new[0].number


def test_a_changed_key_is_settled_by_who_has_the_right(tmp_path: Path) -> None:
    with closing(SQLiteArchive(tmp_path / "archive.sqlite3")) as archive:
        number = changed_key(archive)
        assert refused_keys(archive, SITE) == {KEY}
        assert refused_keys(archive, "palma") == frozenset()
        with pytest.raises(RefusedError, match="sign in with --as PERSON, or name the key in the"):
            settle(archive, number, "J. Serra", "")
        with pytest.raises(RefusedError, match="name the key"):
            settle(archive, number, "J. Serra", "", keys={SITE: {"floor": "cd" * 32}})
        with pytest.raises(RefusedError, match=r"A\. Riera has none of the roles director, surv"):
            settle(archive, number, RIERA.name, "", RIERA)
        assert refused_keys(archive, SITE) == {KEY}
        record = settle(archive, number, VIDAL.name, "new machine", VIDAL)
        assert msgspec.json.decode(record.body)["person"] == "t-vidal"
        assert open_findings(archive) == []
        assert refused_keys(archive, SITE) == frozenset()
        with pytest.raises(ArchiveError, match="is no finding that is open"):
            settle(archive, number, VIDAL.name, "", VIDAL)


def test_a_key_that_the_configuration_names_is_settled_by_anybody(tmp_path: Path) -> None:
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
        archive.keep([finding(1, body=body)])
        number = changed_key(archive)
    told = f"--settings={msgspec.json.encode({'archive': str(where), 'site': SITE}).decode()}"
    assert main(["findings", told]) == 0
    shown = capsys.readouterr().out
    assert f"1  {utc(1_790_000_001)}  madrid-1  journal_rolled_back" in shown
    assert "an older copy" in shown
    assert main(["settle", told, "--finding", "1", "--by", "J. Serra"]) == 0
    assert capsys.readouterr().out == "1 is settled by J. Serra\n"
    assert main(["settle", told, "--finding", "1", "--by", "J. Serra"]) == 1
    assert "1 is no finding that is open" in capsys.readouterr().err
    assert main(["settle", told, "--finding", str(number), "--as", "t-vidal"]) == 1
    assert "set `pin_keys` and `pepper_file` in [web]" in capsys.readouterr().err
