"""What a daemon needs of its machine: lines, disk, clock, broker, keys, units. Each room looks at
one of them, changes nothing, and says what to do.
"""
