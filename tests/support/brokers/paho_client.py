"""Ends a client of paho that has a thread of its own."""

from __future__ import annotations

import paho.mqtt.client as paho


def end(client: paho.Client) -> None:
    """Disconnect, and free its sockets at once: without callbacks it is part of no cycle, which
    would leave them to whichever test runs when garbage is collected.
    """
    client.disconnect()
    client.loop_stop()
    client.on_connect = client.on_disconnect = client.on_message = None
    client.on_subscribe = client.on_publish = None
