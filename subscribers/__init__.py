"""Reference subscribers. They use only the public MQTT contract."""
