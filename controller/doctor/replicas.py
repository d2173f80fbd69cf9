"""Whether a stream of NATS is stored as often as the configuration wants."""

from __future__ import annotations

from controller.doctor.finding import Finding


def too_few_replicas(
    about: str, what: str, stream: str, wanted: int, replicas: int, current: int
) -> list[Finding]:
    """Return what is wrong with the copies of a stream: how many there are, and how many of their
    nodes are up to date.
    """
    if replicas < wanted:
        do = f"`nats stream edit {stream} --replicas {wanted}`"
        return [Finding("warning", about, f"the {what} is stored {replicas} times", do)]
    if current < replicas:
        result = f"{current} of the {replicas} nodes that store the {what} are up to date"
        return [Finding("warning", about, result, "look at the cluster")]
    return []
