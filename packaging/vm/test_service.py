"""The services with a real systemd."""

from __future__ import annotations

import json

import pytest
from guest import PATIENCE, Guest
from play import NODE, SECOND, WHEEL, Simulator, command, open_session, results, until_more

from tests.support.brokers.mosquitto import Subscriber
from tests.support.waiting import until

UNITS = (
    "novamas",
    "novamas-carrousel",
    "novamas-carrousel-verify",
    "novamas-lights",
    "novamas-output",
    "novamas-sign",
    "novamas-surveillance",
    "novamas-surveillance@palma",
    "novamas-web",
)
AS_IT_WAS = "install -m 640 -g novamas /srv/site/novamas.toml /etc/novamas/novamas.toml"
EXPOSURE = 1.5
"""Upper bound of the exposure reported by ``systemd-analyze security``, from 0 (none) to 10."""


def shown(guest: Guest, what: str, unit: str = "novamas") -> str:
    return guest.run(f"systemctl show --value --property {what} {unit}")


def test_the_daemon_is_started_when_it_says_that_it_is_ready(guest: Guest) -> None:
    assert shown(guest, "Type") == "notify"
    assert shown(guest, "ActiveState") == "active"
    assert shown(guest, "StatusText")
    assert shown(guest, "User") == "novamas"
    assert guest.run("stat --format %U:%a /var/lib/novamas/journal.sqlite3") == "novamas:600"


@pytest.mark.parametrize("unit", UNITS)
def test_the_sandbox_is_tight_as_it_is_installed(guest: Guest, unit: str) -> None:
    """With the package's additions, and those of the site for a USB scanner."""
    name = f"{unit}.service"
    told = guest.run(f"systemd-analyze security --no-pager {name} | tail -n 1")
    print(told)
    exposed = float(told.split(f"{name}: ")[1].split()[0])
    assert exposed < EXPOSURE, told


def test_the_sandbox_holds(guest: Guest) -> None:
    """Permissions of the daemon's process, as seen from inside its namespaces and cgroup."""
    main = shown(guest, "MainPID")
    inside = (
        f"nsenter --target {main} --mount setpriv --reuid novamas --regid novamas --init-groups"
    )
    for path in ("/etc/novamas/x", "/usr/x", "/var/log/x", "/var/lib/x", "/home"):
        told = guest.run(f"{inside} touch {path} 2>&1 || true")
        assert "Read-only" in told or "denied" in told, (path, told)
    assert "denied" in guest.run(f"{inside} ls /root 2>&1 || true")
    status = dict(line.split(":", 1) for line in guest.run(f"cat /proc/{main}/status").splitlines())
    assert {status[f"Cap{kind}"].strip() for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {
        "0" * 16
    }
    assert (status["NoNewPrivs"].strip(), status["Seccomp"].strip()) == ("1", "2")
    assert "Max core file size        0" in guest.run(f"cat /proc/{main}/limits")
    # A process in the daemon's cgroup may open no device but those that the unit lists.
    opens = (
        "echo $$ >/sys/fs/cgroup/system.slice/novamas.service/cgroup.procs; "
        "dd if=/dev/vda of=/dev/null count=1 2>&1 || true"
    )
    assert "Operation not permitted" in guest.run(f"sh -c '{opens}'")


def test_the_password_reaches_the_daemon_as_a_credential_alone(
    guest: Guest, heard: Subscriber
) -> None:
    """The broker refuses a wrong password, and the daemon is connected."""
    assert "not authorised" in guest.run(
        "mosquitto_pub -h 127.0.0.1 -u novamas -P wrong -t x -n 2>&1 || true"
    )
    until("online", lambda: (heard.latest(f"{NODE}/status") or {}).get("status") == "online")
    main = shown(guest, "MainPID")
    assert guest.run(
        f"nsenter --target {main} --mount cat /run/credentials/novamas.service/mqtt.password"
    ) == guest.run("cat /etc/credstore/novamas.mqtt.password")
    assert "word-of-the-daemon" not in guest.run(f"tr '\\0' '\\n' </proc/{main}/environ")
    as_another = "setpriv --reuid mosquitto --regid mosquitto --clear-groups"
    told = guest.run(
        f"{as_another} cat /run/credentials/novamas.service/mqtt.password 2>&1 || true"
    )
    assert "denied" in told


def test_the_log_is_json_in_the_journal_of_systemd(guest: Guest) -> None:
    lines = guest.run("journalctl -o cat _COMM=novamas | head -n 40").splitlines()
    told = [json.loads(line) for line in lines]
    assert "daemon up" in {line["event"] for line in told}
    assert all({"timestamp", "level"} <= line.keys() for line in told)


def test_a_daemon_that_is_stuck_is_killed_and_started_again(
    guest: Guest, heard: Subscriber
) -> None:
    until("online", lambda: heard.latest(f"{NODE}/status"))
    boot, main = heard.latest(f"{NODE}/status")["boot"], shown(guest, "MainPID")
    restarts = int(shown(guest, "NRestarts"))
    guest.run(f"kill -STOP {main}")
    guest.until(
        "another process is ready",
        f'[ "$(systemctl show --value -p MainPID novamas)" != {main} ] && '
        '[ "$(systemctl show --value -p SubState novamas)" = running ]',
    )
    assert int(shown(guest, "NRestarts")) == restarts + 1
    said = guest.run("journalctl -u novamas -o cat --no-pager | grep -i watchdog")
    assert "Watchdog timeout" in said
    until(
        "another boot is online",
        lambda: (
            heard.latest(f"{NODE}/status")["boot"] != boot
            and heard.latest(f"{NODE}/status")["status"] == "online"
        ),
        timeout=PATIENCE,
    )


def test_it_is_started_again_however_often_it_is_killed(guest: Guest) -> None:
    """More often than systemd's default limit of five times in ten seconds."""
    assert shown(guest, "StartLimitIntervalUSec") == "0"
    restarts = int(shown(guest, "NRestarts"))
    for _ in range(6):
        main = shown(guest, "MainPID")
        guest.run(f"kill -KILL {main}")
        guest.until(
            "another process",
            f'main=$(systemctl show --value -p MainPID novamas) && [ "$main" != {main} ] && '
            '[ "$main" != 0 ]',
        )
    guest.until("it is ready", '[ "$(systemctl show --value -p SubState novamas)" = running ]')
    assert int(shown(guest, "NRestarts")) == restarts + 6


def test_a_mistake_in_the_configuration_is_not_tried_again(guest: Guest) -> None:
    guest.run("sed -i '1i mistake = 1' /etc/novamas/novamas.toml")
    guest.run("systemctl restart novamas || true")
    guest.until("it has failed", '[ "$(systemctl show --value -p ActiveState novamas)" = failed ]')
    assert shown(guest, "ExecMainStatus") == "78"
    guest.run(f"{AS_IT_WAS}; systemctl start novamas")
    assert shown(guest, "ActiveState") == "active"


def test_a_reload_adds_a_table_while_the_other_plays(
    guest: Guest, heard: Subscriber, wheel: Simulator
) -> None:
    until_more(heard, WHEEL, "round.result", 0)
    main = shown(guest, "MainPID")
    guest.run(
        "systemd-run --quiet --unit=second-wheel "
        "novamas simulate wheel --tcp 127.0.0.1:4002 --games-per-hour 120"
    )
    guest.run("cat /srv/site/ruleta-2.toml >>/etc/novamas/novamas.toml")
    try:
        guest.run("systemctl reload novamas")
        assert "ruleta-2: added" in guest.run("journalctl -u novamas -o cat --no-pager")
        open_session(heard, SECOND)
        until_more(heard, SECOND, "round.result", 0)
        until_more(heard, WHEEL, "round.result", len(results(heard, WHEEL)))
    finally:
        command(heard, SECOND, "session.close")
        guest.run(f"{AS_IT_WAS}; systemctl reload novamas")
        guest.run("systemctl stop second-wheel")
    assert "ruleta-2: removed" in guest.run("journalctl -u novamas -o cat --no-pager")
    assert shown(guest, "MainPID") == main
    told = [each for each in heard.events() if each["table"] == "ruleta-1"]
    assert len({each["boot"] for each in told}) == 1
    numbers = [each["seq"] for each in told]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_a_mistaken_file_is_refused_by_the_reload(guest: Guest) -> None:
    main = shown(guest, "MainPID")
    guest.run("sed -i '1i mistake = 1' /etc/novamas/novamas.toml")
    assert "failed" in guest.run("systemctl reload novamas 2>&1 || true").lower()
    guest.run(AS_IT_WAS)
    assert (shown(guest, "MainPID"), shown(guest, "ActiveState")) == (main, "active")
    guest.run("systemctl reload novamas")


def test_an_instance_of_the_recorder_runs_beside_the_daemon(
    guest: Guest, heard: Subscriber, wheel: Simulator
) -> None:
    """It has a separate user, state directory and configuration file."""
    guest.run(
        "install -m 640 -g novamas /srv/site/surveillance-palma.toml /etc/novamas/ && "
        "systemctl start novamas-surveillance@palma"
    )
    unit = "novamas-surveillance@palma"
    until_more(heard, WHEEL, "round.result", 0)
    archive = "/var/lib/private/novamas-surveillance-palma/archive.sqlite3"
    count = (
        "import sqlite3, sys; "
        f'archive = sqlite3.connect("file:{archive}?mode=ro", uri=True); '
        'sys.exit(not archive.execute("SELECT count(*) FROM record").fetchone()[0])'
    )
    guest.until("it has archived something", f"python3 -c '{count}'")
    assert shown(guest, "ActiveState", unit) == "active"
    user = guest.run(f"ps -o user= -p {shown(guest, 'MainPID', unit)}")
    assert user not in ("root", "novamas")
    guest.run(f"systemctl stop {unit}")
