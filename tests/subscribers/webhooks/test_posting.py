"""Receivers that hang, drip, redirect, lie and close: each ends in words, in limited time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from subscribers.webhooks import posting
from subscribers.webhooks.errors import ReceiverAwayError, RequestRefusedError
from subscribers.webhooks.posting import origin, post
from tests.support.brokers.mosquitto import free_port
from tests.support.video.receivers import HTTPReceiver

OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "closes": (lambda _: None, "closed the connection without a reply"),
    "no http": (lambda line: line.sendall(b"\x00\xff" * 50 + b"\r\n"), "its reply is not HTTP"),
    "redirects": (
        lambda line: line.sendall(
            b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        ),
        "replied 307; redirects are not followed",
    ),
    "headers without end": (
        lambda line: line.sendall(OK + b"a: b\r\n" * 1000 + b"\r\n"),
        "its reply is not HTTP",
    ),
}


@pytest.fixture
def listener(ending: ExitStack) -> Callable[[Callable[[socket.socket], None]], str]:
    """``listener(answer)``: reads a request, answers with ``answer(socket)``, and closes."""

    def make(answer: Callable[[socket.socket], None]) -> str:
        server = ending.enter_context(socket.create_server(("127.0.0.1", 0)))

        def serve() -> None:
            with suppress(OSError):
                while True:
                    line, _ = server.accept()
                    with line, suppress(OSError):
                        line.recv(65_536)
                        answer(line)

        threading.Thread(target=serve, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/secret-path?key=secret"

    return make


@pytest.mark.parametrize("name", ANSWERS)
def test_a_bad_answer_is_tried_again_and_said_in_words(
    name: str, listener: Callable[[Callable[[socket.socket], None]], str]
) -> None:
    answer, reason = ANSWERS[name]
    with pytest.raises(ReceiverAwayError) as caught:
        post(listener(answer), b"{}", {})
    assert reason in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_receiver_that_sends_a_byte_now_and_then_is_left(
    listener: Callable[[Callable[[socket.socket], None]], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(posting, "RESPONSE_TIMEOUT_SECONDS", 0.3)

    def drip(line: socket.socket) -> None:
        line.sendall(OK)
        while True:
            line.sendall(b"a: b\r\n")
            time.sleep(0.02)

    with pytest.raises(ReceiverAwayError, match="did not reply in time"):
        post(listener(drip), b"{}", {})


def test_a_receiver_that_never_answers_is_left(
    listener: Callable[[Callable[[socket.socket], None]], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(posting, "REQUEST_TIMEOUT_SECONDS", 0.2)
    end = threading.Event()
    try:
        with pytest.raises(ReceiverAwayError, match="did not reply in time"):
            post(listener(lambda _: (end.wait(60), None)[1]), b"{}", {})
    finally:
        end.set()


def test_no_more_of_a_huge_answer_is_read_than_a_person_reads(
    listener: Callable[[Callable[[socket.socket], None]], str],
) -> None:
    def flood(line: socket.socket) -> None:
        line.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 1000000000\r\n\r\n")
        while True:
            line.sendall(b"\x1b[2Jx" * 10_000)

    with pytest.raises(ReceiverAwayError) as caught:
        post(listener(flood), b"{}", {})
    assert len(str(caught.value)) < 300
    assert "\x1b" not in str(caught.value)


def test_an_address_without_a_listener_and_one_without_a_host() -> None:
    for address, reason in (
        (f"http://127.0.0.1:{free_port()}/", "Connection refused"),
        ("http://no-such-host.invalid/", "no such host"),
        (f"https://127.0.0.1:{free_port()}/", "Connection refused"),
    ):
        with pytest.raises(ReceiverAwayError, match=reason):
            post(address, b"{}", {})


def test_a_server_without_tls_or_trust_is_refused(
    listener: Callable[[Callable[[socket.socket], None]], str],
) -> None:
    address = listener(lambda line: line.sendall(b"HTTP/1.1 400 plain\r\n\r\n"))
    with pytest.raises(ReceiverAwayError, match="TLS failed"):
        post(address.replace("http://", "https://"), b"{}", {})


@pytest.mark.parametrize(
    ("status", "headers", "everything", "wait"),
    [
        (500, {}, False, None),
        (503, {}, True, None),
        (429, {"Retry-After": "7"}, True, 7.0),
        (500, {"Retry-After": "99999999"}, True, posting.MAX_WAIT_SECONDS),
        (500, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, True, 0.0),
        (500, {"Retry-After": "soon"}, False, None),
        (404, {}, True, None),
    ],
)
def test_an_answer_says_whether_it_concerns_every_request(
    status: int,
    headers: dict[str, str],
    everything: bool,
    wait: float | None,
    listener: Callable[[Callable[[socket.socket], None]], str],
) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    text = f"HTTP/1.1 {status} No\r\n{lines}Content-Length: 0\r\n\r\n"
    address = listener(lambda line: line.sendall(text.encode()))
    with pytest.raises(ReceiverAwayError) as caught:
        post(address, b"{}", {})
    assert (caught.value.everything, caught.value.wait) == (everything, wait)


@pytest.mark.parametrize("status", posting.PERMANENT_STATUSES)
def test_a_refusal_is_not_tried_again(status: int, ending: ExitStack) -> None:
    receiver = HTTPReceiver(lambda _: (status, {"why": "no"}))
    ending.callback(receiver.stop)
    with pytest.raises(RequestRefusedError, match=f"replied {status}"):
        post(f"{receiver.address}/secret", b"{}", {})


def test_an_address_shows_no_secret() -> None:
    assert origin("https://user:pass@host.example:8443/a?b=c") == "https://host.example:8443"


def test_a_header_cannot_be_broken(ending: ExitStack) -> None:
    receiver = HTTPReceiver()
    ending.callback(receiver.stop)
    bad: Any = {"ce-type": "a\r\nHost: elsewhere"}
    with pytest.raises(ReceiverAwayError, match="cannot be sent"):
        post(receiver.address, b"{}", bad)
    assert not receiver.requests
