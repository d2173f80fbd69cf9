"""The configuration of the daemons of a world."""

from __future__ import annotations

ROOT = "novamas/v1/palma"
"""What the topics of the site begin with."""
CONFIGURATION = """[site]
id = "palma"
node = "pit-1"

[broker]
url = "mqtt://broker.world:1883"

[recordings]
enabled = false

[clock]
chrony = ""
"""
UNSIGNED = """
[people]
required = "accept-the-risk"
"""

STANDBY = """
[standby]
servers = ["nats://store.world:4222"]
instance = "{name}"
lease = 4.0
"""
