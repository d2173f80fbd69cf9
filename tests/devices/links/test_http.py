"""The link of a device that posts: what its sender is answered, and what a hostile one may try."""

from __future__ import annotations

import base64
import gc
import http.client
import json
import re
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devices.links import LinkFailedError, WriteTimedOutError, http_listener, open_link
from devices.links import http as http_link
from devices.links.http import MAX_POSTS_AT_ONCE, HttpLink, seconds_since_1970
from devices.links.http_listener import (
    MAX_BODY_BYTES,
    MAX_CONNECTIONS_PER_ADDRESS,
    MAX_HEAD_BYTES,
)
from tests.support.brokers.mosquitto import free_port
from tests.support.waiting import TIMEOUT_SECONDS, until

TOKEN = "d3b07384d113edec49eaa6238ad5ff00"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
BODY = b'{"number": 17}'


class Camera:
    """A device that posts, and the link that receives its messages."""

    def __init__(
        self, folder: Path, options: str = "", scheme: str = "http", port: int = 0
    ) -> None:
        self.secret = folder / "camera.token"
        self.secret.write_text(f"{TOKEN}\n")
        self.port = port or free_port()
        self.url = f"{scheme}://127.0.0.1:{self.port}/camera?secret_file={self.secret}{options}"
        link = open_link(self.url)
        assert isinstance(link, HttpLink)
        self.link = link
        self._lines: list[bytes] = []
        self._reading = threading.Lock()
        self._stopped = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with suppress(LinkFailedError):
            while not self._stopped.wait(0.001):  # the lock is free meanwhile
                with self._reading:
                    if line := self.link.read(0.02):
                        self._lines.append(line)

    @property
    def lines(self) -> list[bytes]:
        """All lines, that of the last answer too: a request is answered while its line is read."""
        with self._reading:
            return [*self._lines]

    def stop_reading(self) -> None:
        self._stopped.set()
        self._reader.join()

    def close(self) -> None:
        self.stop_reading()
        self.link.close()

    def post(
        self,
        body: bytes = BODY,
        headers: Mapping[str, str] = {},
        method: str = "POST",
        path: str = "/camera",
    ) -> int:
        """The status of the answer."""
        with closing(self.connection()) as connection:
            connection.request(method, path, body, {**BEARER, **headers})
            return connection.getresponse().status

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)

    def raw(self, data: bytes) -> bytes:
        """Everything that is answered to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), TIMEOUT_SECONDS) as peer:
            answer = b""
            with suppress(OSError):  # the rest of a refused request is not read
                peer.sendall(data)
                peer.shutdown(socket.SHUT_WR)
            with suppress(OSError):
                while part := peer.recv(4096):
                    answer += part
            return answer


@pytest.fixture(autouse=True)
def swift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections follow each other at once."""
    monkeypatch.setattr(http_listener, "ACCEPT_INTERVAL_SECONDS", 0.0)


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[Camera]:
    with closing(Camera(tmp_path)) as camera:
        yield camera


def head(*lines: str) -> bytes:
    return "\r\n".join(("POST /camera HTTP/1.1", "Host: x", *lines, "", "")).encode()


AUTHORIZED = f"Authorization: Bearer {TOKEN}"


def status(answer: bytes) -> int:
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(found[1]) if found else 0


def test_a_message_is_answered_once_the_reader_has_it(camera: Camera) -> None:
    assert camera.post() == 200
    assert camera.lines == [b'post 0 {"number": 17}\n']
    camera.stop_reading()
    answers: list[int] = []
    sender = threading.Thread(target=lambda: answers.append(camera.post(b"2")))
    sender.start()
    until("it waits", camera.link.is_readable)
    assert answers == []
    assert camera.link.read(0) == b"post 0 2\n"
    sender.join()
    assert answers == [200]


def test_what_no_reader_takes_is_refused_and_old_when_it_comes_again(
    camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_link, "TAKEN_TIMEOUT_SECONDS", 0.05)
    camera.stop_reading()
    assert camera.post() == 503
    assert camera.link.read(0) == b""
    monkeypatch.setattr(http_link, "TAKEN_TIMEOUT_SECONDS", TIMEOUT_SECONDS)
    sender = threading.Thread(target=camera.post)
    sender.start()
    until("it waits", camera.link.is_readable)
    assert camera.link.read(0) == b'post 1 {"number": 17}\n'
    sender.join()


def test_a_sender_that_goes_away_takes_its_message_with_it(camera: Camera) -> None:
    camera.stop_reading()
    with socket.create_connection(("127.0.0.1", camera.port)) as peer:
        peer.sendall(head(AUTHORIZED, f"Content-Length: {len(BODY)}") + BODY)
        until("it waits", camera.link.is_readable)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    until("it is withdrawn", lambda: not camera.link._waiting)
    sender = threading.Thread(target=camera.post)
    sender.start()
    lines: list[bytes] = []

    def read() -> bool:
        lines.append(camera.link.read(0))
        return not sender.is_alive()

    until("the second one is answered", read)
    assert [line for line in lines if line] == [b'post 1 {"number": 17}\n']


@pytest.mark.parametrize("name", ["webhook-id", "Idempotency-Key"])
def test_a_message_with_the_same_id_is_passed_on_once(camera: Camera, name: str) -> None:
    assert [camera.post(headers={name: "m1"}) for _ in range(3)] == [200, 200, 200]
    assert camera.post(headers={name: "m2"}) == 200
    assert camera.lines == [b'post 0 {"number": 17}\n'] * 2


def test_a_message_that_was_sent_before_is_old(camera: Camera) -> None:
    now = time.time()
    for headers in (
        {"webhook-timestamp": str(int(now - 60))},
        {"webhook-timestamp": str(int(now + 60))},
        {"webhook-timestamp": "yesterday"},
        {"date": format_datetime(datetime.fromtimestamp(now - 60, UTC), usegmt=True)},
    ):
        assert camera.post(headers=headers) == 200
    assert (
        camera.post(
            headers={"Date": format_datetime(datetime.fromtimestamp(now, UTC), usegmt=True)}
        )
        == 200
    )
    assert [line[5:6] for line in camera.lines] == [b"1", b"1", b"1", b"1", b"0"]


def test_the_time_of_the_message_itself(tmp_path: Path) -> None:
    now = time.time()
    with closing(Camera(tmp_path, "&time=$.arg.at")) as camera:
        for at in (now, now * 1000, str(int(now)), now - 60, None, "x"):
            value = int(at) if isinstance(at, float) else at
            assert camera.post(json.dumps({"arg": {"at": value}}).encode()) == 200
        assert camera.post(b'{"arg": {}}') == 200
        assert [line[5:6] for line in camera.lines] == [b"0", b"0", b"0", b"1", b"1", b"1", b"1"]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (1_700_000_000, 1.7e9),
        (1_700_000_000_000, 1.7e9),
        (1_700_000_000_000_000, 1.7e9),
        ("1700000000.5", 1.7e9 + 0.5),
        ("2023-11-14T22:13:20Z", 1.7e9),
        ("2023-11-14T23:13:20+01:00", 1.7e9),
        ("Tue, 14 Nov 2023 22:13:20 GMT", 1.7e9),
        ("2023-11-14T22:13:20", None),
        (True, None),
        (-1, None),
        ("", None),
        ("9" * 30, None),
    ],
)
def test_times(value: Any, seconds: float | None) -> None:
    assert seconds_since_1970(value) == seconds


def test_a_program_that_sends_a_password_sends_the_token(camera: Camera) -> None:
    pair = base64.b64encode(f"camera:{TOKEN}".encode()).decode()
    assert camera.post(headers={"Authorization": f"Basic {pair}"}) == 200


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        TOKEN,
        "Bearer",
        f"Bearer {TOKEN}x",
        "Bearer x",
        "Basic x",
        f"Digest {TOKEN}",
        "Basic Og==",
    ],
)
def test_a_wrong_token_is_refused(camera: Camera, authorization: str) -> None:
    assert camera.post(headers={"Authorization": authorization}) == 401
    assert camera.lines == []


def test_a_token_can_be_replaced(camera: Camera) -> None:
    replaced = {"Authorization": f"Bearer {'n' * 32}"}
    camera.secret.write_text(f"{'n' * 32}\n{TOKEN}\n")
    assert camera.post() == 200
    camera.secret.write_text(f"{'n' * 32}\n")
    assert camera.post() == 401
    assert camera.post(headers=replaced) == 200
    camera.secret.unlink()
    assert camera.post(headers=replaced) == 503


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_only_post_is_accepted(camera: Camera, method: str) -> None:
    assert camera.post(b"", method=method) == 405


@pytest.mark.parametrize("path", ["/", "/camera/", "/camera2", "/Camera", "//camera", "/%63amera"])
def test_another_path_is_not_found(camera: Camera, path: str) -> None:
    assert camera.post(path=path) == 404


@pytest.mark.parametrize("body", [b"", b"17,", b"\xff", b'{"a": 1, "a": 2}', b"[" * 2000, b"NaN"])
def test_what_is_not_json_is_refused(camera: Camera, body: bytes) -> None:
    assert camera.post(body) == 400
    assert camera.lines == []


def test_sizes_are_bounded(camera: Camera) -> None:
    exact = b'"%b"' % (b"x" * (MAX_BODY_BYTES - 2))
    assert camera.post(exact) == 200
    assert status(camera.raw(head(AUTHORIZED, "Content-Length: 5000"))) == 413
    assert status(camera.raw(head(AUTHORIZED, f"Content-Length: {10**12}"))) == 413
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    assert status(camera.raw(head(AUTHORIZED, "Transfer-Encoding: chunked") + chunk * 3)) == 413
    assert status(camera.raw(head(AUTHORIZED, f"X: {'x' * MAX_HEAD_BYTES}"))) in (400, 431)
    assert len(camera.lines) == 1


def test_chunks_and_expectations_are_understood(camera: Camera) -> None:
    chunked = head(AUTHORIZED, "Transfer-Encoding: chunked") + b'7\r\n{"a":1}\r\n0\r\n\r\n'
    assert status(camera.raw(chunked)) == 200
    expecting = head(AUTHORIZED, "Content-Length: 1", "Expect: 100-continue")
    with socket.create_connection(("127.0.0.1", camera.port), TIMEOUT_SECONDS) as peer:
        peer.sendall(expecting)
        assert status(peer.recv(4096)) == 100
        peer.sendall(b"1")
        assert status(peer.recv(4096)) == 200
    assert camera.lines == [b'post 0 {"a":1}\n', b"post 0 1\n"]


def test_a_connection_has_one_request(camera: Camera) -> None:
    request = head(AUTHORIZED, f"Content-Length: {len(BODY)}") + BODY
    answer = camera.raw(request * 3)
    assert answer.count(b"HTTP/1.1") == 1
    assert len(camera.lines) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 100,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # the beginning of TLS
        b"POST /camera\r\n\r\n",
        head(AUTHORIZED, "Content-Length: 2", "Content-Length: 3") + b"17",
        head(AUTHORIZED, "Content-Length: -1") + b"17",
        head(AUTHORIZED, "Content-Length: 2", "Transfer-Encoding: gzip") + b"17",
        head(AUTHORIZED, "Transfer-Encoding: chunked") + b"zz\r\n17\r\n0\r\n\r\n",
        head(AUTHORIZED, "Bad Name: x"),
        head(AUTHORIZED).replace(b"Host: x\r\n", b""),
    ],
)
def test_what_is_not_http_is_refused(camera: Camera, data: bytes) -> None:
    assert status(camera.raw(data)) in (400, 501)
    assert camera.lines == []
    assert camera.post() == 200


def test_two_authorizations_are_none(camera: Camera) -> None:
    request = head(AUTHORIZED, AUTHORIZED, f"Content-Length: {len(BODY)}") + BODY
    assert status(camera.raw(request)) == 401


def test_an_unfinished_request_is_ended(camera: Camera, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "REQUEST_TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(http_listener, "LINGER_SECONDS", 0.05)
    for begun in (b"", b"POST /cam", head(AUTHORIZED, "Content-Length: 9") + b"1"):
        with socket.create_connection(("127.0.0.1", camera.port), TIMEOUT_SECONDS) as peer:
            answer = b""
            with suppress(ConnectionError):  # it may have been ended before all was sent
                peer.sendall(begun)
            with suppress(ConnectionError):
                while part := peer.recv(4096):
                    answer += part
            assert status(answer) == 408


def test_many_connections_of_one_address_are_closed(camera: Camera) -> None:
    peers = [
        socket.create_connection(("127.0.0.1", camera.port), TIMEOUT_SECONDS) for _ in range(200)
    ]
    try:
        closed = 0
        for peer in peers[MAX_CONNECTIONS_PER_ADDRESS:]:
            with suppress(ConnectionError):
                assert peer.recv(1) == b""
            closed += 1
        assert closed == 200 - MAX_CONNECTIONS_PER_ADDRESS
    finally:
        for peer in peers:
            peer.close()
    until("there is room again", lambda: _posted(camera))


def _posted(camera: Camera) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return camera.post() == 200
    return False


def test_a_device_that_posts_too_often_is_refused(camera: Camera) -> None:
    answers = [camera.post(b"%d" % number) for number in range(3 * MAX_POSTS_AT_ONCE)]
    assert answers[:MAX_POSTS_AT_ONCE] == [200] * MAX_POSTS_AT_ONCE
    assert 429 in answers
    assert len(camera.lines) == answers.count(200)


def test_links_share_a_listener(camera: Camera, tmp_path: Path) -> None:
    other = open_link(camera.url.replace("/camera?", "/other?"))
    try:
        with pytest.raises(LinkFailedError, match="another device posts to /camera"):
            open_link(camera.url)
        with pytest.raises(LinkFailedError, match="TLS"):
            open_link(
                camera.url.replace("http://", "https://").replace("/camera?", "/third?")
                + f"&cert_file={tmp_path / 'c'}&key_file={tmp_path / 'k'}"
            )
        assert camera.post() == 200
        assert other.read(0) == b""
    finally:
        other.close()
    assert camera.post(path="/other") == 404
    assert camera.post(b"1") == 200


def test_a_port_that_is_taken_is_reported(camera: Camera) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LinkFailedError, match=r"cannot listen: .*use"):
            open_link(camera.url.replace(str(camera.port), str(port)))


@pytest.mark.parametrize("text", ["", "short\n", "x" * 32 + "\n" + "y" * 32 + "\n" + "z" * 32])
def test_a_file_without_a_usable_token_is_reported(camera: Camera, text: str) -> None:
    camera.secret.write_text(text)
    with pytest.raises(LinkFailedError, match="one token a line"):
        open_link(camera.url.replace("/camera?", "/other?"))


def test_nothing_can_be_sent_to_it(camera: Camera) -> None:
    with pytest.raises(WriteTimedOutError, match="cannot receive"):
        camera.link.write(b"x")
    assert camera.post() == 200


def test_a_listener_that_ends_ends_its_links(
    camera: Camera, monkeypatch: pytest.MonkeyPatch
) -> None:
    camera.stop_reading()

    def defect(*_: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(http_listener.PostListener, "_next", defect)
    with suppress(OSError), closing(camera.connection()) as connection:
        connection.connect()

    def read() -> bool:
        try:
            camera.link.read(0.02)
        except LinkFailedError as failure:
            return "a defect" in str(failure)
        return False

    until("the link fails", read)


@pytest.mark.usefixtures("programs")
def test_tls(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    line = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    where = ["-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*line.split(), *where, *files], check=True, capture_output=True)
    options = f"&cert_file={certificate}&key_file={key}"
    with closing(Camera(tmp_path, options, "https")) as camera:
        with pytest.raises((OSError, http.client.HTTPException)):
            camera.post()
        trusted = ssl.create_default_context(cafile=certificate)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", camera.port, timeout=TIMEOUT_SECONDS, context=trusted
        )
        connection.request("POST", "/camera", BODY, BEARER)
        assert connection.getresponse().status == 200
        assert camera.lines == [b'post 0 {"number": 17}\n']
    with pytest.raises(LinkFailedError, match="cannot be used"):
        open_link(camera.url.replace(str(certificate), str(tmp_path / "none.pem")))


def test_links_that_end_leave_nothing_behind(tmp_path: Path) -> None:
    port = free_port()
    Camera(tmp_path, port=port).close()
    gc.collect()
    threads, files = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(50):
        camera = Camera(tmp_path, port=port)
        assert camera.post() == 200
        camera.close()
    gc.collect()
    assert threading.active_count() <= threads
    assert len(list(Path("/proc/self/fd").iterdir())) <= files + 2


HOSTILE: tuple[Callable[[bytes], bytes], ...] = (
    lambda junk: junk,
    lambda junk: head(AUTHORIZED, f"Content-Length: {len(junk)}") + junk,
    lambda junk: head(AUTHORIZED, "Transfer-Encoding: chunked") + junk,
    lambda junk: head(f"Authorization: Bearer {junk.hex()}") + junk,
    lambda junk: b"POST /" + junk + b" HTTP/1.1\r\nHost: x\r\n\r\n",
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200), st.sampled_from(HOSTILE))
def test_anything_is_answered_or_ended(
    camera: Camera, junk: bytes, build: Callable[[bytes], bytes]
) -> None:
    before = len(camera.lines)
    answer = status(camera.raw(build(junk)))
    assert answer in (0, 200, 400, 401, 404, 405, 408, 413, 429, 431, 501, 505)
    assert len(camera.lines) == before + (answer == 200)
