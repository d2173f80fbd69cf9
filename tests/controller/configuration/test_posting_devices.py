"""Devices that post: mistakes in their addresses, and which of their files are secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.configuration.certificates import certificate_files
from controller.configuration.file import load
from controller.configuration.secrets import secret_files
from controller.configuration.settings import ConfigurationError
from controller.configuration.unencrypted import unencrypted
from controller.doctor import post_listeners
from tests.support.brokers.mosquitto import free_port
from tests.support.devices.described import FOLDER

HEAD = """\
[site]
id = "casino"
[broker]
url = "embedded://127.0.0.1:1883"
[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "BAL05"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""


def device(id_: str, link: str) -> str:
    return (
        f'[[table.device]]\nid = "{id_}"\ndriver = "profile"\nlink = "{link}"\n'
        f'options = {{ file = "{FOLDER / "idp-roulette-http.toml"}" }}\nwitness = true\n'
    )


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "camera.token"
    file.write_text("0123456789abcdef\n")
    return file


def write(folder: Path, *devices: str, more: str = "") -> Path:
    file = folder / "novamas.toml"
    file.write_text(HEAD + "".join(devices) + more)
    return file


def mistakes(folder: Path, *devices: str, more: str = "") -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load(write(folder, *devices, more=more))
    return [mistake.what for mistake in caught.value.mistakes]


def test_its_files_are_known(tmp_path: Path, secret: Path) -> None:
    link = f"https://10.0.0.5:8900/a?secret_file={secret}&cert_file=/tls/cert&key_file=/tls/key"
    configuration = load(write(tmp_path, device("camera", link)))
    at = "table[0].device[1].link"
    assert secret_files(configuration) == {
        f"{at}: secret_file": secret,
        f"{at}: key_file": Path("/tls/key"),
    }
    assert certificate_files(configuration) == {f"{at}: cert_file": Path("/tls/cert")}


def test_credentials_of_the_service_are_not_read(tmp_path: Path) -> None:
    link = "http://10.0.0.5:8900/a?secret_file=/run/credentials/novamas.service/camera.token"
    load(write(tmp_path, device("camera", link)))


def test_a_token_that_is_missing_is_reported(tmp_path: Path) -> None:
    link = f"http://10.0.0.5:8900/a?secret_file={tmp_path / 'none'}"
    assert mistakes(tmp_path, device("camera", link)) == [
        f"{tmp_path / 'none'}: cannot be read: No such file or directory"
    ]


@pytest.mark.parametrize("token", ["short", "sixteen characters", "sixteen-chars-\u00f1\u00f1"])
def test_a_token_that_no_header_can_carry_is_reported(tmp_path: Path, token: str) -> None:
    secret = tmp_path / "camera.token"
    secret.write_text(token)
    (what,) = mistakes(tmp_path, device("camera", f"http://10.0.0.5:8900/a?secret_file={secret}"))
    assert what.startswith(f"{secret}: write one token a line, 16 or more ASCII characters")
    assert token not in what


def test_addresses_that_clash_are_reported(tmp_path: Path, secret: Path) -> None:
    link = "http://127.0.0.1:8900/{}?secret_file=" + str(secret)
    metrics = '[metrics]\nlisten = "127.0.0.1:8900"\n'
    (what,) = mistakes(tmp_path, device("camera", link.format("a")), more=metrics)
    assert what == "127.0.0.1:8900 is where metrics.listen listens; choose another port"
    two = device("one", link.format("a")), device("two", link.format("a"))
    assert [each for each in mistakes(tmp_path, *two) if "another device is on" in each]
    other = device("two", link.format("b").replace("127.0.0.1", "0.0.0.0"))
    (what,) = mistakes(tmp_path, two[0], other)
    assert what == "another device that posts to port 8900 has another host or cert_file"
    load(write(tmp_path, two[0], device("two", link.format("b"))))


def test_a_profile_and_its_link_belong_together(tmp_path: Path) -> None:
    (what,) = mistakes(tmp_path, device("camera", "mqtt://127.0.0.1:1883/camera"))
    assert what == "the driver idp-roulette-http needs a http:// link"


def test_the_doctor_says_whether_it_can_listen(tmp_path: Path, secret: Path) -> None:
    link = f"http://127.0.0.1:{free_port()}/a?secret_file={secret}"
    found = post_listeners.check(load(write(tmp_path, device("camera", link))))
    assert [each.level for each in found] == ["note"]
    link = f"http://192.0.2.1:8900/a?secret_file={secret}"
    found = post_listeners.check(load(write(tmp_path, device("camera", link))))
    assert [each.level for each in found] == ["fault"]


def test_links_in_clear_to_other_machines_are_found(tmp_path: Path, secret: Path) -> None:
    def found(host: str, scheme: str, link_scheme: str, more: str = "") -> list[str]:
        link = f"{link_scheme}://{host}:8900/a?secret_file={secret}{more}"
        file = write(tmp_path, device("camera", link), more='[people]\nrequired="accept-the-risk"')
        broker = f"{scheme}://127.0.0.1:1883,{host}:1883"
        file.write_text(file.read_text().replace("embedded://127.0.0.1:1883", broker))
        return list(unencrypted(load(file)))

    broker, post = found("192.0.2.7", "mqtt", "http")
    assert broker.startswith("broker.url: mqtt://192.0.2.7:1883 is not encrypted: any machine on")
    assert "write mqtts://" in broker
    assert post.startswith("table[0].device[1].link: http://192.0.2.7:8900 is not encrypted")
    assert str(secret) not in post
    assert found("localhost", "mqtt", "http") == []
    tls = f"&cert_file={secret}&key_file={secret}"
    assert found("192.0.2.7", "mqtts", "https", tls) == []
