"""What several packages share. At the top are the clock, randomness, files, logs, amounts and the
readings of devices. Each folder is one subject: the contract on the wire, the connection to the
broker, people and their keys, sealed cards, hash chains, metrics. Imports no other package.
"""

from common import python_version as python_version
