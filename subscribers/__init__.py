"""Reference subscribers. They use the MQTT contract and nothing else of this project."""
