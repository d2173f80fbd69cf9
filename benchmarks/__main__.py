"""``python -m benchmarks``: decoding speed, then latency of three programs; prints measurements and
ratios.
"""

from __future__ import annotations

import argparse

from benchmarks import decoding, latency


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=400, help="results measured per program (default: 400)"
    )
    rounds = parser.parse_args().rounds
    print("Decoding, status lines per second on one core (goal: more than 100 000)")
    for how, rate in decoding.measure().items():
        print(f"  {how:<26}{rate:>12,.0f}")
    print(
        "\nLatency from the last byte on the wire to a subscriber over Mosquitto, "
        f"{rounds} results, interleaved, milliseconds"
    )
    spent = latency.measure(rounds)
    print(f"  {'':<12}{'results':>8}{'median':>9}{'p99':>9}")
    for way, values in spent.items():
        median, tail = (latency.percentile(values, part) * 1e3 for part in (50, 99))
        print(f"  {way:<12}{len(values):>8}{median:>9.2f}{tail:>9.2f}")
    print(
        "\nRatios (goal: novamas at most 2 times the integrator's loop, which neither "
        "checks nor stores)"
    )
    for other in ("integrator", "floor"):
        median, tail = (
            latency.percentile(spent["novamas"], part) / latency.percentile(spent[other], part)
            for part in (50, 99)
        )
        print(f"  novamas / {other:<11}{median:>8.2f}{tail:>9.2f}")


if __name__ == "__main__":
    main()
