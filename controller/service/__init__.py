"""The daemon as a service: health, logs, keys and the service manager."""
