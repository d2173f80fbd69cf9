"""Backups of a journal, and restoring them or refusing to."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.pwhash import argon2id

from common import clock
from common.chain.checkpoint import key_path, load_key, public
from common.chain.schema import JournalUnusableError
from common.confidential.boxes import CardCipher
from common.contract.notation import read_event
from controller.backup import manifest as manifests
from controller.backup import sealed_keys
from controller.backup import take as taking
from controller.backup.errors import BackupError
from controller.backup.manifest import JOURNAL_NAME, KEYS_NAME, Manifest, read_manifest
from controller.backup.restore import RestoreResult, restore
from controller.backup.sealed_keys import read_passphrase
from controller.backup.take import back_up
from controller.cli import main
from controller.configuration.file import load
from controller.journal.file import UnfinishedRestoreError, restoring_path
from controller.journal.journal import PUBLISHER_CURSOR, Journal
from controller.journal.reader import JournalReader
from controller.journal.setup import Boot
from controller.proof.audit import audit
from controller.proof.outcome import ProofOutcome
from controller.proof.sealing import seal
from controller.proof.segment import folder as days_of
from controller.proof.verify import verify
from controller.tables.after_restore import MIN_SESSION_JUMP, unreported
from controller.tables.restored import MAX_READINGS_PER_SESSION
from tests.controller.proof.test_references import PUNTO_BANCA, SURVEILLANCE, draw, start, unseal
from tests.support.journal.premises import Premises, entries, evening

PASSPHRASE = b"six words that nobody else knows"
SECRET = "the password of the broker"

CONFIGURATION = """\
[site]
id = "palma"
node = "pit-1"

[broker]
url = "mqtt://broker.example:1883"
username = "pit-1"
password_file = "password"
response_topics = []

[people]
required = "accept-the-risk"

[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:1"
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretch the passphrase less than production does."""
    least = (argon2id.OPSLIMIT_MIN, argon2id.MEMLIMIT_MIN)
    monkeypatch.setattr(
        taking, "seal", partial(sealed_keys.seal, operations=least[0], memory=least[1])
    )
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)


class House:
    """A folder with a configuration, a journal with an evening in it, and its backups."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "house"
        self.folder.mkdir(parents=True)
        self.config = self.folder / "novamas.toml"
        self.config.write_text(CONFIGURATION)
        (self.folder / "password").write_text(SECRET)
        self.journal = self.folder / "journal.sqlite3"
        self.backups = folder / "backups"

    def back_up(self, passphrase: bytes | None = PASSPHRASE) -> Path:
        return back_up(self.config, load(self.config), self.backups, passphrase)[0]

    def restore(self, backup: Path, **how: Any) -> RestoreResult:
        return restore(self.config, backup, **{"passphrase": PASSPHRASE, **how})

    def other(self, name: str = "other") -> House:
        """Another machine, with nothing on it."""
        made = House(self.folder.parent / name)
        made.config.unlink()
        (made.folder / "password").unlink()
        return made

    @property
    def key(self) -> str:
        return public(load_key(key_path(self.journal)))


@pytest.fixture
async def house(tmp_path: Path) -> House:
    made = House(tmp_path)
    await evening(made.journal)
    return made


def plain(backup: Path) -> bytes:
    return b"".join(path.read_bytes() for path in backup.rglob("*") if path.is_file())


def test_a_backup_is_whole_private_and_has_no_key_in_clear(house: House) -> None:
    backup = house.back_up()
    manifest = read_manifest(backup, house.key)
    last = entries(house.journal)[-1]
    assert (manifest.position, manifest.hash, manifest.time) == (
        last.position,
        last.hash.hex(),
        last.time,
    )
    assert (manifest.outcome, manifest.sealed, manifest.left_out) == ("holds", 2, ())
    assert {item.place for item in manifest.items} == {"", "novamas.toml"}
    assert verify(backup / JOURNAL_NAME, house.key).outcome is ProofOutcome.HOLDS
    assert {path.stat().st_mode & 0o077 for path in [backup, *backup.rglob("*")]} == {0}
    key = key_path(house.journal).read_text().strip()
    for secret in (key, key.upper(), SECRET):
        assert secret.encode() not in plain(backup)
        assert bytes.fromhex(key) not in plain(backup)
    assert list(house.backups.iterdir()) == [backup]


def test_a_backup_without_a_key_file_has_no_key_and_says_so(house: House) -> None:
    manifest = read_manifest(house.back_up(None), None)
    assert manifest.sealed == 0
    assert [each.partition(":")[0] for each in manifest.left_out] == [
        str(key_path(house.journal)),
        str(house.folder / "password"),
    ]


def test_a_credential_of_systemd_is_named_as_left_out(
    house: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = CONFIGURATION.replace('password_file = "password"', 'password_credential = "mqtt"')
    house.config.write_text(text)
    (tmp_path / "mqtt").write_text(SECRET)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    manifest = read_manifest(house.back_up(), None)
    assert manifest.left_out == ("mqtt: a systemd credential; back it up at its source",)


async def test_a_backup_is_of_one_moment_while_the_daemon_writes(house: House) -> None:
    """And the daemon's next commit does not wait."""
    running = Premises(house.journal, at=900.0)
    running.receive(*[b"*X;6;004; 0;0;000;0"] * 4)
    await running.runner.drain()
    before = running.journal.head()
    seen: list[int] = []

    def progress(what: str, _done: int, _total: int) -> None:
        if what == "copying the journal" and not seen:
            with closing(sqlite3.connect(house.journal, timeout=0)) as other:
                other.execute("BEGIN IMMEDIATE")  # no lock is held
                other.execute("INSERT INTO cursor VALUES ('another', 1)")
                other.execute("COMMIT")
            seen.append(1)

    backup, told, verdict = back_up(
        house.config, load(house.config), house.backups, PASSPHRASE, progress
    )
    assert seen
    assert (told.position, verdict.outcome) == (before, ProofOutcome.HOLDS)
    with closing(JournalReader(backup / JOURNAL_NAME)) as reader:
        assert "another" not in reader.cursors()
    await running.end()


async def test_the_journal_continues_under_another_id_at_the_next_position(house: House) -> None:
    backup = house.back_up()
    lost = Premises(house.journal, at=900.0)  # played after the backup
    lost.receive(*[b"*X;6;004; 0;0;000;0"] * 4)
    lost.spin(5, 9, 0)
    await lost.end()
    house.journal.with_name("journal.sqlite3.lock").unlink()
    done = house.restore(backup, set_aside=True)
    assert done.journal == house.journal
    assert {path.stat().st_mode & 0o077 for path in (done.journal, done.copy)} == {0}
    assert {path.name.partition("Z")[2] for path in done.aside} >= {"", ".checkpoint"}
    running = Premises(house.journal, at=2000.0)
    running.receive(*[b"*X;6;003;32;0;000;0"] * 4)
    await running.open()
    running.spin(4, 0, 32)
    last = await running.end()
    with closing(JournalReader(done.copy)) as old, closing(JournalReader(house.journal)) as new:
        assert (new.base(), new.id() != old.id()) == (old.head().position, True)
        assert new.meta("aside") == done.copy.name
    first, *_ = entries(house.journal)
    boot = msgspec.json.decode(first.body, type=Boot)
    assert boot.restored is not None
    assert (boot.continues, boot.restored.position) == (True, first.position - 1)
    said = [read_event(each.body) for each in entries(house.journal) if each.kind == "event"]
    assert [str(each.__struct_config__.tag) for each in said].count("journal.restored") == 1
    for path, signed in ((done.copy, done.manifest.key), (house.journal, last.key)):
        assert verify(path, signed).outcome is ProofOutcome.HOLDS
        assert audit(path, key=signed).outcome is ProofOutcome.HOLDS
    assert any("the journal continues a backup" in note for note in verify(house.journal).notes)


async def test_what_was_unpublished_at_the_time_of_the_backup_is_published(house: House) -> None:
    house.restore(house.back_up(), set_aside=True)
    with closing(Journal(house.journal)) as journal:
        unheard = [each for each in journal.events_after(0, 1000) if each.kind == "event"]
        assert unheard
        assert journal.lost is None
        assert journal.ask(JournalReader.cursors).get(PUBLISHER_CURSOR, 0) == 0
        # the publisher knows that it is not the first to start
        assert journal.latest("boot") is not None


async def test_every_table_reports_the_restore_once_also_a_table_added_later(house: House) -> None:
    house.restore(house.back_up(), set_aside=True)
    with closing(Journal(house.journal)) as journal:
        assert journal.restored is not None
        assert unreported(journal, "r1") == unreported(journal, "r9") == (journal.restored,)
    running = Premises(house.journal, at=2000.0)
    await running.end()
    with closing(Journal(house.journal)) as journal:
        assert unreported(journal, "r1") == ()
        assert unreported(journal, "r9") == (journal.restored,)


async def test_a_table_with_hidden_cards_continues_without_complaint(
    tmp_path: Path,
) -> None:
    """With the key that locks its state, and without it; then it starts over, with higher numbers
    all the same.
    """
    house = House(tmp_path)
    ciphers = [CardCipher(SURVEILLANCE.public_key, key * 32) for key in (b"s", b"t")]
    sessions = [0]
    for number, cipher in enumerate((ciphers[0], *ciphers)):
        house.backups = tmp_path / f"backups-{number}"
        if number:
            house.restore(house.back_up(), set_aside=True)
        run = Premises(house.journal, game="punto-banca", driver="barcode-serial", cipher=cipher)
        await start(run)
        draw(run, PUNTO_BANCA)
        await run.end()
        made = audit(house.journal, unseal)
        assert made.differences == []
        with closing(JournalReader(house.journal)) as reader:
            known = msgspec.json.decode(cipher.unlock(reader.saved_state("r1") or b""))
        assert known["state"]["session"] > sessions[-1] + MIN_SESSION_JUMP * bool(number)
        assert known["readings"] >= MAX_READINGS_PER_SESSION * MIN_SESSION_JUMP * bool(number)
        sessions.append(known["state"]["session"])


def test_another_machine_gets_the_whole_backup(house: House) -> None:
    other = house.other()
    done = other.restore(house.back_up())
    assert other.config.read_text() == CONFIGURATION
    assert (other.folder / "password").read_text() == SECRET
    assert (other.folder / "password").stat().st_mode & 0o777 == 0o600
    assert (other.key, done.aside, done.notes) == (house.key, (), ())
    assert done.copy.parent == other.folder


def test_without_the_key_file_missing_keys_are_reported(house: House) -> None:
    other = house.other()
    done = other.restore(house.back_up(), passphrase=None)
    assert "no keys were restored" in done.notes[1]
    assert "broker.password_file: cannot be read" in done.notes[0]
    assert not key_path(other.journal).exists()


def test_sealed_days_are_restored_beside_the_copy(house: House) -> None:
    with closing(JournalReader(house.journal)) as reader:
        head = reader.head().position
    key = load_key(key_path(house.journal))
    seal(house.journal, key, "b1", "2099-01-01T00:00:00.000000Z", 0, head, 30)
    days = [path.name for path in days_of(house.journal).iterdir()]
    backup = house.back_up()
    done = house.restore(backup, set_aside=True)
    assert days
    assert [path.name for path in days_of(done.copy).iterdir()] == days
    assert not days_of(house.journal).exists()
    assert verify(done.copy, house.key).segments == len(days)


REFUSALS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder without a manifest": (
        lambda backup: (backup / "manifest.json").unlink(),
        "no backup, or one that was interrupted",
    ),
    "a manifest cut off": (
        lambda backup: os.truncate(backup / "manifest.json", 200),
        "take another backup",
    ),
    "another position": (
        lambda backup: _edit(backup, b'"position": ', b'"position": 1'),
        "its signature does not hold",
    ),
    "a file elsewhere": (
        lambda backup: _edit(backup, b'"place": "novamas.toml"', b'"place": "../evil.toml"'),
        "its signature does not hold",
    ),
    "one bit of the journal": (
        lambda backup: _flip(backup / JOURNAL_NAME),
        "is not the file that was backed up",
    ),
    "one bit of the keys": (
        lambda backup: _flip(backup / KEYS_NAME),
        "is not the file that was backed up",
    ),
    "no journal": (lambda backup: (backup / JOURNAL_NAME).unlink(), "No such file"),
    "a link for the journal": (lambda backup: _link(backup / JOURNAL_NAME), "is not the file"),
}


def _edit(backup: Path, old: bytes, new: bytes) -> None:
    path = backup / "manifest.json"
    body = path.read_bytes()
    assert old in body
    path.write_bytes(body.replace(old, new))


def _flip(path: Path) -> None:
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(body)


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("case", REFUSALS)
def test_a_changed_backup_is_not_restored_and_nothing_is_touched(house: House, case: str) -> None:
    change, why = REFUSALS[case]
    backup = house.back_up()
    before = {path: path.read_bytes() for path in house.folder.rglob("*") if path.is_file()}
    change(backup)
    with pytest.raises(BackupError, match=why):
        house.restore(backup, set_aside=True)
    assert {path: path.read_bytes() for path in house.folder.rglob("*") if path.is_file()} == before


def test_a_file_elsewhere_is_not_restored_even_unsigned(house: House) -> None:
    backup = house.back_up(None)
    told = msgspec.structs.replace(read_manifest(backup, None), key=None, signature=None)
    items = tuple(
        msgspec.structs.replace(item, place="../evil.toml" if item.place else "")
        for item in told.items
    )
    changed = msgspec.structs.replace(told, items=items, configuration="other.toml")
    (backup / "manifest.json").write_bytes(msgspec.json.encode(changed))
    done = house.restore(backup, passphrase=None, set_aside=True)
    assert any("outside the folder" in note for note in done.notes)
    assert not (house.folder.parent / "evil.toml").exists()
    with pytest.raises(BackupError, match="signed by no key"):
        house.restore(backup, key=house.key, set_aside=True)


def test_another_key_file_opens_nothing(house: House) -> None:
    backup = house.back_up()
    with pytest.raises(BackupError, match="the passphrase is not the one"):
        house.restore(backup, passphrase=b"other words than these are", set_aside=True)
    with pytest.raises(BackupError, match="not with the key given"):
        house.restore(backup, key="0" * 64, set_aside=True)


@pytest.mark.parametrize(
    ("body", "mode", "why"),
    [
        (b"short\n", 0o600, "expected 12"),
        (b"six words that nobody knows", 0o640, "can be read by others"),
        (None, 0, "No such file"),
    ],
)
def test_a_key_file_is_long_and_private(
    tmp_path: Path, body: bytes | None, mode: int, why: str
) -> None:
    path = tmp_path / "key"
    if body is not None:
        path.write_bytes(body)
        path.chmod(mode)
    with pytest.raises(BackupError, match=why):
        read_passphrase(path)


def test_a_clock_that_is_behind_the_backup_restores_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup = house.back_up()
    monkeypatch.setattr(clock, "wall", lambda: 86_400.0)
    with pytest.raises(BackupError, match="set the clock"):
        house.restore(backup, set_aside=True)


def test_existing_files_are_never_removed(house: House) -> None:
    backup = house.back_up()
    for _ in range(2):
        with pytest.raises(BackupError, match="add --set-aside"):
            house.restore(backup)
    was = house.journal.read_bytes()
    done = house.restore(backup, set_aside=True)
    assert was in {path.read_bytes() for path in done.aside}
    other = house.other()
    key_path(other.journal).write_text("ab" * 32)
    with pytest.raises(BackupError, match="differs from the backup"):
        other.restore(backup)
    assert not other.journal.exists()


async def test_while_a_daemon_has_the_journal_nothing_is_restored(house: House) -> None:
    backup = house.back_up()
    running = Premises(house.journal, at=900.0)
    with pytest.raises(BackupError, match="another daemon uses this journal"):
        house.restore(backup, set_aside=True)
    await running.end()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda house: house.journal.unlink(), "there is no journal.*STATE_DIRECTORY"),
        (lambda house: house.journal.write_bytes(b"x" * 5000), "cannot be read as a journal"),
        (lambda house: _change(house.journal, "UPDATE entry SET time = 'x'"), "does not hold"),
        (lambda house: house.backups.write_text(""), "File exists"),
    ],
)
def test_a_backup_that_fails_leaves_nothing(
    house: House, change: Callable[[House], object], why: str
) -> None:
    change(house)
    with pytest.raises(BackupError, match=why):
        house.back_up()
    assert not house.backups.is_dir() or not list(house.backups.iterdir())


def _change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute(statement)
        file.commit()


def test_no_backup_replaces_another(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(clock, "wall", lambda: now)
    backup = house.back_up()
    with pytest.raises(BackupError, match="exists already"):
        house.back_up()
    backup.rename(backup.with_name(f"{backup.name}.part"))
    with pytest.raises(BackupError, match="was interrupted"):
        house.back_up()
    assert len(list(house.backups.iterdir())) == 1


class Cut(BaseException):
    """The power fails."""


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """``cut(n)``: the power fails at the nth write to the disk from now on; 0: it does not."""
    left = [0]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if left[0]:
                left[0] -= 1
                if not left[0]:
                    raise Cut
            return real(*given, **named)

        return call

    monkeypatch.setattr(os, "fsync", counted(os.fsync))
    monkeypatch.setattr(Path, "rename", counted(Path.rename))
    monkeypatch.setattr(Path, "replace", counted(Path.replace))
    yield lambda number: left.__setitem__(0, number)
    left[0] = 0


def test_a_backup_interrupted_anywhere_is_no_backup(
    house: House, cut: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves no file named like a backup, or a complete one."""
    monkeypatch.setattr(shutil, "rmtree", lambda _path: None)  # no clean-up
    for step in range(1, 100):
        house.backups = house.folder.parent / f"backups-{step}"
        cut(step)
        try:
            house.back_up()
        except Cut:
            cut(0)
        else:
            break
        for left in house.backups.iterdir():
            assert left.name.endswith(".part") or read_manifest(left, house.key)
            if not (left / manifests.MANIFEST_NAME).exists():
                with pytest.raises(BackupError, match="interrupted"):
                    read_manifest(left, None)
    assert step > 8


def test_a_restore_interrupted_anywhere_can_be_repeated(
    house: House, cut: Callable[[int], None]
) -> None:
    """Meanwhile no daemon starts over: it has the old journal, or does not start."""
    backup = house.back_up()
    for step in range(1, 100):
        other = House(house.folder.parent / f"other-{step}")
        for path in house.folder.iterdir():
            if path.is_file():
                (other.folder / path.name).write_bytes(path.read_bytes())
        was = _id(other.journal)
        cut(step)
        try:
            other.restore(backup, set_aside=True)
        except Cut:
            cut(0)
        else:
            break
        if restoring_path(other.journal).exists():
            with pytest.raises(UnfinishedRestoreError, match="run `novamas restore` again"):
                Journal(other.journal)
        else:
            with closing(Journal(other.journal)) as journal:
                assert journal.id == was or journal.restored is not None
        done = other.restore(backup, set_aside=True)
        assert _id(other.journal) not in (was, _id(done.copy))
        assert not restoring_path(other.journal).exists()
        assert other.key == house.key
    assert step > 8


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_full_disk_is_reported_and_existing_files_stay(
    house: House, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    backup, was = house.back_up(), house.journal.read_bytes()

    def refuse(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", refuse)
        house.backups = house.folder.parent / "more"
        with pytest.raises(BackupError, match=f"{os.strerror(number)}; no backup was made"):
            house.back_up()
        with pytest.raises(BackupError, match=f"{os.strerror(number)}; fix this"):
            house.restore(backup, set_aside=True)
    assert list(house.backups.iterdir()) == []
    assert house.journal.read_bytes() == was
    house.restore(backup, set_aside=True)


def _id(path: Path) -> str:
    with closing(JournalReader(path)) as reader:
        return reader.id()


def test_the_journals_record_of_its_backup_must_be_readable(house: House) -> None:
    house.restore(house.back_up(), set_aside=True)
    _change(house.journal, "UPDATE meta SET value = '{}' WHERE key = 'restored'")
    with pytest.raises(JournalUnusableError, match="restore the backup again"):
        Journal(house.journal)


def test_the_commands_report_what_they_did(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key_file = tmp_path / "recovery"
    key_file.write_bytes(PASSPHRASE)
    key_file.chmod(0o600)
    words = ["--passphrase-file", str(key_file)]
    assert main(["backup", str(house.config), str(house.backups), *words]) == 0
    output = capsys.readouterr().out
    last = entries(house.journal)[-1]
    assert f"Up to       entry {last.position} of {last.time}" in output
    assert "Verified    it holds" in output
    [backup] = house.backups.iterdir()
    assert main(["restore", str(house.config), str(backup), *words]) == 1
    assert "add --set-aside" in capsys.readouterr().err
    assert main(["restore", str(house.config), str(backup), *words, "--set-aside"]) == 0
    output = capsys.readouterr().out
    assert f"Up to       entry {last.position} of {last.time}" in output
    assert output.count("Set aside   ") >= 2
    assert isinstance(read_manifest(backup, None), Manifest)


def _forge(backup: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest as an attacker without a key does: no key signs it then."""
    path = backup / "manifest.json"
    told = json.loads(path.read_bytes())
    told.pop("key", None)
    told.pop("signature", None)
    change(told)
    path.write_text(json.dumps(told))


@pytest.mark.parametrize("mode", [0o6777, 0o4755, 0o1777, 2**40, 2**63 - 1])
def test_no_restored_file_is_executable_whatever_its_manifest_says(house: House, mode: int) -> None:
    backup = house.back_up(None)
    _forge(backup, lambda told: [item.update(mode=mode) for item in told["items"]])
    house.config.unlink()
    house.restore(backup, passphrase=None, set_aside=True)
    for path in house.folder.rglob("*"):
        assert path.is_dir() or not path.stat().st_mode & 0o7111, path


@pytest.mark.parametrize(
    ("key", "message"),
    [(False, "THIS BACKUP IS NOT SIGNED"), (True, "NOTHING SHOWS THAT THIS KEY IS YOURS")],
)
def test_a_restore_that_cannot_verify_the_signer_reports_so(
    house: House, capsys: pytest.CaptureFixture[str], key: bool, message: str
) -> None:
    backup, signer = house.back_up(), house.key
    if not key:
        _forge(backup, lambda _: None)
    assert main(["restore", str(house.config), str(backup), "--set-aside"]) == 0
    assert message in capsys.readouterr().out
    if key:
        words = ["--set-aside", "--signer", signer]
        assert main(["restore", str(house.config), str(backup), *words]) == 0
        assert message not in capsys.readouterr().out


HOSTILE: tuple[Any, ...] = (
    "",
    "\0",
    "a\0b",
    "x" * 5000,
    "..",
    "/",
    "\udc80",
    "2026-01-01/00:00:00Z",
    "2026-01-01\0" + "00:00:00Z",
    "0001-01-01T00:00:00.000000Z",
    2**63 - 1,
    2**80,
    -1,
    None,
    [],
)
MANIFEST_FIELDS = [each.name for each in msgspec.structs.fields(Manifest)]
ITEM_FIELDS = [each.name for each in msgspec.structs.fields(manifests.BackupItem)]


@pytest.mark.parametrize("field", [*MANIFEST_FIELDS, *(f"items.{each}" for each in ITEM_FIELDS)])
def test_no_manifest_is_a_traceback(house: House, field: str) -> None:
    backup = house.back_up(None)
    whole = (backup / "manifest.json").read_bytes()
    group, _, name = field.rpartition(".")
    for value in HOSTILE:
        (backup / "manifest.json").write_bytes(whole)

        def change(told: dict[str, Any], value: Any = value) -> None:
            for each in told[group] if group else [told]:
                each[name] = value

        _forge(backup, change)
        house.config.unlink(missing_ok=True)
        with suppress(BackupError):
            house.restore(backup, passphrase=None, set_aside=True)
        assert not list(house.folder.rglob("*.part"))
