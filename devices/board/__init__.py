"""The open format of self-built sensor boards: frames with a sequence number and a CRC-16."""
