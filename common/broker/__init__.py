"""Connecting to the MQTT broker, for the daemon, ``novamas send`` and the displays."""
