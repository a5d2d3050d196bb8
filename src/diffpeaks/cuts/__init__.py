"""How clusters are taken from hills: cuts, isolated samples, noise, and DBSCAN's linking."""

from diffpeaks.cuts.cut import (
    RULES,
    Cut,
    Isolation,
    best_peaks_first,
    check_one_of,
    isolation_of,
    select_peaks,
)

__all__ = ["RULES", "Cut", "Isolation", "best_peaks_first", "check_one_of", "isolation_of", "select_peaks"]
