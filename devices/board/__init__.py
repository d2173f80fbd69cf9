"""The open format of sensor boards that a house builds itself: frames with a sequence number and a
CRC-16.
"""
