"""Warnings of ``novamas check``: the configuration is sound but cannot work."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from controller.cli import check, main
from controller.configuration.file import SITE_FILES
from controller.configuration.secrets import CREDENTIAL_UNITS
from controller.configuration.secrets import SECRET_FILES as SECRET
from controller.configuration.settings import Configuration
from controller.service.installed_units import missing_credential
from simulators.wheel.saturn import FIELDS
from tests.controller.configuration.test_profiles import ROTA
from tests.devices.test_lost_reports import LINES, MAP
from tests.packaging.test_systemd import SYSTEMD

MAIN = """\
[site]
id = "casino"
[broker]
url = "{broker}://127.0.0.1:1883"
{more}
[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "BAL05"
[[table.device]]
id = "wheel"
driver = "{driver}"
link = "tcp://127.0.0.1:4001"
options = {{ {options} }}
"""


def warned(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    more: str = "",
    driver: str = "cammegh-ss2",
    options: str = "",
    broker: str = "embedded",
) -> list[str]:
    """Return the warnings about a sound configuration."""
    file = folder / "novamas.toml"
    file.write_text(MAIN.format(more=more, driver=driver, options=options, broker=broker))
    assert main(["check", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    return [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")]


def test_a_profile_that_loses_cards_without_a_question_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = (LINES + MAP).replace('kind = "shoe"', 'kind = "wheel"')
    for gap, expected in (("", 0), ("[framing]\ngap = false\n", 1)):
        (tmp_path / "reader.toml").write_text(reader + gap)
        _, *found = warned(tmp_path, capsys, driver="profile", options='file = "reader.toml"')
        assert len(found) == expected
        assert all("a card that is damaged on the line is lost" in warning for warning in found)
        assert main(["profile", "check", str(tmp_path / "reader.toml")]) == 0
        assert ("unsafe: the profile a-reader" in capsys.readouterr().out) == bool(expected)


def test_a_wheel_that_can_report_no_number_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [warning] = warned(tmp_path, capsys, driver="saturn")
    assert warning.startswith(
        "table[0].device[0]: ruleta-1/wheel: no number can be decoded: its position"
    )
    assert "give `fields`" in warning
    [warning] = warned(tmp_path, capsys, driver="zvonimir-king")
    assert "the profile zvonimir-king has no wheel.number" in warning
    (tmp_path / "rota.toml").write_text(ROTA)
    assert warned(tmp_path, capsys, driver="profile", options='file = "rota.toml"') == []
    hidden = ROTA.replace("[[message]]\n", '[[message]]\nname = "all"\n[[message]]\n', 1)
    (tmp_path / "rota.toml").write_text(hidden)
    [warning] = warned(tmp_path, capsys, driver="profile", options='file = "rota.toml"')
    assert (
        "the profile acme-rota: message[1]: no frame was found that matches this message" in warning
    )
    places = ", ".join(f"{name} = {list(FIELDS[name])}" for name in ("state", "number"))
    phases = ", ".join(f'{text} = "{phase}"' for text, phase in FIELDS["phases"].items())
    fields = f"fields = {{ {places}, phases = {{ {phases} }} }}"
    assert warned(tmp_path, capsys, driver="saturn", options=fields) == []


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that everybody can enter; pytest's own folders are private."""
    with TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


SECRETS = """\
[web]
pepper_file = "pepper"
password_file = "web-password"
[carrousel]
key = "ledger-key"
recall_key = "reader"
recall_passphrase_file = "passphrase"
[archive]
cards_key = "cards"
[[archive.site]]
id = "other"
url = "mqtt://127.0.0.1:1884"
password_file = "other"
username = "x"
[[bookmark]]
id = "door"
kind = "webhook"
address = "https://127.0.0.1/"
secret_file = "webhook"
"""
NAMES = {
    "pepper", "web-password", "ledger-key", "reader", "passphrase", "cards", "other", "webhook",
}  # fmt: skip


def test_every_secret_that_everybody_can_read_is_reported(
    reachable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in NAMES:
        (reachable / name).write_text(f"whsec_{'A' * 32}")
        (reachable / name).chmod(0o644)
    lines = warned(reachable, capsys, more=SECRETS)
    expected = {
        f"{reachable / name}: other users of this machine can read it; run chmod go= on it"
        for name in NAMES
    }
    assert {line for line in lines if "other users" in line} == expected
    for name in NAMES:
        (reachable / name).chmod(0o640)
    assert [line for line in warned(reachable, capsys, more=SECRETS) if "other users" in line] == []


PUBLIC = (
    *("ca_file", "cert_file", "broker_cert_file", "theme", "file", "folder"),
    *("logo", "media"),
)
"""Keys of files with nothing to hide."""


def test_every_key_that_names_a_file_is_secret_or_public() -> None:
    named = {(kind, key) for kind, keys in SITE_FILES.items() for key in keys if key not in PUBLIC}
    assert named == {(kind, key) for kind, keys in SECRET.items() for key in keys}


def test_a_credential_that_no_unit_provides_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    units, store = tmp_path / "units", tmp_path / "store"
    monkeypatch.setattr(
        check, "missing_credential", partial(missing_credential, units=(units,), stores=(store,))
    )
    more = '[journal]\nkey_credential = "sign"\n[web]\npassword_credential = "web"\n'
    assert warned(tmp_path, capsys, more=more) == []  # no unit: noted, not warned of
    units.mkdir()
    (units / "novamas.service").write_text("[Service]\nLoadCredential=other:/x\n")
    [warning] = warned(tmp_path, capsys, more=more)
    assert warning == (
        "journal.key_credential: the credential 'sign' is not provided: novamas.service does not "
        "load it; add LoadCredential=sign:FILE with `systemctl edit novamas.service`"
    )
    main(["check", str(tmp_path / "novamas.toml")])
    assert "novamas.service`\n  novamas explain credential\n" in capsys.readouterr().out
    dropped = units / "novamas.service.d"
    dropped.mkdir()
    (dropped / "keys.conf").write_text("[Service]\nLoadCredential=sign:novamas.sign\n")
    [warning] = warned(tmp_path, capsys, more=more)
    assert warning.endswith(
        f"loads it from {store}/novamas.sign, which does not exist; put the secret there"
    )
    store.mkdir()
    (store / "novamas.sign").write_text("x")
    assert warned(tmp_path, capsys, more=more) == []
    (units / "novamas-web.service").write_text("[Service]\nImportCredential=novamas.*\n")
    [warning] = warned(tmp_path, capsys, more=more)
    assert warning.startswith("web.password_credential: the credential 'web' is not provided")
    (units / "novamas-web.service").write_text("[Service]\nImportCredential=w*\n")
    assert warned(tmp_path, capsys, more=more) == []


def test_the_unit_loads_the_credentials_for_the_lease_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    store = tmp_path / "store"
    monkeypatch.setattr(
        check, "missing_credential", partial(missing_credential, units=(SYSTEMD,), stores=(store,))
    )

    def of(name: str) -> list[str]:
        more = f'{STANDBY}{KEYS}creds_credential = "{name}"\n{ANYONE}'
        return warned(tmp_path, capsys, more=more, broker="mqtt")

    [warning] = of("nats.creds")
    assert warning == (
        "standby.creds_credential: the credential 'nats.creds' is not provided: novamas.service "
        f"loads it from {store}/novamas.nats.creds, which does not exist; put the secret there"
    )
    store.mkdir()
    (store / "novamas.nats.creds").write_text("x")
    assert of("nats.creds") == []
    [warning] = of("other.creds")
    assert warning.endswith(
        "add LoadCredential=other.creds:FILE with `systemctl edit novamas.service`"
    )
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(store))
    [warning] = of("nats.creds")
    assert warning.startswith(
        "standby.creds_credential: the credential 'nats.creds' cannot be read"
    )


ANYONE = '[people]\nrequired = "accept-the-risk"\n'
KEYS = f'keys = ["{"0" * 64}", "{"1" * 64}"]\n'
STANDBY = '[standby]\nservers = ["nats://127.0.0.1:4222"]\n'


def test_a_pair_that_trusts_any_key_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [warning] = warned(tmp_path, capsys, more=STANDBY + ANYONE, broker="mqtt")
    assert warning.startswith(
        "standby.keys: anyone who can write to the bucket novamas-standby can"
    )
    assert warned(tmp_path, capsys, more=STANDBY + KEYS + ANYONE, broker="mqtt") == []


def test_a_pair_of_controllers_that_trusts_any_key_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = STANDBY + KEYS + ANYONE + "[carrousel]\nstandby = true\n"
    [warning] = warned(tmp_path, capsys, more=pair, broker="mqtt")
    assert warning.startswith("carrousel.standby_keys: anyone who can write to the NATS cluster")
    trusted = pair + KEYS.replace("keys", "standby_keys")
    assert warned(tmp_path, capsys, more=trusted, broker="mqtt") == []


def test_each_unit_that_reads_a_credential_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease store's for the services that are one of a pair, the displays' for each of them."""
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    monkeypatch.setattr(
        check, "missing_credential", partial(missing_credential, units=(SYSTEMD,), stores=())
    )
    login = '[web]\nusername = "tv"\npassword_credential = "tv"\n'
    other = f'{STANDBY}{KEYS}creds_credential = "other"\n{ANYONE}[carrousel]\nstandby = true\n'
    other += KEYS.replace("keys", "standby_keys") + login

    def units(configuration: str) -> list[str]:
        file = tmp_path / "novamas.toml"
        file.write_text(configuration)
        assert main(["check", str(file)]) == 0
        lines = capsys.readouterr().out.splitlines()
        return [line.rpartition("systemctl edit ")[2] for line in lines if "does not load" in line]

    whole = MAIN.format(more=other, driver="cammegh-ss2", options="", broker="mqtt")
    daemon, carrousel, web = (f"novamas{name}.service`" for name in ("", "-carrousel", "-web"))
    assert units(whole) == [web, daemon, carrousel]
    assert units(whole.replace("standby = true\n", "")) == [web, daemon]
    output = '[[output]]\nport = "/dev/ttyUSB0"\ntable = "ruleta-1"\n'
    assert units(f"{whole}{output}") == [web, "novamas-output.service`", daemon, carrousel]


def test_it_is_known_which_unit_passes_each_credential() -> None:
    """For each section that names one there is a unit."""
    import msgspec

    def named(kind: type[msgspec.Struct]) -> bool:
        return any(each.endswith("_credential") for each in kind.__struct_fields__)

    sections = {
        field.name
        for field in msgspec.structs.fields(Configuration)
        for kind in (field.type, *getattr(field.type, "__args__", ()))
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and named(kind)
    }
    assert sections == CREDENTIAL_UNITS.keys()


FAR = "192.0.2.7"
BOOKMARK = """[[bookmark]]
id = "video"
kind = "webhook"
address = "{}://{}/"
events = ["round.result"]
"""
WEBHOOK = """[[webhook]]
id = "shop"
address = "{}://{}/hidden?token=hidden"
secret_file = "none"
"""
CLEAR_LINKS = {
    "archive.site[0].url": (
        '[archive]\n[[archive.site]]\nid = "other"\nurl = "{}://{}:1883"\n'
        'keys = {{ n = "' + "0" * 64 + '" }}\n',
        "mqtt",
        "mqtts",
    ),
    "standby.servers": (
        '[standby]\nservers = ["{}://{}:4222"]\n' + KEYS + ANYONE,
        "nats",
        "tls",
    ),
    "webhook[0].address": (WEBHOOK, "http", "https"),
    "bookmark[0].address": ("[archive]\n" + BOOKMARK, "http", "https"),
    "archive.database": (
        '[archive]\ndatabase = "{}@{}/novamas?passfile=/hidden{}"\n',
        "postgresql://novamas",
        "",
    ),
    "web.listen": ('[api]\ntokens = "t"\n[web]\nlisten = "{1}:8080"\n', "http", ""),
}


@pytest.mark.parametrize("place", CLEAR_LINKS)
def test_a_connection_in_clear_to_another_machine_is_reported(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, clear, encrypted = CLEAR_LINKS[place]
    broker = "mqtt" if place == "standby.servers" else "embedded"

    def about(scheme: str, host: str, more: str = "") -> list[str]:
        found = warned(tmp_path, capsys, text.format(scheme, host, more), broker=broker)
        return [line for line in found if "not encrypted" in line]

    [warning] = about(clear, FAR)
    assert warning.startswith(f"{place}: {clear.partition('://')[0]}://{FAR}")
    assert "any machine on its way can read what is sent" in warning
    assert "hidden" not in warning
    assert about(clear, "127.0.0.1") == []
    assert about(clear, "localhost") == []
    if encrypted:
        assert about(encrypted, FAR) == []


def test_a_database_that_requires_tls_and_a_unix_socket_are_not_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for address in (
        f"postgresql://novamas@{FAR}/novamas?sslmode=verify-full",
        "postgresql:///novamas?host=/run/postgresql&user=novamas",
    ):
        more = f'[archive]\ndatabase = "{address}"\n'
        assert not [line for line in warned(tmp_path, capsys, more) if "not encrypted" in line]
