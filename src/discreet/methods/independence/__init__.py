"""Tests of conditional independence, each asked of a room with all that is left of its budget."""
