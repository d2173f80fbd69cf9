"""The acceptance of a wheel or a shoe on the floor: ``docs/technician/commissioning.md``."""
