"""Reference subscribers. They use only the public MQTT contract."""

from common import python_version as python_version
