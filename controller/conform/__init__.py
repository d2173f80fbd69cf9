"""`novamas conform`: tries a driver from outside against the requirements of the
contract: ``docs/integrator/conformance.md``.
"""
