"""Debian's nginx before a web server, as docs/technician/web.md configures it, with TLS."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path
from textwrap import indent

import pytest

from tests.support.brokers.mosquitto import free_port
from tests.support.daemon.certificates import Authority
from tests.support.programs import running
from tests.support.waiting import until

DOCUMENTED = re.compile(r"```nginx\n(.*?)```", re.DOTALL)
PAGE = Path(__file__).parents[2] / "docs/technician/web.md"
CONFIGURATION = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  log_format paths '$request_method $request_uri $status';
  access_log {folder}/access.log paths;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {cert};
    ssl_certificate_key {key};
{location}
  }}
}}
"""


def documented(port: int) -> str:
    """The lines of docs/technician/web.md, for a server at this port."""
    [lines] = DOCUMENTED.findall(PAGE.read_text(encoding="utf-8"))
    assert lines.count("127.0.0.1:8080") == 1
    return str(lines).replace("127.0.0.1:8080", f"127.0.0.1:{port}")


class Nginx:
    """``address``: where browsers come. ``authority``: the file of the CA that signed for it."""

    def __init__(self, folder: Path, location: str, ending: ExitStack) -> None:
        program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            pytest.fail("nginx is not installed; tests/debian-packages names what the tests need")
        folder.mkdir()
        authority = Authority(folder, "authority")
        cert, key = authority.sign("nginx")
        self.authority, self._folder = authority.file, folder
        self.port = free_port()
        file = folder / "nginx.conf"
        file.write_text(
            CONFIGURATION.format(
                folder=folder,
                port=self.port,
                cert=cert,
                key=key,
                location=indent(location, "    "),
            )
        )
        ending.enter_context(
            running(
                [program, "-p", folder, "-c", file, "-e", folder / "error.log"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        until("nginx listens", self._listens)
        self.address = f"https://127.0.0.1:{self.port}"

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def asked(self) -> list[tuple[str, str, int]]:
        """Method, address and status of every request that it has answered."""
        lines = (self._folder / "access.log").read_text().splitlines()
        return [(how, path, int(status)) for how, path, status in map(str.split, lines)]
