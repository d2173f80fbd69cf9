"""``novamas check``: a summary, or every mistake."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from controller.cli import main
from controller.configuration.file import load
from controller.doctor import keys
from tests.support.daemon.certificates import Authority

SAMPLE = Path(__file__).parents[3] / "docs" / "technician" / "novamas.toml"


def test_the_sample_is_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(SAMPLE)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(
        "ok: site casino-mayor, node node-1, broker mqtt://127.0.0.1:1883\n  ruleta-1: "
        "roulette-french BAL05: wheel ("
    )
    assert captured.err == ""


def test_every_mistake_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        SAMPLE.read_text().replace("keepalive", "keepaliv").replace('"ruleta-2"', '"ruleta 2"')
    )
    assert main(["check", str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [
        line.removeprefix(f"{file}: ").split(": ")[1] for line in captured.err.splitlines()[:-1]
    ] == [
        "broker.keepaliv",
        "table[1].id",
    ]
    assert captured.err.splitlines()[-1] == f"novamas: 2 errors in {file}"


def test_a_wrong_decree_is_reported_beside_a_wrong_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        SAMPLE.read_text()
        .replace('"roulette-french"', '"roulete-french"', 1)
        .replace('"BAL05"', '"BAL50"', 1)
    )
    assert main(["check", str(file)]) == 1
    errors = capsys.readouterr().err
    assert "no game 'roulete-french'; did you mean `roulette-french`?" in errors
    assert "no decree 'BAL50'; did you mean BAL" in errors


def test_a_credential_that_only_the_service_can_read_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "novamas.toml"
    text = SAMPLE.read_text()
    assert "password_credential = " in text
    file.write_text(text)
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    assert main(["check", str(file)]) == 0
    assert "note: broker.password_credential: systemd passes" in capsys.readouterr().out
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert main(["check", str(file)]) == 0
    assert "note:" not in capsys.readouterr().out


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that everybody can enter; pytest's own folders are private."""
    with TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


HEAD = """
[site]
id = "palma"
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


def secured(folder: Path, **files: Path) -> Path:
    file = folder / "novamas.toml"
    keys = "\n".join(f'{key} = "{path}"' for key, path in files.items())
    text = SAMPLE.read_text().replace("mqtt://", "mqtts://", 1)
    file.write_text(text.replace("[broker]", f"[broker]\n{keys}", 1))
    return file


def test_a_secret_that_everybody_can_read_is_reported(
    reachable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authority = Authority(reachable, "casino")
    certificate, key = authority.sign("pit")
    file = secured(reachable, ca_file=authority.file, cert_file=certificate, key_file=key)
    for mode, warned in ((0o600, 0), (0o640, 0), (0o644, 1)):
        key.chmod(mode)
        assert main(["check", str(file)]) == 0
        lines = capsys.readouterr().out.splitlines()
        warning = f"warning: {key}: other users of this machine can read it; run chmod go= on it"
        assert lines.count(warning) == warned
        assert sum(line.startswith("warning: ") for line in lines) == warned


def test_an_unusable_certificate_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authority = Authority(tmp_path, "casino")
    certificate, key = authority.sign("pit")
    _, other = authority.sign("other")
    old, olds = authority.sign("old", expired=3)
    for files, told in (
        ({"cert_file": certificate, "key_file": other}, "key values mismatch"),
        ({"cert_file": old, "key_file": olds}, f"broker.cert_file: {old} has expired on 20"),
        ({"ca_file": key}, f"broker.ca_file {key}: "),
    ):
        assert main(["check", str(secured(tmp_path, **files))]) == 1
        error = capsys.readouterr().err
        assert told.lower() in error.lower()
        assert error.endswith(f"novamas: 1 error in {tmp_path / 'novamas.toml'}\n")


def test_every_certificate_that_expires_soon_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of broker, web server, other services and the pair; an expired one is a mistake."""
    authority = Authority(tmp_path, "casino")
    soon, key = authority.sign("soon", ends=20)
    file = tmp_path / "novamas.toml"
    sections = {"web": "", "archive": "", "carrousel": "", "standby": "", "broker": ""}
    own = f'cert_file = "{soon}"\nkey_file = "{key}"\n'
    for section in ("web", "archive", "carrousel"):
        sections[section] = "".join(f"broker_{line}\n" for line in own.splitlines())
    sections["web"] += own
    sections["standby"] = f'servers = ["tls://127.0.0.1:1"]\n{own}'
    sections["broker"] = f'url = "mqtts://127.0.0.1:1"\nca_file = "{authority.file}"\n{own}'
    file.write_text(HEAD + "".join(f"[{name}]\n{keys}" for name, keys in sections.items()))
    places = (
        *("broker.cert_file", "web.cert_file", "web.broker_cert_file"),
        *("carrousel.broker_cert_file", "archive.broker_cert_file", "standby.cert_file"),
    )
    assert main(["check", str(file)]) == 0
    told = capsys.readouterr().out
    for place in places:
        assert f"warning: {place}: {soon}: it ends in 19 days, on 2" in told
    assert told.count("\n  novamas explain certificate.ends\n") == told.count(str(soon))
    levels = {each.about: each.level for each in keys.check(load(file))}
    for place in places:
        assert levels[f"certificate {soon} ({place})"] == "warning"
    authority.sign("soon", expired=2)
    assert main(["check", str(file)]) == 1
    told = capsys.readouterr().err
    for place in places:
        assert f"{place}: {soon} has expired on 2" in told
    levels = {each.about: each.level for each in keys.check(load(file))}
    for place in places:
        assert levels[f"certificate {soon} ({place})"] == "fault"


def test_a_credential_that_is_not_passed_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        SAMPLE.read_text().replace("[journal]", '[journal]\nkey_credential = "sign"\n#')
    )
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / "mqtt.password").write_text("x")
    told = f"warning: journal.key_credential: the credential 'sign' cannot be read in {tmp_path}"
    assert main(["check", str(file)]) == 0
    assert told in capsys.readouterr().out
    (tmp_path / "sign").write_text("x")
    assert main(["check", str(file)]) == 0
    assert "warning" not in capsys.readouterr().out
