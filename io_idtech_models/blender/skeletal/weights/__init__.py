"""Weights as vertex groups, and which of them are still the source's."""
