"""Runs in the guest: executes shell scripts received as JSON lines on a serial port of QEMU, and
returns their output and exit status.
"""

import json
import subprocess
from pathlib import Path

with Path("/dev/virtio-ports/commands").open("r+b", buffering=0) as port:
    waiting = b""
    while True:
        waiting += port.read(65536)
        *lines, waiting = waiting.split(b"\n")
        for line in lines:
            said = json.loads(line)
            done = subprocess.run(
                ["sh", "-ec", said["script"]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd="/root",
            )
            told = {
                "id": said["id"],
                "status": done.returncode,
                "output": done.stdout.decode(errors="replace"),
            }
            answer = memoryview(json.dumps(told).encode() + b"\n")
            while answer:
                answer = answer[port.write(answer) :]
