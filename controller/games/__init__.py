"""The rules of play as pure state machines: inputs in, events out. No clock, no I/O, no logging."""
