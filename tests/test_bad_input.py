"""Bad input gets an error that names the value, the bound and the remedy; nothing is changed silently."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from diffpeaks import (
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    LocalContrast,
    NaiveDensity,
    NeighborGraph,
    _validation,
    neighbor_graph,
)
from diffpeaks.metrics import bcubed_scores, pairwise_scores

N = 60
X = np.random.RandomState(0).normal(size=(N, 3))
D = np.abs(X[:, :1] - X[:, 0])
ESTIMATORS = [DensityPeaks, DensityDBSCAN, KernelDiffusion, NaiveDensity, LocalContrast]
CLUSTERERS, DENSITIES = ESTIMATORS[:2], ESTIMATORS[2:]
ENTRIES = {
    "neighbor_graph": lambda X, **params: neighbor_graph(X, n_neighbors=3, **params),
    **{kind.__name__: lambda X, kind=kind, **params: kind(**params).fit(X) for kind in ESTIMATORS},
}
every_entry = pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
INVALID = (ValueError, TypeError)


def refuses(*words):
    """An error whose message holds each of the words, in this order."""
    return pytest.raises(INVALID, match="(?is)" + ".*".join(re.escape(str(word)) for word in words))


def spoiled(values, rows=(3, 7)):
    bad = X.copy()
    bad[list(rows), 1] = values
    return bad


def triangle(**changes):
    """A good graph of three points, with some parts replaced."""
    parts = {"indptr": [0, 2, 4, 6], "indices": [0, 1, 1, 2, 2, 1], "distances": [0.0, 1, 0, 1, 0, 1]}
    return NeighborGraph(**{**parts, **changes})


def asymmetric():
    matrix = D.copy()
    near = np.argsort(D[0])[1]
    matrix[0, near] /= 2
    return matrix


# --- X


@every_entry
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array])
@pytest.mark.parametrize(
    ("values", "word"),
    [(np.nan, "NaN"), (np.inf, "infinity"), ((-np.inf, np.inf), "infinity"), ((np.nan, np.inf), "NaN")],
)
def test_nan_and_infinity_name_their_rows(entry, form, values, word):
    with refuses(word, "rows [3, 7]", "drop or impute"):
        entry(form(spoiled(values)))


@pytest.mark.parametrize("kind", DENSITIES)
def test_score_samples_names_rows_of_nan(kind):
    with refuses("NaN", "rows [3, 7]"):
        kind().fit(X).score_samples(spoiled(np.nan))


@every_entry
@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((N,), ("2D array", "1D array")),
        ((2, N, 3), ("dim 3", "<= 2")),
        ((0, 3), ("0 sample", "minimum of 1")),
        ((N, 0), ("0 feature", "minimum of 1")),
    ],
)
def test_wrong_shape(entry, shape, words):
    with refuses(*words):
        entry(np.ones(shape))


@every_entry
@pytest.mark.parametrize("bad", [X + 1j, [["a"], ["b"]], None, 3.0])
def test_not_numbers(entry, bad):
    with pytest.raises(INVALID, match="Complex|string|2D array"):
        entry(bad)


@every_entry
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_cosine_refuses_rows_without_direction(entry, form):
    flat = X.copy()
    flat[[4, 9]] = 0
    with refuses("cosine", "rows [4, 9]", "zero", "euclidean"):
        entry(form(flat), metric="cosine")


@every_entry
def test_metric_that_gives_nan_names_the_row(entry):
    flat = X.copy()
    flat[5] = 1.0  # the correlation with a constant row is 0 / 0
    with np.errstate(all="ignore"), refuses("correlation", "NaN", "5"):
        entry(flat, metric="correlation")


def test_metric_callable_that_gives_nan():
    with refuses("metric", "NaN"):
        neighbor_graph(X, 3, metric=lambda a, b: np.nan)


@every_entry
def test_input_is_not_modified(entry):
    for make in (X.copy, lambda: np.asfortranarray(X), lambda: X.astype(np.float32)):
        given, kept = make(), make()
        entry(given)
        np.testing.assert_array_equal(given, kept)
    given = sp.csr_array(X)
    entry(given)
    np.testing.assert_array_equal(given.toarray(), X)
    for given in (asymmetric(), sp.csr_array(asymmetric())):
        if entry in (ENTRIES["NaiveDensity"], ENTRIES["LocalContrast"]) and sp.issparse(given):
            continue  # a sparse graph has no typical radius of its own
        entry(given, metric="precomputed")
        np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, asymmetric())


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_of_distances_is_kept(kind, dtype):
    for form in (np.asarray, sp.csr_array):
        assert kind().fit(form(X.astype(dtype))).graph_.distances.dtype == dtype
    assert neighbor_graph(D.astype(dtype), 3, metric="precomputed").distances.dtype == dtype
    assert neighbor_graph(sp.csr_array(D.astype(dtype)), 3, metric="precomputed").distances.dtype == dtype


# --- parameters


@pytest.mark.parametrize("kind", [DensityPeaks, KernelDiffusion, LocalContrast, neighbor_graph])
@pytest.mark.parametrize("value", [0, -1, 2.5, 3.0, True, np.nan, "many", N + 1])
def test_n_neighbors(kind, value):
    with refuses("n_neighbors", value):
        neighbor_graph(X, value) if kind is neighbor_graph else kind(n_neighbors=value).fit(X)


@pytest.mark.parametrize("params", [{"radius": "auto"}, {"radius": "auto", "bandwidth": "median"}])
def test_more_neighbors_than_samples_for_an_automatic_radius(params):
    with refuses(f"n_neighbors={N + 1}", f"n_samples={N}"):
        KernelDiffusion(n_neighbors=N + 1, **params).fit(X)


@pytest.mark.parametrize("kind", [NaiveDensity, LocalContrast, KernelDiffusion, neighbor_graph])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, True, "wide", 1j])
def test_radius(kind, value):
    with refuses("radius", value):
        neighbor_graph(X, radius=value) if kind is neighbor_graph else kind(radius=value).fit(X)


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "bandwidth": [0, -1.0, np.nan, np.inf, True, "wide", None],
        "steps": [0, -1, 1.5, 2.0, -np.inf, np.nan, True, "x"],
        "teleport": [1.0, -0.1, np.nan, "x"],
        "kernel": ["cubic", 3],
        "metric": ["nearby", None],
        "search": ["luck"],
    }.items(),
)
def test_kernel_diffusion_parameters(name, values):
    for value in values:
        with refuses(name, value):
            KernelDiffusion(**{name: value}).fit(X)


@every_entry
@pytest.mark.parametrize(
    ("name", "value"),
    [("metric", "nearby"), ("search", "luck"), ("n_jobs", 0), ("n_jobs", 1.5), ("metric_params", {"p": 3})],
)
def test_search_parameters(entry, name, value):
    with refuses(name, value):
        entry(X, **{name: value})


@every_entry
@pytest.mark.parametrize(("data", "metric"), [(X, "canberra"), (D, "precomputed"), (sp.csr_array(X), "l1")])
def test_tree_refuses_what_it_cannot_search(entry, data, metric):
    with refuses("search='tree'", "points", "brute"):
        entry(data, metric=metric, search="tree")


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "n_clusters": [0, -1, 2.0, True, N + 1],
        "max_link": [0, -1.0, np.nan],
        "min_prominence": [-1, np.nan],
        "halo": ["no", 3],
    }.items(),
)
def test_cut_parameters_in_fit_and_recut(name, values):
    model = DensityPeaks().fit(X)
    for value in values:
        with refuses(name, value):
            DensityPeaks(**{name: value}).fit(X)
        with refuses(name, value):
            model.recut(**{name: value})


@pytest.mark.parametrize("rule", [{"max_link": 100.0}, {"min_prominence": 100.0}])
def test_more_clusters_than_the_rules_allow(rule):
    with refuses("n_clusters=5", "only 1", "100.0", "lower"):
        DensityPeaks(n_clusters=5, **rule).fit(X)


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, "x", None])
def test_min_density(value):
    with refuses("min_density", value):
        DensityDBSCAN(min_density=value).fit(X)


@pytest.mark.parametrize("kind", CLUSTERERS)
@pytest.mark.parametrize(
    ("density", "words"),
    [
        ("smooth", ("density='smooth'", "fkd-asym")),
        (3, ("density", "3")),
        (X, ("density", "one value for each sample")),
        (np.ones(7), ("(7,)", f"({N},)")),
        (np.r_[np.ones(N - 1), -2.0], ("-2.0", f"sample {N - 1}")),
        (np.r_[np.ones(N - 1), np.nan], ("nan", f"sample {N - 1}")),
        (np.full(N, 1j), ("density", "complex")),
        (["a"] * N, ("density", "a")),
        (lambda graph: None, ("density", "()", f"({N},)")),
        (lambda graph: np.ones((N, 1)), (f"({N}, 1)", f"({N},)")),
        (lambda graph: -np.ones(N), ("-1.0", "sample 0")),
        (KernelDiffusion(metric="cosine"), ("'cosine'", "'euclidean'", "give both the same")),
    ],
)
def test_density_of_a_clusterer(kind, density, words):
    with refuses(*words):
        kind(density).fit(X)


@pytest.mark.parametrize("density", ["fkd-asym", KernelDiffusion(), "lc"])
def test_n_neighbors_where_the_density_brings_its_own(density):
    with refuses("n_neighbors=3", "no effect", "set them there"):
        DensityPeaks(density, n_neighbors=3).fit(X)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda d: None, ("kernel", "()")),
        (lambda d: d[:2], ("kernel", "(2,)", "one weight for each")),
        (lambda d: -d - 1, ("kernel", "-1.0", "distance 0.0", "not negative")),
        (lambda d: d * np.nan, ("kernel", "nan", "finite")),
        (lambda d: d, ("kernel", "0.0 at distance 0.0", "above 0")),
        (lambda d: "soft", ("kernel", "soft")),
    ],
)
def test_kernel_callable_that_returns_rubbish(kernel, words):
    with refuses(*words):
        KernelDiffusion(kernel=kernel).fit(X)


# --- precomputed distances and graphs


@every_entry
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (D[:, :50], ("square", f"({N}, 50)")),
        (-D, ("negative", -D.max())),
        (D + np.eye(N), ("itself", "0", f"({N} in all)", "similarity")),
        (spoiled(np.nan) @ np.ones((3, N)), ("NaN", "rows [3, 7]")),
    ],
)
def test_precomputed_distances(entry, form, matrix, words):
    with refuses(*words):
        entry(form(matrix), metric="precomputed")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_symmetric_kernel_refuses_asymmetric_distances(form):
    given = form(asymmetric())
    for model in (
        KernelDiffusion(radius=1.0),
        DensityPeaks(KernelDiffusion(radius=1.0, metric="precomputed")),
    ):
        with refuses("symmetric", "point 0", "asymmetric kernel"):
            model.set_params(metric="precomputed").fit(given)
    for model in (KernelDiffusion(n_neighbors=5), DensityPeaks("fkd-asym"), DensityDBSCAN("fkd-asym")):
        model.set_params(metric="precomputed").fit(given)


def test_graph_goes_with_precomputed_only():
    graph = neighbor_graph(X, 5)
    for entry in ENTRIES.values():
        with refuses("NeighborGraph", "'euclidean'", "precomputed"):
            entry(graph)


def test_n_clusters_on_a_graph_with_several_hills():
    graph = neighbor_graph(X, 5)
    with refuses("no denser neighbour", "max_link or min_prominence"):
        DensityPeaks(n_clusters=3, metric="precomputed").fit(graph)
    with refuses("no denser neighbour"):
        DensityPeaks(metric="precomputed").fit(graph).recut(n_clusters=3)
    with refuses("n_neighbors=9", "5", "more neighbours"):
        DensityPeaks(n_neighbors=9, metric="precomputed").fit(graph)


def test_sparse_graph_that_stores_an_entry_twice():
    with refuses("twice", "sum_duplicates"):
        neighbor_graph(sp.csr_array((np.ones(2), [1, 1], [0, 2, 2]), (2, 2)), metric="precomputed")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"indptr": [[0, 2]]}, ("indptr", "(1, 2)")),
        ({"indptr": [0]}, ("indptr", "n_samples >= 1")),
        ({"indptr": [1, 2, 4, 6]}, ("indptr", "from 0")),
        ({"indptr": [0, 4, 2, 6]}, ("indptr", "ascending")),
        ({"indptr": [0, 2.5, 4, 6]}, ("indptr", "integer")),
        ({"indices": [0, 1]}, ("indices", "(2,)", "6")),
        ({"indices": [0, 1.5, 1, 2, 2, 1]}, ("indices", "integer")),
        ({"indices": [0, 2**32 + 1, 1, 2, 2, 1]}, ("row 0", "outside")),
        ({"distances": [0.0, 1]}, ("distances", "(2,)", "6")),
        ({"indices": [1, 0, 1, 2, 2, 1]}, ("row 0", "start with the point itself")),
        ({"indptr": [0, 2, 2, 6]}, ("row 1", "start with the point itself")),
        ({"distances": [0, 1, 0.5, 1, 0, 1]}, ("row 1", "other than 0")),
        ({"indices": [0, 3, 1, 2, 2, 1]}, ("row 0", "outside")),
        ({"indices": [0, -1, 1, 2, 2, 1]}, ("row 0", "outside")),
        ({"distances": [0, -1, 0, 1, 0, 1]}, ("row 0", "negative")),
        ({"distances": [0, 1, 0, np.nan, 0, 1]}, ("row 1", "NaN")),
        ({"distances": [0, 1, 0, 1, 0, np.inf]}, ("row 2", "infinite")),
        ({"indices": [0, 0, 1, 2, 2, 1], "distances": [0.0, 0, 0, 1, 0, 1]}, ("row 0", "twice")),
        (
            {"indptr": [0, 3, 4, 6], "distances": [0.0, 2, 1, 0, 0, 1], "indices": [0, 1, 2, 1, 2, 1]},
            ("sorted",),
        ),
        ({"n_neighbors": 3}, ("n_neighbors=3", "2")),
        ({"n_neighbors": 0}, ("n_neighbors", 0)),
        ({"n_neighbors": 1.5}, ("n_neighbors", 1.5)),
        ({"radius": np.nan}, ("radius", "nan")),
        ({"radius": -1.0}, ("radius", -1.0)),
    ],
)
def test_broken_graph(changes, words):
    assert triangle().n_samples == 3
    with refuses(*words):
        triangle(**changes)


def test_graph_cannot_be_changed_after_its_checks():
    distances = np.array([0.0, 1, 0, 1, 0, 1])
    graph = triangle(distances=distances)
    distances[1] = -5.0
    assert graph.distances[1] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        graph.distances[1] = 2.0


def test_filters_refuse_what_the_graph_does_not_know():
    nearest, ball = neighbor_graph(X, 5), neighbor_graph(X, radius=1.0)
    for value in (0, -1, 2.5, True, N + 1):
        with refuses("n_neighbors", value):
            nearest.nearest(value)
    with refuses("n_neighbors=6", "5", "build the graph with more neighbours"):
        nearest.nearest(6)
    for graph, radius in ((nearest, 0.1), (ball, 1.1)):
        with refuses(f"radius={radius}", graph.radius, "build the graph"):
            graph.within(radius)
    for value in (-1, np.nan):
        with refuses("radius", value):
            ball.within(value)


# --- size


def test_graph_too_large():
    with refuses(2**31, 2**31 - 1, "cluster a sample"):
        _validation.check_graph_size(2**31, 10)
    with pytest.raises(
        MemoryError, match=r"10,000,000,000,000,000 .* GiB; use a smaller n_neighbors or radius"
    ):
        _validation.check_graph_size(10**9, 10**16)


@pytest.mark.parametrize("search", ["tree", "brute"])
@pytest.mark.parametrize("ask", [{"n_neighbors": 50}, {"radius": 100.0}])
def test_graph_larger_than_memory_is_not_begun(monkeypatch, search, ask):
    monkeypatch.setattr(_validation, "_physical_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"60 samples, \d+ each.*smaller n_neighbors or radius"):
        neighbor_graph(X, search=search, **ask)


def test_more_samples_than_indices(monkeypatch):
    monkeypatch.setattr(_validation, "MAX_SAMPLES", 10)
    for make in (lambda: neighbor_graph(X, 3), lambda: neighbor_graph(X, radius=1.0)):
        with refuses("n_samples=60", "10", "split the data"):
            make()


# --- use after, before and without fit; metrics


@pytest.mark.parametrize("kind", DENSITIES)
def test_score_samples(kind):
    with pytest.raises(NotFittedError, match=kind.__name__):
        kind().score_samples(X)
    fitted = kind().fit(X)
    with refuses("2 features", "3 features"):
        fitted.score_samples(X[:, :2])
    with refuses("2D array", "1D array"):
        fitted.score_samples(X[0])
    on_graph = kind(metric="precomputed").fit(neighbor_graph(X, N))
    with refuses("precomputed graph", "fit on points"):
        on_graph.score_samples(X)
    on_matrix = kind(metric="precomputed").fit(D)
    with refuses("negative"):
        on_matrix.score_samples(-D)


def test_clusterer_before_fit():
    for ask in (DensityPeaks().recut, DensityPeaks().decision_graph):
        with pytest.raises(NotFittedError, match="DensityPeaks"):
            ask()


@pytest.mark.parametrize("scores", [pairwise_scores, bcubed_scores])
@pytest.mark.parametrize(
    ("y_true", "labels", "words"),
    [
        ([0, 1], [0], ("[2, 1]",)),
        ([], [], ("empty",)),
        ([[0, 1]], [0, 1], ("1d", "(1, 2)")),
        ([0, np.nan], [0, 1], ("NaN",)),
        ([0, 1], [0, np.nan], ("NaN",)),
    ],
)
def test_scores(scores, y_true, labels, words):
    with refuses(*words):
        scores(y_true, labels)
