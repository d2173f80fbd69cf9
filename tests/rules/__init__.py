"""What the gazettes print of each numbered rule, and how it is told to whoever runs a
casino floor.
"""
