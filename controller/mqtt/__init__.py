"""The broker: the connection, what is published, and how commands are answered."""
