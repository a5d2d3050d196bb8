"""Exact search on a GPU, or any other device of torch: the same rows as every other search."""
