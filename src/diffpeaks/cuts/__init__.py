"""How clusters are taken from hills: cuts, noise, and DBSCAN's linking."""

from diffpeaks.cuts.cut import (
    RULES,
    Cut,
    best_peaks_first,
    cut_by,
    given_cut,
    peak_scores,
    select_peaks,
)

__all__ = ["RULES", "Cut", "best_peaks_first", "cut_by", "given_cut", "peak_scores", "select_peaks"]
