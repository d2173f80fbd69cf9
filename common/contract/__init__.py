"""The contract on the wire: commands, events, retained topics and their vocabulary."""
