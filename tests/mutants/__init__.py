"""Every claim is proved: for each enforced rule, a mutation under which a test that claims the rule
fails. A file per family of games holds the mutants.

``python -m tests.mutants`` (``make rules-proof``) runs them.
"""
