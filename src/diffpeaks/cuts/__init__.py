"""How clusters are taken from hills: cuts, noise, and DBSCAN's linking."""

from diffpeaks.cuts.cut import (
    RULES,
    Cut,
    best_peaks_first,
    check_one_of,
    peak_scores,
    select_peaks,
)

__all__ = ["RULES", "Cut", "best_peaks_first", "check_one_of", "peak_scores", "select_peaks"]
