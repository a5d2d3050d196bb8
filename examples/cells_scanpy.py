"""Types of cells: DensityPeaks on the neighbours that scanpy has found, in one statement, beside Leiden.

usage: cells_scanpy.py [FOLD [N_PCS [SEED]]]    how far marker genes are raised, and how cells are compared
"""

import sys

import anndata
import numpy as np
import pandas as pd
import scanpy
from sklearn.metrics import adjusted_mutual_info_score

from diffpeaks.metrics import bcubed_scores
from diffpeaks.scanpy import density_peaks

CELLS_OF_TYPES = [900, 600, 500, 400, 250, 150, 100, 60]
N_GENES, N_MARKERS = 1000, 30
DEPTH, DISPERSION = 2000, 0.5  # counts of a cell; variance of a gene is mean + dispersion x mean^2


def make_cells(fold, seed):
    """Negative binomial counts: each type raises marker genes of its own above a common level."""
    random = np.random.default_rng(seed)
    level = random.lognormal(0.0, 1.5, N_GENES)
    profiles = np.tile(level, (len(CELLS_OF_TYPES), 1))
    for profile in profiles:
        markers = random.choice(N_GENES, N_MARKERS, replace=False)
        profile[markers] *= random.lognormal(np.log(fold), 0.5, N_MARKERS)
    profiles /= profiles.sum(axis=1, keepdims=True)
    types = np.repeat(np.arange(len(CELLS_OF_TYPES)), CELLS_OF_TYPES)
    mean = profiles[types] * random.lognormal(np.log(DEPTH), 0.4, (len(types), 1))
    counts = random.poisson(random.gamma(1 / DISPERSION, mean * DISPERSION))
    cells = pd.DataFrame({"type": pd.Categorical(types)}, index=[f"cell{i}" for i in range(len(types))])
    return anndata.AnnData(counts.astype(np.float32), obs=cells)


def main(fold=4.0, n_pcs=10, seed=0):
    adata = make_cells(fold, seed)
    scanpy.pp.normalize_total(adata)
    scanpy.pp.log1p(adata)
    scanpy.pp.pca(adata, n_comps=n_pcs)
    scanpy.pp.neighbors(adata)
    scanpy.tl.leiden(adata, flavor="igraph", n_iterations=2)

    density_peaks(adata)

    print(f"{adata.n_obs} cells of {len(CELLS_OF_TYPES)} types, {fold:g}-fold markers, {n_pcs} components")
    for name in ("leiden", "diffpeaks"):
        found, known = adata.obs[name].cat.codes, adata.obs["type"].cat.codes
        ami, bcubed = adjusted_mutual_info_score(known, found), bcubed_scores(known, found).f
        print(f"{name}: {found.nunique()} clusters, AMI {ami:.3f}, BCubed F {bcubed:.3f}")
    scanpy.tl.rank_genes_groups(adata, "diffpeaks")
    markers = scanpy.get.rank_genes_groups_df(adata, group="0")["names"].head(5)
    print("marker genes of cluster 0:", *markers)


if __name__ == "__main__":
    main(*(kind(value) for kind, value in zip((float, int, int), sys.argv[1:], strict=False)))
