"""A daemon of a pair at a real NATS server with TLS, client certificates and users: it gets in with
what the configuration names, and otherwise says why once, and waits until it can.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from controller.cli import main
from controller.configuration.file import load
from controller.doctor import keys
from controller.doctor.finding import Finding
from controller.doctor.standby import check
from tests.daemon.conftest import Tell
from tests.daemon.nats_users import Operator
from tests.support.brokers.mosquitto import free_port
from tests.support.daemon.certificates import Authority
from tests.support.daemon.pair import Manager, Nats, in_pair
from tests.support.daemon.process import Daemon

pytestmark = pytest.mark.usefixtures("programs")

LEASE = 60.0
"""So that an answer may take ten seconds, and no daemon takes the lease."""
IN = "STATUS=waits; nobody has had the lease yet"
SILENT = "the store of the lease does not answer"
ENDED = "the server ended the connection: "
ROULETTE = """
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""
LOGIN = ("ca_file", "cert_file", "key_file")


class Place:
    """A daemon that waits, and the files that it logs in with."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.folder, self._ending = folder, ending
        self.told = ending.enter_context(Manager(folder / "notify"))
        self.daemon: Daemon | None = None
        self.lease = LEASE

    def server(self, *settings: str, scheme: str = "nats") -> Nats:
        made = Nats(self.folder / "nats", *settings, scheme=scheme)
        self._ending.callback(made.kill)
        made.start()
        return made

    def configured(self, server: str, **files: str | Path) -> Daemon:
        """Not yet started. ``files``: by key of ``[standby]``."""
        named = {key: f'"{value}"' for key, value in files.items()}
        broker = f"mqtt://127.0.0.1:{free_port()}"
        text = in_pair([server], "north", broker, ROULETTE, lease=self.lease, replicas=1, **named)
        self.daemon = Daemon(self.folder, text)
        self._ending.callback(self.daemon.kill)
        return self.daemon

    def starts(self, server: str, **files: str | Path) -> Daemon:
        made = self.configured(server, **files)
        made.start(NOTIFY_SOCKET=str(self.told.place))
        return made


@pytest.fixture
def place(programs: None, tmp_path: Path, ending: ExitStack, tell: Tell) -> Place:
    made = Place(tmp_path, ending)
    ending.callback(tell, "log", lambda: "" if made.daemon is None else made.daemon.log())
    return made


def look_at(made: Daemon) -> list[Finding]:
    """What `novamas doctor` says of the pair."""
    return list(check(load(made.file)))


class Guarded:
    """A server with TLS, which asks for a certificate, and the files of a client, which may be
    replaced.
    """

    def __init__(self, place: Place) -> None:
        self.folder = place.folder
        self.authority, self.other = (Authority(self.folder, each) for each in ("casino", "other"))
        self.files = {key: self.folder / f"own-{key}" for key in LOGIN}
        self.server_files = self.folder / "server-cert", self.folder / "server-key"
        self.mend()
        cert, key = self.server_files
        self.plain: tuple[str, ...] = ()
        files = f'cert_file: "{cert}", key_file: "{key}", ca_file: "{self.authority.file}"'
        self.tls = (f"tls {{ {files}, verify: true }}",)

    def mend(self) -> None:
        """All files are right."""
        self.client(self.authority.file, *self.authority.sign("client"))
        self.presents(*self.authority.sign("server"))

    def client(self, *files: Path) -> None:
        for mine, given in zip(self.files.values(), files, strict=False):
            shutil.copy(given, mine)

    def presents(self, *files: Path) -> None:
        for mine, given in zip(self.server_files, files, strict=True):
            shutil.copy(given, mine)

    def own(self, *files: Path) -> None:
        """Our certificate and key."""
        self.client(self.authority.file, *files)


WRONG: dict[str, tuple[Callable[[Guarded], None], str]] = {
    "CA": (
        lambda guarded: guarded.client(guarded.other.file),
        "the certificate of 127.0.0.1 is not signed by a trusted CA: ca_file ",
    ),
    "host": (
        lambda guarded: guarded.presents(*guarded.authority.sign("far", address="127.0.0.2")),
        "the certificate is of another host than 127.0.0.1: correct servers, or the certificate",
    ),
    "expired": (
        lambda guarded: guarded.presents(*guarded.authority.sign("past", expired=3)),
        "the certificate of 127.0.0.1, or of its CA, has expired: renew it at the server",
    ),
    "own expired": (
        lambda guarded: guarded.own(*guarded.authority.sign("old", expired=3)),
        "own-cert_file has expired on ",
    ),
    "own of another CA": (
        lambda guarded: guarded.own(*guarded.other.sign("stranger")),
        ENDED,
    ),
    "key": (
        lambda guarded: guarded.own(
            guarded.authority.sign("one")[0], guarded.authority.sign("two")[1]
        ),
        "standby.cert_file ",
    ),
    "none there": (
        lambda guarded: setattr(guarded, "plain", ("# no TLS",)),
        "it does not speak TLS; let it ask for TLS, or write nats:// without ca_file and cert_file",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_tls_failure_is_reported_once_until_it_is_mended(place: Place, what: str) -> None:
    guarded = Guarded(place)
    change, words = WRONG[what]
    change(guarded)
    server = place.server(*(guarded.plain or guarded.tls), scheme="tls")
    made = place.starts(server.url, **guarded.files)
    said = made.until_logged(SILENT)["reason"]
    assert words in said
    place.told.until(f"STATUS=waits; {SILENT}: ")
    warning, fault = look_at(made)
    assert words in warning.what
    assert fault.level == "fault"
    server.kill()
    guarded.mend()
    server.settings = guarded.tls
    server.start()
    place.told.until(IN)
    reasons = [line["reason"] for line in made.logged(SILENT)]
    if ENDED in said:  # with its reason or without: each change is reported
        assert all(words in reason for reason in reasons)
        assert not any(one == another for one, another in pairwise(reasons))
    else:
        assert reasons == [said]
    assert [line for line in made.log().splitlines() if '"library"' in line] == []
    assert [each.level for each in look_at(made)] == ["ok", "note"]
    assert made.stop() == 0


def test_a_server_that_requires_a_certificate_is_reported_without_one(place: Place) -> None:
    guarded = Guarded(place)
    server = place.server(*guarded.tls, scheme="tls")
    made = place.starts(server.url, ca_file=guarded.authority.file)
    words = "it requires a certificate; set cert_file and key_file"
    assert made.until_logged(SILENT)["reason"] == f"{server.url}: {words}"
    assert words in look_at(made)[0].what
    server.kill()
    server.settings = (guarded.tls[0].replace("verify: true", "verify: false"),)
    server.start()
    place.told.until(IN)
    assert made.stop() == 0


def test_check_and_doctor_report_unusable_certificates_and_credentials(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    guarded = Guarded(place)
    made = place.configured("tls://127.0.0.1:4222", **guarded.files)
    assert main(["check", str(made.file)]) == 0, capsys.readouterr().err
    guarded.own(*guarded.authority.sign("old", expired=3))
    assert main(["check", str(made.file)]) == 1
    assert f"standby.cert_file: {guarded.files['cert_file']} has" in capsys.readouterr().err
    found = [each for each in keys.check(load(made.file)) if "own-cert_file" in each.about]
    assert [each.level for each in found] == ["fault"]
    guarded.own(guarded.other.file, guarded.authority.sign("two")[1])
    assert main(["check", str(made.file)]) == 1
    assert "standby.cert_file " in capsys.readouterr().err
    creds = place.folder / "user.creds"
    creds.write_text("of another program")
    made = place.configured("nats://127.0.0.1:4222", creds_file=creds)
    assert main(["check", str(made.file)]) == 1
    assert "is no credentials file of a user of NATS" in capsys.readouterr().err
    Operator().user(creds)
    assert main(["check", str(made.file)]) == 0


def test_a_certificate_of_the_pair_that_expires_soon_is_reported(place: Place) -> None:
    """Also the one that the server presents."""
    guarded = Guarded(place)
    guarded.presents(*guarded.authority.sign("server", ends=12))
    server = place.server(*guarded.tls, scheme="tls")
    made = place.configured(server.url, **guarded.files)
    levels = {each.about: (each.level, each.what) for each in keys.check(load(made.file))}
    level, what = levels[f"certificate of standby.servers {server.url}"]
    assert (level, what[:20]) == ("warning", "it ends in 11 days, ")


def test_a_user_of_nats_is_let_in(place: Place) -> None:
    operator, creds = Operator(), place.folder / "nats.creds"
    server = place.server(*operator.settings)
    Operator().user(creds)
    made = place.starts(server.url, creds_file=creds)
    line = made.until_logged(SILENT)["reason"]
    assert line == f"{server.url}: it does not take the user of {creds}"
    assert line in look_at(made)[0].what
    operator.user(creds)
    place.told.until(IN)
    assert [each.level for each in look_at(made)] == ["ok", "note"]
    text = creds.read_text()
    begin, seed, end = text.partition("SEED-----\nSU")
    creds.write_text(f"{begin}{seed}{end[0]}{'AB'[end[1] == 'A']}{end[2:]}")  # by another hand
    assert "is no credentials file of a user of NATS" in look_at(made)[0].what
    assert made.stop() == 0
    assert "SU" + end[:20] not in made.log()


def test_a_credential_of_systemd_lets_us_in(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = Operator()
    operator.user(place.folder / "nats.creds")
    server = place.server(*operator.settings)
    made = place.configured(server.url, creds_credential="nats.creds")
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    assert "add LoadCredential=nats.creds:FILE to the unit" in look_at(made)[0].what
    made.start(NOTIFY_SOCKET=str(place.told.place), CREDENTIALS_DIRECTORY=str(place.folder))
    place.told.until(IN)
    assert made.stop() == 0


def test_the_lease_is_acquired_with_certificates_and_a_user(place: Place) -> None:
    guarded, operator = Guarded(place), Operator()
    creds = operator.user(place.folder / "nats.creds")
    server = place.server(*guarded.tls, *operator.settings, scheme="tls")
    place.lease = 10.0
    made = place.configured(server.url, creds_file=creds, **guarded.files)
    made.start()
    assert made.until_logged("lease taken")["term"] == 1
    made.until_logged("daemon up")
    assert made.stop() == 0
    assert made.logged("lease given back")


def test_a_missing_user_is_reported(place: Place) -> None:
    server = place.server(*Operator().settings)
    made = place.starts(server.url)
    words = "it does not take us without a user; set creds_file or creds_credential"
    assert made.until_logged(SILENT)["reason"] == f"{server.url}: {words}"
    assert words in look_at(made)[0].what
    assert made.stop() == 0
