"""The device's side of the wire, with faults that can be switched on while it runs."""
