"""The package in examples/extension, built and installed in an environment of its own: a driver in
the daemon, an adapter in the webhooks, and its digest in the journal.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, until_open, until_said
from tests.support.daemon.process import Daemon, configuration
from tests.support.devices.parts import Pty
from tests.support.video.receivers import HTTPReceiver
from tests.support.waiting import until
from tests.support.webhooks.program import NOVAMAS, Webhooks, secret

ROOT = Path(__file__).parents[2]
KEPT_SECONDS = 1.5
"""Longer than a driver that says nothing about it takes bytes for kept ones, which give no result.
"""
EXAMPLE = ROOT / "examples" / "extension"

pytestmark = pytest.mark.usefixtures("programs")


class Environment:
    """An environment with this program, into which packages can be installed."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = str(folder / "bin" / "python")
        self.packages = Path(
            self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        )
        ours = f"{ROOT}\n{sysconfig.get_path('purelib')}\n"
        (self.packages / "novamas.pth").write_text(ours)

    def run(self, *words: str, status: int | None = 0) -> str:
        """Run Python, and return what it prints. ``status``: None for any."""
        done = subprocess.run(
            [self.python, *words], capture_output=True, text=True, check=False, cwd=ROOT
        )
        assert status in (None, done.returncode), done.stdout + done.stderr
        return done.stdout + done.stderr

    def novamas(self, *words: str, status: int | None = 0) -> str:
        return self.run("-c", NOVAMAS, *words, status=status)

    def install(self, source: Path) -> None:
        self.run(
            *("-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-index"),
            *(
                "--no-build-isolation",
                "--no-deps",
                "--force-reinstall",
                "--no-warn-script-location",
            ),
            *("--target", str(self.packages), "--upgrade", str(source)),
        )


def copied(folder: Path) -> Path:
    """The example in a folder that the build may write to."""
    for path in EXAMPLE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts and "build" not in path.parts:
            target = folder / path.relative_to(EXAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


@pytest.mark.essential
def test_a_package_from_outside_decodes_a_device_and_writes_a_request(
    tmp_path: Path,
    ending: ExitStack,
    mosquitto: Mosquitto,
    subscribe: Callable[..., Subscriber],
    tell: Callable[[str, Callable[[], str]], None],
) -> None:
    port = Pty(tmp_path)
    ending.callback(port.unplug)
    receiver = HTTPReceiver()
    ending.callback(receiver.stop)
    secret(tmp_path)
    enabled = '\n[extensions]\ndrivers = ["acme-w1"]\nwebhooks = ["acme-chat"]\n'
    text = configuration(
        mosquitto.port,
        f"""
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"
settings = {{ phases = "person" }}

[[table.device]]
id = "wheel"
driver = "acme-w1"
link = "{port.url}"

[[webhook]]
id = "chat"
address = "{receiver.address}/chat"
secret_file = "{tmp_path / "hook.secret"}"
adapter = "acme-chat"
""",
    )
    file = tmp_path / "novamas.toml"
    environment = Environment(tmp_path / "environment")

    # without the package, and without the configuration naming it
    file.write_text(text)
    told = environment.novamas("check", str(file), status=1)
    assert "no driver 'acme-w1'" in told
    assert "add 'acme-chat' to `webhooks` of [extensions]" in told
    file.write_text(text + enabled)
    told = environment.novamas("check", str(file), status=1)
    assert "extensions.drivers[0]: extension acme-w1: no installed package offers it" in told
    assert "docs/engineer/extensions.md" in told
    source = copied(tmp_path / "source")
    environment.install(source)
    file.write_text(text)
    assert "no driver 'acme-w1'" in environment.novamas("check", str(file), status=1)
    file.write_text(text + enabled)
    environment.novamas("check", str(file))

    # at work
    run = Daemon(tmp_path, text + enabled)
    run.python = environment.python
    ending.callback(tell, "log of the daemon", run.log)
    ending.callback(run.kill)
    run.start()
    hooks = tmp_path / "webhooks"
    hooks.mkdir()
    service = Webhooks(hooks, text + enabled)
    service.python = environment.python
    ending.callback(tell, "log of the webhooks", service.log)
    ending.callback(service.kill)
    service.start()
    service.until_logged("connected")
    assert "acme-chat of acme-novamas 1.0, sha256" in service.logged("adapter")[0]["extension"]
    subscriber = subscribe(mosquitto.port)
    until("the table", lambda: subscriber.latest("novamas/v1/palma/r1/state"), run.log)
    until_open(subscriber, run, "r1", "wheel")
    time.sleep(KEPT_SECONDS)
    assert command(subscriber, "session.open")["ok"]
    assert command(subscriber, "bets.open")["ok"]
    assert command(subscriber, "bets.close")["ok"]
    port.say(b"N:17\n")
    [result] = until_said(subscriber, "round.result", 1)
    assert result["outcome"]["number"] == 17
    until("the request", lambda: receiver.requests, service.log)
    assert [request.told for request in receiver.requests] == [{"text": "r1: 17"}]
    assert run.stop() == 0
    assert service.stop() == 0

    # what an inspector sees
    journal = str(tmp_path / "journal.sqlite3")
    page = environment.novamas("audit", journal, "--text", "--extension", "acme-w1")
    assert "Extension acme-w1 of acme-novamas 1.0, sha256 " in page
    assert "PROVED: every reading and every event." in page
    assert "Extension   acme-w1 of acme-novamas 1.0, sha256 " in environment.novamas(
        "verify", journal, "--text"
    )
    missing = environment.novamas("audit", journal, "--text", status=3)
    assert "audit with --extension acme-w1" in " ".join(missing.split())
    assert "it is not loaded here" in missing
    told = environment.novamas("doctor", str(file), status=None)
    assert "extension acme-w1: as the daemon has loaded it" in told

    # another content under the same version
    module = source / "acme_novamas" / "wheel.py"
    module.write_text(module.read_text() + "\n# changed\n")
    environment.install(source)
    told = " ".join(environment.novamas("doctor", str(file), status=None).split())
    assert "its files changed: the daemon has loaded acme-novamas 1.0" in told
    page = environment.novamas("audit", journal, "--text", "--extension", "acme-w1")
    assert "a difference may come from that" in page


def test_what_cannot_be_loaded_is_an_error_in_words(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    source = copied(tmp_path / "source")
    project = source / "pyproject.toml"
    text = project.read_text()
    recording = str(ROOT / "tests" / "recordings" / "none.txt")

    def told(name: str, lines: str, module: str = "") -> str:
        project.write_text(text.replace('acme-w1 = "acme_novamas.wheel:DRIVER"', lines))
        (source / "acme_novamas" / "other.py").write_text(module)
        environment.install(source)
        words = ("decode", name, recording, "--extension", name)
        return environment.novamas(*words, status=1)

    assert "no extension replaces it" in told("saturn", 'saturn = "acme_novamas.wheel:DRIVER"')
    assert "its driver is called 'acme-w1', not 'other'" in told(
        "other", 'other = "acme_novamas.wheel:DRIVER"'
    )
    assert "it is not a devices.codec.Driver" in told(
        "other", 'other = "acme_novamas.other:DRIVER"', "DRIVER = 1\n"
    )
    assert "the module nothing_there is missing" in told(
        "other", 'other = "acme_novamas.other:DRIVER"', "import nothing_there\n"
    )
    failed = told("other", 'other = "acme_novamas.other:DRIVER"', 'raise RuntimeError("secret")\n')
    assert "it fails with RuntimeError as it is loaded" in failed
    assert "secret" not in failed
    assert "it fails with AttributeError" in told("other", 'other = "acme_novamas.other:NONE"')
    assert "no installed package offers it" in told("absent", 'other = "acme_novamas.other:NONE"')
    assert "a name has the letters" in told("A/b", 'other = "acme_novamas.other:NONE"')


def test_the_digest_covers_each_file_that_is_installed_and_no_cache(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.install(copied(tmp_path / "source"))
    ask = (
        "from common.extensions import installed_record as r; print(r('drivers', 'acme-w1').digest)"
    )

    def digest() -> str:
        return environment.run("-c", ask).strip()

    first = digest()
    assert len(first) == 64
    environment.run("-c", "import acme_novamas.wheel")  # writes a cache
    assert digest() == first
    added = environment.packages / "acme_novamas" / "added.py"
    added.write_text("")
    assert digest() != first
    added.unlink()
    module = environment.packages / "acme_novamas" / "wheel.py"
    module.write_text(module.read_text() + " ")
    assert digest() != first
    again = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert "no installed package offers it" in again.stderr
