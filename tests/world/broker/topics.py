"""Topic names and topic filters (MQTT 5, 4.7)."""

from __future__ import annotations

from functools import lru_cache

_RANK = {"+": 1, "#": 2}
REMEMBERED_TOPICS = 8192
"""Topics with filters that are not compared again."""


@lru_cache(REMEMBERED_TOPICS)
def is_name(topic: str) -> bool:
    """Return whether messages may be published to this topic."""
    return 0 < len(topic.encode()) <= 0xFFFF and "+" not in topic and "#" not in topic


def is_filter(topic_filter: str) -> bool:
    """Return whether this topic filter is well formed."""
    levels = topic_filter.split("/")
    return bool(topic_filter) and all(
        level == "+" or (level == "#" and at == len(levels)) or not {"+", "#"} & set(level)
        for at, level in enumerate(levels, 1)
    )


@lru_cache(REMEMBERED_TOPICS)
def matches(topic_filter: str, topic: str) -> bool:
    """Return whether a topic filter selects a topic. Wildcards do not select ``$SYS`` and the
    like (4.7.2).
    """
    if topic_filter[0] in _RANK and topic[0] == "$":
        return False
    wanted, levels = topic_filter.split("/"), topic.split("/")
    for at, level in enumerate(wanted):
        if level == "#":
            return True
        if at == len(levels) or level not in ("+", levels[at]):
            return False
    return len(wanted) == len(levels)


def search_order(topic_filter: str) -> list[int]:
    """Sort key: Mosquitto looks below a level at the name, ``+`` and ``#``, then at its end."""
    return [*(_RANK.get(level, 0) for level in topic_filter.split("/")), 3]
