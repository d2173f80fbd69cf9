"""``python -m subscribers.web --settings JSON``: the web server. ``novamas web`` starts it with the
settings of a configuration file.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import resource
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import uvicorn

from common import clock
from common.broker.certificates import file_expiry_warning
from common.command_line import end_process
from common.log import structlog
from common.new_file import replace_file
from common.system_errors import describe_system_error
from subscribers.console.admission import SignInUnavailableError
from subscribers.display.round_store import RoundStore
from subscribers.essential import end_at_signal, ending_process, essential
from subscribers.feed.floor import Floor
from subscribers.feed.worlds import now
from subscribers.service_log import log_lines
from subscribers.web.app import WebApplication, app
from subscribers.web.connections import BrowserConnection, BrowserLoop
from subscribers.web.keypads import Keypads
from subscribers.web.pit import Pit
from subscribers.web.proxy import Proxies
from subscribers.web.receive import receivers
from subscribers.web.settings import WebSettings, on_loopback
from subscribers.web.surveillance import SurveillancePages
from subscribers.web.tables import Pictures

SHUTDOWN_TIMEOUT_SECONDS = 5
"""Maximum time in seconds for open requests when the server shuts down; the unit allows ten."""
DEAD_PEER_SECONDS = 30
"""Time after which a browser that reads nothing is disconnected."""
SEND_BUFFER_BYTES = 1 << 16
"""Kernel buffer for a slow browser."""
MAX_OTHER_REQUESTS = 200
"""Maximum number of simultaneous requests besides the streams."""


def main(argv: list[str] | None = None) -> int:
    """Serve until a signal. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m subscribers.web", description=__doc__)
    parser.add_argument("--settings", required=True, metavar="JSON", help="made by novamas web")
    settings = msgspec.json.decode(parser.parse_args(argv).settings, type=WebSettings)
    _log(settings)
    _many_files()
    try:
        listening = _listening(settings.host, settings.port)
    except OSError as error:
        print(  # noqa: T201
            f"novamas web: {settings.host}:{settings.port}: {describe_system_error(error)}; "
            "choose another address with `listen` of [web]",
            file=sys.stderr,
        )
        return 1
    floor = Floor(
        {table.id: table.simulated for table in settings.tables},
        now,
        {jackpot.id: jackpot.simulated for jackpot in settings.jackpots},
    )
    web = WebApplication(
        settings,
        floor,
        Pictures(floor, RoundStore(Path(settings.state), _log_store_error), dealer=settings.dealer),
    )
    web.pit = _pit(web)
    if isinstance(web.pit, str):
        if settings.signed_in:
            print(  # noqa: T201
                f"novamas web: displays require a sign-in, which is impossible: {web.pit}. "
                'Set displays = "open" in [web] to show them to everyone who can reach the server',
                file=sys.stderr,
            )
            listening.close()
            return 1
        if settings.pit is not None:
            structlog.get_logger().warning("no console", reason=web.pit)
    else:
        web.keypads = Keypads(web.pit, floor, settings.keypads)
        web.surveillance = SurveillancePages(web.pit, settings, lambda: web.alive)
    BrowserConnection.proxies = Proxies(settings.proxies)
    api_streams = 0 if settings.api is None else settings.api.streams
    config = uvicorn.Config(
        app(web, lambda _: _serving(web, listening)),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=BrowserConnection,
        loop=f"{BrowserLoop.__module__}:{BrowserLoop.__name__}",
        ws="none",
        lifespan="on",
        ssl_certfile=settings.cert_file,
        ssl_keyfile=settings.key_file,
        timeout_keep_alive=15,
        limit_concurrency=settings.streams + api_streams + MAX_OTHER_REQUESTS,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_SECONDS,
    )
    _Server(config, web).run(sockets=[listening])
    return 0


def _listening(host: str, port: int) -> socket.socket:
    """Return the listening socket. Connections inherit its options: the kernel closes one whose
    peer is gone or reads nothing, and drops what is queued in it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.create_server((host, port), family=family, backlog=512)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, DEAD_PEER_SECONDS)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_PEER_SECONDS * 1000)
    return made


def _many_files() -> None:
    """Raise the limit of open files to this user's maximum: each browser uses one. Under systemd
    the unit sets the limit.
    """
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))


def _pit(web: WebApplication) -> Pit | str:
    """Return the console, or the reason why it is unavailable."""
    settings = web.settings
    if settings.pit is None:
        return "this server has no console: set pin_keys and pepper_file in [web]"
    if not on_loopback(settings.host) and not settings.secure:
        return (
            f"the console does not start at {settings.host} without TLS, because others could read "
            'PINs; set cert_file and key_file in [web], or tls = "proxy" if TLS ends at a proxy, '
            "or listen at 127.0.0.1"
        )
    try:
        return Pit(settings.pit, settings, web.floor, lambda: web.alive, web.pictures.rounds)
    except SignInUnavailableError as error:
        return f"the console does not start: {error}"


class _Server(uvicorn.Server):
    """A server that also receives from the broker, and shuts down if that fails, because its pages
    would look current. It ends the streams at shutdown, so that it need not wait for browsers.
    """

    def __init__(self, config: uvicorn.Config, web: WebApplication) -> None:
        super().__init__(config)
        self._web = web

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal. Raises the error of a receiving task that ended."""
        with ending_process():
            try:
                async with asyncio.TaskGroup() as group:
                    listening = [
                        group.create_task(essential(name, work), name=name)
                        for name, work in receivers(self._web)
                    ]
                    await super().serve(sockets)
                    for task in listening:
                        task.cancel()
            finally:
                self._web.end()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Shut down at a signal, with exit code 0."""
        end_at_signal(self._end)
        yield

    def _end(self) -> None:
        self._web.end()
        self.should_exit = True


@contextlib.asynccontextmanager
async def _serving(web: WebApplication, listening: socket.socket) -> AsyncIterator[None]:
    host, port = listening.getsockname()[:2]
    scheme = "https" if web.settings.cert_file else "http"
    address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{web.settings.base}"
    structlog.get_logger().info("web server answers", address=address)
    if expiry := file_expiry_warning(web.settings.cert_file, clock.wall()):
        structlog.get_logger().warning(
            "the certificate ends; renew it", file=web.settings.cert_file, reason=expiry
        )
    _ready(web.settings.ready, address)
    yield


def _ready(path: str | None, address: str) -> None:
    if path is not None:
        replace_file(Path(path), f"{address}\n".encode())


def _log_store_error(event: str, reason: str) -> None:
    structlog.get_logger().error(event, reason=reason)


def _log(settings: WebSettings) -> None:
    """Log one line per event to standard error, like the daemon."""
    log_lines(settings.log)
    logging.basicConfig(level=logging.WARNING)
    # logged when a stream ends because its browser reads no more; /metrics counts these
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: "without completing response" not in record.getMessage()
    )


if __name__ == "__main__":
    end_process(main())
