"""Simulated devices, with faults that can be triggered while they run."""
