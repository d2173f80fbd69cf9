"""The loop that an integrator would write in an afternoon with pyserial and paho-mqtt. It neither
checks nor stores anything.
"""

from __future__ import annotations

import sys

import paho.mqtt.client as paho
import serial
from paho.mqtt.enums import CallbackAPIVersion


def main(port: str, broker_port: int, topic: str) -> None:
    """Publish every line from the serial port at QoS 1."""
    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", broker_port)
    client.loop_start()
    with serial.Serial(port, 9600) as wire:
        while True:
            client.publish(topic, wire.readline().rstrip(b"\r\n"), qos=1)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
