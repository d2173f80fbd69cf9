"""What goes over the wire: commands in, events and retained topics out, and the words they are
written in.
"""
