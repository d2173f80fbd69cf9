"""Reference consumers. They know the MQTT contract and nothing else of ours."""
