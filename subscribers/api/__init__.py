"""The HTTP API of the web server: what tables publish, read-only, for programs without MQTT."""
