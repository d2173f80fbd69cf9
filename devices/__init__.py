"""The room of the wires: bytes in, readings out. It imports nothing else of ours."""
