"""Packets of lights, decoded by the standards."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from subscribers.lights.packets import (
    artnet_packet,
    component_id,
    discovery_packet,
    multicast_address,
    sacn_packet,
    values_of,
)
from tests.subscribers.lights.receivers import Universe, decode_artnet, decode_sacn

LEVELS = st.dictionaries(st.integers(1, 512), st.integers(0, 255), max_size=512)
COMPONENT = component_id("palma", "bar")


@given(
    LEVELS,
    st.text(),
    st.integers(1, 63_999),
    st.integers(0, 200),
    st.integers(0, 255),
    st.booleans(),
)
def test_a_packet_of_sacn_is_read_as_it_was_meant(
    levels: dict[int, int], name: str, universe: int, priority: int, sequence: int, ended: bool
) -> None:
    name = name.encode(errors="ignore").decode()
    values = values_of(levels)
    data = sacn_packet(COMPONENT, name, universe, priority, sequence, values, terminated=ended)
    read = decode_sacn(data)
    assert read._replace(name="") == Universe(
        universe, sequence, values, priority, "", COMPONENT, ended
    )
    assert name.rstrip("\0").startswith(read.name)
    assert {channel: values[channel - 1] for channel in levels} == levels
    assert sum(values) == sum(levels.values())


@given(LEVELS, st.integers(0, 32_767), st.integers(1, 255))
def test_a_packet_of_artnet_is_read_as_it_was_meant(
    levels: dict[int, int], universe: int, sequence: int
) -> None:
    data = artnet_packet(universe, sequence, values_of(levels))
    assert decode_artnet(data) == Universe(universe, sequence, values_of(levels))


def test_a_source_has_one_id_and_each_light_another() -> None:
    assert component_id("palma", "bar") == COMPONENT
    assert component_id("palma", "bar-2") != COMPONENT != component_id("ibiza", "bar")
    assert len(COMPONENT) == 16
    assert (COMPONENT[6] >> 4, COMPONENT[8] >> 6) == (8, 2)


def test_the_list_of_universes() -> None:
    """By tables 4-3 and 8-1 of E1.31."""
    data = discovery_packet(COMPONENT, "Novamás palma bar", (1, 513))
    assert struct.unpack_from("!I", data, 18)[0] == 8
    assert struct.unpack_from("!I", data, 40)[0] == 2
    assert data[108:112] == bytes(4)
    assert struct.unpack_from("!HIBB2H", data, 112) == (0x7000 | 12, 1, 0, 0, 1, 513)
    assert len(data) == 124


def test_the_multicast_address_of_a_universe() -> None:
    assert multicast_address(1) == "239.255.0.1"
    assert multicast_address(63_999) == "239.255.249.255"
