"""The room of the table: configuration, games, journal, publisher, command line."""
