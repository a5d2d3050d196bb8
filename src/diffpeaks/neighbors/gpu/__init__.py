"""Exact search on a GPU: the same rows as every other search."""
