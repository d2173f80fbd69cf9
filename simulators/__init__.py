"""Simulated devices, with faults that can be triggered while they run."""

from common import python_version as python_version
