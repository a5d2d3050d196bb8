"""The compiled join: the same graph from every kernel, exact on any data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import normalize

from diffpeaks import neighbor_graph
from diffpeaks._native import KERNEL_VARIABLE, cpu_kernel, kernels
from diffpeaks.neighbors import searchable

every_kernel = pytest.mark.parametrize("kernel", kernels())


# Two sums of the same squares in double: equal in float32, and in float64 up to rounding.
ROUNDING = {np.dtype(np.float32): 0.0, np.dtype(np.float64): 1e-13}


def assert_exact(indices, distances, X):
    """Some rows are those of brute force in float64, up to points whose distances are equal."""
    tolerance, wide = ROUNDING[X.dtype], X.astype(np.float64)
    for row in np.linspace(0, len(X) - 1, min(len(X), 150)).astype(int):
        difference = wide - wide[row]
        true = np.sqrt(np.einsum("ij,ij->i", difference, difference)).astype(X.dtype)
        expected = np.lexsort((np.arange(len(X)), true))[: indices.shape[1]]
        np.testing.assert_allclose(distances[row], true[expected], rtol=tolerance)
        np.testing.assert_allclose(true[indices[row]], true[expected], rtol=tolerance)
        assert len(np.unique(indices[row])) == len(expected)


def cloud(n_samples, n_features, seed=0, dtype=np.float32):
    random = np.random.default_rng(seed)
    centers = random.normal(size=(12, n_features))
    X = centers[random.integers(0, 12, n_samples)] + 0.3 * random.normal(size=(n_samples, n_features))
    return X.astype(dtype)


def found(X, n_neighbors, search="cells"):
    graph = neighbor_graph(X, n_neighbors, search=search)
    shape = (len(X), n_neighbors)
    return graph.indices.reshape(shape), graph.distances.reshape(shape)


@every_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_samples", "n_features"), [(700, 3), (1500, 33), (1500, 300), (40, 500), (1, 5)])
def test_exact_on_every_kernel(monkeypatch, kernel, dtype, n_samples, n_features):
    monkeypatch.setenv(KERNEL_VARIABLE, kernel)
    X = cloud(n_samples, n_features, dtype=dtype)
    assert_exact(*found(X, min(n_samples, 12)), X)


@every_kernel
@pytest.mark.parametrize("rank", [6, 40])
def test_few_directions_of_many_features(monkeypatch, kernel, rank):
    """Data in a subspace are compared in fewer directions, and the result is exact all the same."""
    monkeypatch.setenv(KERNEL_VARIABLE, kernel)
    random = np.random.default_rng(1)
    X = random.normal(size=(1500, rank)) @ random.normal(size=(rank, 512))
    X = (X + 0.05 * random.normal(size=X.shape)).astype(np.float32)
    search = searchable(X, search="cells").search
    assert search._cells(10).coordinates.n_features < 512
    assert_exact(*found(X, 10), X)


def test_directions_that_tell_groups_apart_but_not_farther_neighbors_are_not_taken():
    """The last of 30 neighbours lies in another group of 30, and few directions cannot tell in which."""
    random = np.random.default_rng(0)
    X = 0.3 * random.normal(size=(12_000, 800)) + random.normal(size=(400, 800)).repeat(30, axis=0)
    within, beyond = (searchable(X.astype(np.float32), search="exact") for _ in range(2))
    assert within.search._cells(5).coordinates.n_features < 800
    assert beyond.search._cells(30).coordinates.n_features == 800


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(("n_samples", "n_features"), [(900, 20), (3000, 40), (3000, 300)])
def test_moved_points_are_searched_as_if_from_nothing(metric, n_samples, n_features):
    """Whatever the search of the points hands on; some of the moved points coincide."""
    X, toward = cloud(n_samples, n_features), cloud(n_samples, n_features, seed=3)
    moved = (0.8 * X + 0.2 * toward).astype(np.float32)
    moved[5:9] = moved[4]
    cells, brute = (searchable(X, metric, search) for search in ("cells", "brute"))
    radius = float(np.median(cells.graph(12).reach))
    after, expected = cells.moved(moved), brute.moved(moved)
    for asked in ({"n_neighbors": 12}, {"radius": radius}):
        for name in ("indptr", "indices", "distances"):
            values = (getattr(points.graph(**asked), name) for points in (after, expected))
            np.testing.assert_array_equal(*values)


@given(
    n_samples=st.integers(2, 400),
    n_features=st.integers(1, 70),
    k=st.integers(1, 30),
    scale=st.sampled_from([1e-12, 1.0, 1e9]),
    offset=st.sampled_from([0.0, 1.0, 1e4]),
    seed=st.integers(0, 10**6),
)
def test_exact_at_any_scale_and_offset(n_samples, n_features, k, scale, offset, seed):
    random = np.random.default_rng(seed)
    X = scale * (offset + random.normal(size=(n_samples, n_features)))
    k = min(k, n_samples)
    assert_exact(*found(X, k), X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-20, 1e17, 4e17, 1e30])
def test_products_that_leave_the_range_of_float(dtype, scale):
    random = np.random.default_rng(0)
    X = (scale * random.normal(size=(1500, 10)) @ random.normal(size=(10, 320))).astype(dtype)
    for a, b in zip(found(X, 8), found(X, 8, "brute"), strict=True):
        np.testing.assert_array_equal(a, b)


ADVERSARIAL = {
    "all equal": lambda random: np.ones((2000, 20)),
    "one giant cell": lambda random: np.vstack(
        [1e-3 * random.normal(size=(1900, 40)), random.normal(size=(100, 40))]
    ),
    "heavy duplicates": lambda random: random.normal(size=(30, 24))[random.integers(0, 30, 3000)],
    "far outliers": lambda random: np.vstack(
        [random.normal(size=(1490, 30)), 1e7 * random.normal(size=(10, 30))]
    ),
    "a line in many dimensions": lambda random: np.outer(np.arange(1500.0), random.normal(size=500)),
    "huge and tiny norms": lambda random: (
        10.0 ** random.uniform(-12, 12, (2000, 1)) * random.normal(size=(2000, 20))
    ),
    "denormals": lambda random: np.vstack(
        [1e-40 * random.normal(size=(500, 20)), random.normal(size=(500, 20))]
    ),
    "a lattice": lambda random: np.stack(np.meshgrid(*[np.arange(5.0)] * 5), axis=-1).reshape(-1, 5),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_exact_on_adversarial_data(name, dtype):
    X = ADVERSARIAL[name](np.random.default_rng(0)).astype(dtype)
    cells = neighbor_graph(X, 15, search="cells")
    brute = neighbor_graph(X, 15, search="brute")
    np.testing.assert_array_equal(cells.indices, brute.indices)
    np.testing.assert_array_equal(cells.distances, brute.distances)


def test_distances_that_round_to_one_number_are_ties():
    X = (1e-42 * np.random.default_rng(0).normal(size=(1500, 60))).astype(np.float32)
    cells, brute = (neighbor_graph(X, 10, search=search) for search in ("cells", "brute"))
    assert len(np.unique(cells.distances)) < len(cells.distances) / 5
    np.testing.assert_array_equal(cells.indices, brute.indices)
    np.testing.assert_array_equal(cells.distances, brute.distances)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "inner_product"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_balls_and_new_samples_equal_brute_force(metric, dtype):
    X, queries = (normalize(cloud(n, 40, seed, dtype)) for n, seed in ((2000, 0), (100, 5)))
    X, queries = (2 * X, queries) if metric != "inner_product" else (X, queries)
    radius = float(np.median(neighbor_graph(X, 30, metric=metric).reach))
    cells, brute = (searchable(X, metric, search) for search in ("cells", "brute"))
    reach = np.random.default_rng(0).uniform(0, 2 * radius, len(X))
    asks = (
        lambda points: points.search.within(points.space.points, radius),
        lambda points: points.within_of(queries, radius),
        lambda points: points.nearest_to(queries, 9),
        lambda points: points.reaching(queries, reach),
    )
    for ask in asks:
        for mine, other in zip(ask(cells), ask(brute), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_the_inner_product_of_unit_vectors():
    X = normalize(cloud(300, 50, dtype=np.float64))
    graph = neighbor_graph(X, 7, metric="inner_product")
    owners = np.repeat(np.arange(300), 7)
    expected = 1 - np.sum(X[owners] * X[graph.indices], axis=1)
    np.testing.assert_allclose(graph.distances, expected, atol=1e-12)
    np.testing.assert_array_equal(graph.indices, neighbor_graph(X, 7, metric="cosine").indices)
    with pytest.raises(ValueError, match=r"row 4 has length 2 .* use metric='cosine'"):
        neighbor_graph(np.where(np.arange(300)[:, None] == 4, 2 * X, X), 7, metric="inner_product")


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e25), (np.float64, 1e42)])
def test_far_queries_are_answered(dtype, far):
    X = cloud(1500, 30, dtype=dtype)
    X[: len(X) // 2] *= 1e5
    queries = np.vstack([X[:3], np.full((1, 30), far, dtype), X[3:5]])
    cells, brute = (searchable(X, search=search) for search in ("cells", "brute"))
    for ask in (
        lambda space: space.nearest_to(queries, 4),
        lambda space: space.within_of(queries, 100 * far),
    ):
        for found, expected in zip(ask(cells), ask(brute), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("scale", [1, 1e3, 1e9, 1e25])
def test_queries_farther_out_than_all_points(scale):
    """Also where points are compared along few directions: rounding goes with the length of the query."""
    random = np.random.default_rng(0)
    X = (random.normal(size=(3000, 20)) @ random.normal(size=(20, 300))).astype(np.float32)
    queries = np.float32(scale) * X[:40] + random.normal(size=(40, 300)).astype(np.float32)
    cells, brute = (searchable(X, search=search).nearest_to(queries, 6) for search in ("cells", "brute"))
    np.testing.assert_array_equal(cells.indices, brute.indices)
    np.testing.assert_array_equal(cells.distances, brute.distances)


def test_zero_vectors_have_no_direction():
    X = cloud(100, 30)
    X[[7, 9]] = 0
    with pytest.raises(ValueError, match=r"rows \[7, 9\] .* are all zero"):
        neighbor_graph(X, 5, metric="cosine", search="cells")


def test_other_metrics_are_refused():
    with pytest.raises(
        ValueError, match="needs dense points and a Euclidean, cosine or inner product metric"
    ):
        neighbor_graph(cloud(50, 30), 5, metric="manhattan", search="cells")


# ---- kernels


def test_the_fastest_kernel_is_the_default(monkeypatch):
    monkeypatch.delenv(KERNEL_VARIABLE, raising=False)
    assert cpu_kernel() == kernels()[0]
    assert kernels()[-1] == "portable"


def test_an_unknown_kernel_is_refused(monkeypatch):
    monkeypatch.setenv(KERNEL_VARIABLE, "abacus")
    with pytest.raises(ValueError, match="='abacus' is not a kernel of this processor; use one of"):
        neighbor_graph(np.eye(40), 3)
