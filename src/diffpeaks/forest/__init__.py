"""Hills of a density: links, peaks, saddles, the flow across them, and isolated samples."""
