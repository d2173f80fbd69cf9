"""How any client gets into the broker: the daemon, ``novamas send`` and the displays."""
