"""Searches: from an oracle's answers to a graph. No data come here."""
