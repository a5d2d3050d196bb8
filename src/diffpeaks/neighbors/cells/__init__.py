"""Search over cells of points for Euclidean distance and its relatives in high dimension."""
