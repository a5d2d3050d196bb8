"""Diffusion coordinates: against eigenvectors, and laws of graphs that do not hang together."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from diffpeaks import neighbor_graph
from diffpeaks.maps.layout import walk_both_ways
from diffpeaks.maps.start import Components, chebyshev, diffusion_start


def ring(n_samples):
    """Each point of a ring linked to both beside it."""
    ones = np.ones(n_samples)
    wrapped = sp.diags_array([ones, ones[1:], ones[:1]], offsets=[0, 1, 1 - n_samples]).tocsr()
    return sp.csr_array(wrapped + wrapped.T)


def test_a_chebyshev_polynomial_by_its_cosines():
    """Of a symmetric walk, T_m(x) = cos(m arccos x) of every eigenvalue, moved to [-1, 1]."""
    walk = ring(12) / 4
    values, vectors = np.linalg.eigh(walk.toarray())
    degree, border = 7, 0.6
    moved = (values - (border - 1) / 2) / ((border + 1) / 2)
    expected = np.where(
        moved > 1,
        np.cosh(degree * np.arccosh(np.maximum(moved, 1))),
        np.cos(degree * np.arccos(np.clip(moved, -1, 1))),
    )
    found = chebyshev(walk, vectors, degree, border)
    np.testing.assert_allclose(found, vectors * expected, atol=1e-9)


def test_the_start_is_spanned_by_the_leading_eigenvectors():
    """Two groups on a line of points: the second and third eigenvector of the walk explain the start."""
    X = np.linspace(0, 1, 150)[:, None] ** 2
    weights = walk_both_ways(neighbor_graph(X, n_neighbors=16))
    volume = weights.sum(axis=1)
    _, vectors = scipy.linalg.eigh(weights.toarray(), np.diag(volume), subset_by_index=(147, 148))
    start = diffusion_start(weights)
    fitted = vectors @ np.linalg.lstsq(vectors, start, rcond=None)[0]
    assert np.sum((start - fitted) ** 2) < 0.01 * np.sum(start**2)


@pytest.mark.parametrize("sizes", [(40,), (30, 20, 1, 1, 2), (1,), (2,), (1, 1, 1)])
def test_components_lie_apart_and_each_is_spread_by_its_size(sizes):
    weights = sp.csr_array(sp.block_diag([ring(n) if n > 2 else np.ones((n, n)) for n in sizes]))
    start, parts = diffusion_start(weights), Components(weights)
    assert parts.n == len(sizes)
    middles = np.array([start[parts.of == part].mean(axis=0) for part in range(parts.n)])
    assert len(np.unique(middles.round(9), axis=0)) == len(sizes)
    for part, size in enumerate(parts.sizes):
        spread = (start[parts.of == part] - middles[part]).std(axis=0)
        expected = 0.025 * np.sqrt(size) * np.array([size > 1, size > 2])
        np.testing.assert_allclose(spread, expected, atol=1e-12)
