"""The room of the table: configuration, games, journal, publisher, command line."""

from common import python_version as python_version
