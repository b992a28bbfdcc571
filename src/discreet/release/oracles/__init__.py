"""Oracles that answer from a release: asking costs nothing."""
