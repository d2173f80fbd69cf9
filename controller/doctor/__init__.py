"""Checks of the machine that a daemon runs on: lines, disk, clock, broker, keys, units. Each module
checks one of them, changes nothing, and recommends what to do.
"""
