"""A broker of MQTT 3.1.1 and 5 in memory, whose time and faults the caller draws.

In a simulated world, with real clients and any event loop::

    sockets = Sockets(Wires(Broker(Limits(), access)))
    with connect_in_memory({("broker", 1883): sockets}):
        ...  # clients of mqtt://broker:1883 connect here; faults name them by client id
        sockets.begin(fault := Partition(frozenset({"novamas-palma-pit-1"})))
        sockets.end(fault)

Without sockets ``Wires`` takes the time with each call: ``connect``, ``send``, ``receive``,
``close``, ``advance``, ``deadline``, ``begin``, ``end``. ``Broker.sessions`` and
``Broker.retained`` show what the broker holds. ``ServedBroker`` is for programs, at a real port.
"""
