"""What people read, in five languages: one file of texts for each, and the lookup. Subscribers may
import it.
"""
