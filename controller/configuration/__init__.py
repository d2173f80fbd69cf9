"""The configuration of a daemon: its types, the file they are read from, and what no single value
shows.
"""
