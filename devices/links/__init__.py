"""Ways to reach a device: serial line, TCP device server, RFC 2217, recording. pyserial lives only here."""
