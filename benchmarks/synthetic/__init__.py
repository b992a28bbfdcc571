"""Synthetic rows by marginals, as the field makes them: mechanisms, and the Markov random field they fit."""
