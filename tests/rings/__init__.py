"""Which tests run when: three rings, marked by what a test uses and costs."""
