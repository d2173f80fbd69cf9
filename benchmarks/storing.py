"""The loop of :mod:`benchmarks.integrator`, which also stores each line durably before publishing
it: SQLite with a write-ahead log and one synchronous commit per line.
"""

from __future__ import annotations

import sqlite3
import sys

import paho.mqtt.client as paho
import serial
from paho.mqtt.enums import CallbackAPIVersion


def main(port: str, broker_port: int, topic: str, path: str) -> None:
    """Store, then publish every line from the serial port at QoS 1."""
    store = sqlite3.connect(path, isolation_level=None)
    store.execute("PRAGMA journal_mode = WAL")
    store.execute("PRAGMA synchronous = FULL")
    store.execute("CREATE TABLE line (position INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", broker_port)
    client.loop_start()
    with serial.Serial(port, 9600) as wire:
        while True:
            line = wire.readline().rstrip(b"\r\n")
            store.execute("INSERT INTO line (body) VALUES (?)", (line,))
            client.publish(topic, line, qos=1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
