"""The version, in the one place that needs no import."""

__version__ = "0.1.0"
