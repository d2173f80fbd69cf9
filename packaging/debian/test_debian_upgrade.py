"""Debian 12 is upgraded to 13 with the package installed. `make deb-test`; requires Debian's
archives. The tests must run in this order.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import roots

ROOT = roots.CHECKOUT / "build" / "deb-upgrade-root"
STATUS = "dpkg-query --show --showformat='${db:Status-Abbrev}${Version}' novamas"
DAEMON = "setpriv --reuid novamas --regid novamas --clear-groups"
CHECK = f"{DAEMON} novamas check /etc/novamas/novamas.toml"


@pytest.fixture(scope="module", autouse=True)
def debian_12() -> None:
    roots.lay("12", ROOT)
    install("12")
    roots.inside(
        ROOT,
        "novamas init /etc/novamas/novamas.toml --site casino-prueba --decree ARA02 --simulated"
        " --broker mqtt://127.0.0.1:1883 && chgrp novamas /etc/novamas/novamas.toml"
        " && chmod 640 /etc/novamas/novamas.toml",
    )


def install(number: str) -> str:
    package: Path = roots.package("HEAD", "build", number)
    shutil.copyfile(package, ROOT / "novamas.deb")
    return roots.inside(ROOT, "dpkg --install /novamas.deb 2>&1")


def test_the_package_of_12_stays_and_runs_and_the_upgrade_names_that_of_13() -> None:
    lists = ROOT / "etc/apt/sources.list.d"
    for file in lists.iterdir():
        file.unlink()
    (ROOT / "etc/apt/sources.list").unlink(missing_ok=True)
    (lists / "13.sources").write_text(roots.sources("13"))
    if not roots.sources("13").startswith("Types:"):
        (lists / "13.sources").rename(lists / "13.list")
    upgrade = "apt-get update && apt-get --yes -o Dpkg::Options::=--force-confold full-upgrade 2>&1"
    told = roots.inside(ROOT, upgrade, network=True)
    assert "novamas: THIS PACKAGE IS FOR DEBIAN 12, and this is now Debian 13." in told
    assert "+deb13_" in told
    assert roots.inside(ROOT, STATUS).startswith("ii ")
    assert "ok: site casino-prueba" in roots.inside(ROOT, CHECK)
    plan = roots.inside(ROOT, "apt-get --simulate autoremove")
    assert "Remv python3.11" not in plan
    assert "Remv novamas" not in plan


def test_the_package_of_13_replaces_it() -> None:
    assert "THIS PACKAGE" not in install("13")
    assert "+deb13" in roots.inside(ROOT, STATUS)
    assert "ok: site casino-prueba" in roots.inside(ROOT, CHECK)
    python = "readlink --canonicalize /usr/lib/novamas/bin/python3"
    assert roots.inside(ROOT, python) == "/usr/bin/python3.13\n"
    assert roots.inside(ROOT, "ls /usr/lib/novamas/lib") == "python3.13\n"
    roots.inside(ROOT, "apt-get --yes autoremove")
    assert not (ROOT / "usr/bin/python3.11").exists()
    assert "ok: site casino-prueba" in roots.inside(ROOT, CHECK)
