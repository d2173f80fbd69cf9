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
TABLE = """
[[table]]
id = "{name}"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://{name}:1"
stale_after = {stale_after}
options = {{ period = {period} }}
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
