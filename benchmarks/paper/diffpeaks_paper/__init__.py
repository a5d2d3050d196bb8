"""The experiments of the paper: `diffpeaks paper table1`, and so on."""
