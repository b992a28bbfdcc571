"""Experiments: what the methods reach, measured again on networks whose graph is known. One file an experiment."""
