"""The daemon as a service: configuration, health, logs, keys and the service manager."""
