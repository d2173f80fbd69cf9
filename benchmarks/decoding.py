"""How many status lines per second the Cammegh SS2 codec decodes on one core."""

from __future__ import annotations

import time

from benchmarks.wheel_lines import PUSHES
from devices.drivers import driver

ROUNDS = 200


def status_lines() -> list[bytes]:
    """The lines of ``ROUNDS`` typical rounds, including bare numbers, as the wheel sends them."""
    lines = []
    shown = "  "
    for spin in range(1, ROUNDS + 1):
        number = f"{spin * 7 % 37:2d}"
        for state, pushes in PUSHES.items():
            if state == 5:
                lines.append(f"{number}\r\n".encode())
                shown = number
            lines += [
                f"*X;{state};{spin:03d};{shown};0;{165 + push % 3:03d};{spin % 2}\r\n".encode()
                for push in range(pushes)
            ]
    return lines


def measure(repeats: int = 5) -> dict[str, float]:
    """Lines per second, best of ``repeats``: line by line as from a wire, and in chunks of 4096
    bytes.
    """
    ss2 = driver("cammegh-ss2")
    lines = status_lines()
    stream = b"".join(lines)
    chunks = [stream[start : start + 4096] for start in range(0, len(stream), 4096)]
    fastest = {"line by line": 0.0, "in chunks of 4096 bytes": 0.0}
    for _ in range(repeats):
        for how, pieces in (("line by line", lines), ("in chunks of 4096 bytes", chunks)):
            codec = ss2.make("wheel", ss2.options())
            pace = 0.5 * len(lines) / len(pieces)
            started = time.perf_counter()
            for index, piece in enumerate(pieces):
                codec.feed(piece, index * pace)
            spent = time.perf_counter() - started
            fastest[how] = max(fastest[how], codec.counters.frames / spent)
    return fastest


def main() -> None:
    """Measure and print."""
    print("Decoding, status lines per second on one core (goal: more than 100 000)")
    for how, rate in measure().items():
        print(f"  {how:<26}{rate:>12,.0f}", flush=True)
