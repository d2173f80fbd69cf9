"""A real PostgreSQL server at a separate socket."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tests.support.waiting import until

PROGRAMS = "/usr/lib/postgresql"
OTHER = "postgres"
"""As whom the server runs where we are root, which it refuses to be."""


class Postgres:
    """A server, with a new folder. ``settings``: of its configuration."""

    def __init__(self, **settings: str) -> None:
        found = sorted(Path(PROGRAMS).glob("*/bin/postgres"), key=lambda p: int(p.parts[-3]))
        if not found:
            pytest.fail(
                "PostgreSQL is not installed; tests/debian-packages names what the tests need"
            )
        self._programs = found[-1].parent
        self.user = OTHER if os.geteuid() == 0 else getpass.getuser()
        self._as = self.user if os.geteuid() == 0 else None
        # Near the root: the path of a socket has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="novamas-pg-", dir="/tmp"))
        shutil.chown(self.folder, self.user)
        self.process: subprocess.Popen[bytes] | None = None
        self._settings = {"fsync": "off", "shared_buffers": "16MB", **settings}
        self._made = 0
        self._run("initdb", "--no-sync", "--auth=trust", "--encoding=UTF8", "--no-locale",
                  f"--username={self.user}", f"--pgdata={self.folder}/data")  # fmt: skip

    def start(self) -> None:
        """Where it runs, nothing happens."""
        if self.process is not None:
            return
        given = {"listen_addresses": "", "unix_socket_directories": str(self.folder)}
        options = [f"--{name}={value}" for name, value in {**given, **self._settings}.items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self._programs / "postgres", "-D", self.folder / "data", *options],
                stdout=log,
                stderr=log,
                cwd="/",
                user=self._as,
            )
        until("PostgreSQL answers", self._answers, self.log)

    def kill(self) -> None:
        """At once, as when the machine loses its power."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
            self.process = None

    def hang(self) -> None:
        """It does nothing from now on, as when its disk does not answer; its connections stay."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        for child in self._children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGSTOP)

    def go_on(self) -> None:
        """It does on what it did."""
        if self.process is not None:
            for each in (self.process.pid, *self._children()):
                with suppress(ProcessLookupError):  # it has ended since it was listed
                    os.kill(each, signal.SIGCONT)

    def _children(self) -> list[int]:
        assert self.process is not None
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(each) for each in listed.split()]

    def database(self) -> str:
        """A new database: where an archive may be begun."""
        self._made += 1
        name = f"archive_{self._made}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.address(name)

    def address(self, database: str) -> str:
        return f"postgresql://{self.user}@/{database}?host={self.folder}"

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log()
        try:
            psycopg.connect(self.address("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *options: str) -> None:
        subprocess.run(
            [self._programs / program, *options],
            check=True,
            capture_output=True,
            cwd="/",
            user=self._as,
        )
