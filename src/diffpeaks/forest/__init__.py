"""Hills of a density: links, peaks, saddles, what flows over them, and samples far from all others."""
