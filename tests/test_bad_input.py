"""Bad input gets an error that names the value, the bound and the remedy; nothing is changed silently."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from indices import FaissLike
from refusals import refuses
from sklearn.exceptions import NotFittedError

from diffpeaks import (
    DensityDBSCAN,
    DensityPeaks,
    KernelDiffusion,
    LocalContrast,
    NaiveDensity,
    SharedNeighborDensity,
    neighbor_graph,
    plan,
)
from diffpeaks._base import validation
from diffpeaks.metrics import bcubed_scores, pairwise_scores

N = 60
X = np.random.RandomState(0).normal(size=(N, 3))
D = np.abs(X[:, :1] - X[:, 0])
DENSITIES = [KernelDiffusion, NaiveDensity, LocalContrast, SharedNeighborDensity]
CLUSTERERS = [DensityPeaks, DensityDBSCAN]


def fit(kind, X, **params):
    return kind(**params).fit(X)


ENTRIES = {kind.__name__: partial(fit, kind) for kind in CLUSTERERS + DENSITIES}
ENTRIES["neighbor_graph"] = lambda X, n_neighbors=3, **params: neighbor_graph(X, n_neighbors, **params)
every_entry = pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
dense_and_sparse = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])


def spoiled(values):
    bad = X.copy()
    bad[[3, 7], 1] = values
    return bad


def minkowski(params, **more):
    return neighbor_graph(X, 3, metric="minkowski", metric_params=params, **more)


def asymmetric():
    matrix = D.copy()
    matrix[0, np.argsort(D[0])[1]] /= 2
    return matrix


@every_entry
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array])
@pytest.mark.parametrize("values", [np.nan, np.inf, (-np.inf, np.inf), (np.nan, np.inf)])
def test_nan_and_infinity_name_their_rows(entry, form, values):
    with refuses(f"{'NaN' if np.isnan(values).any() else 'infinity'}|rows [3, 7]|drop or impute"):
        entry(form(spoiled(values)))


@every_entry
def test_masked_values_name_their_rows(entry):
    mask = np.zeros(X.shape, bool)
    mask[[3, 7], 1] = True
    with refuses("masked in rows [3, 7]|drop these rows, or impute"):
        entry(np.ma.masked_array(X, mask))
    entry(np.ma.masked_array(X, False))
    with refuses("masked in rows [0]"):
        entry(np.ma.masked_array(D, np.eye(N, k=5) * (np.arange(N) == 5)), metric="precomputed")


@every_entry
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.lil_array, np.ndarray.tolist])
def test_integers_that_floats_cannot_hold(entry, form):
    for dtype in (np.int64, np.uint64):
        numbers = np.arange(3 * N, dtype=dtype).reshape(N, 3)
        entry(form(numbers))
        numbers[5, 1] = 2**53
        entry(form(numbers))
        numbers[5, 1] = 2**53 + 1
        with refuses(f"{2**53 + 1}|{2**53}|offset or rescale"):
            entry(form(numbers))
    with refuses(f"{-(2**53) - 1}|{2**53}"):
        entry(form(-numbers.astype(np.int64)))


SHAPES = {(N,): "2D|1D", (2, N, 3): "dim 3|<= 2", (0, 3): "0 sample|minimum of 1", (N, 0): "0 feature|1"}


@every_entry
def test_wrong_shapes_and_types(entry):
    for shape, words in SHAPES.items():
        with refuses(words):
            entry(np.ones(shape))
    for bad in (X + 1j, [["a"], ["b"]], None, 3.0):
        with pytest.raises((ValueError, TypeError), match=r"Complex|string|2D array"):
            entry(bad)


@every_entry
@dense_and_sparse
def test_cosine_refuses_rows_without_direction(entry, form):
    flat = X.copy()
    flat[[4, 9]] = 0
    with refuses("cosine|rows [4, 9]|zero|euclidean"):
        entry(form(flat), metric="cosine")


@every_entry
def test_metric_that_gives_nan_names_the_row(entry):
    flat = X.copy()
    flat[5] = 1.0  # the correlation with a constant row is 0 / 0
    with np.errstate(all="ignore"), refuses("correlation|NaN|5"):
        entry(flat, metric="correlation")


@every_entry
def test_input_is_not_modified(entry):
    for given in (X.copy(), np.asfortranarray(X), X.astype(np.float32), sp.csr_array(X)):
        kept = given.copy()
        entry(given)
        assert abs(given - kept).max() == 0
    for given in (asymmetric(), sp.csr_array(asymmetric())):
        entry(given, metric="precomputed")
        assert abs(given - asymmetric()).max() == 0


@pytest.mark.parametrize("kind", CLUSTERERS + DENSITIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_of_distances_is_kept(kind, dtype):
    for form in (np.asarray, sp.csr_array):
        assert kind().fit(form(X.astype(dtype))).graph_.distances.dtype == dtype
        graph = neighbor_graph(form(D.astype(dtype)), 3, metric="precomputed")
        assert graph.distances.dtype == dtype


SEARCHERS = list(ENTRIES)
BY_COUNT = ["neighbor_graph", "DensityPeaks", "KernelDiffusion", "LocalContrast", "SharedNeighborDensity"]
BY_RADIUS = ["neighbor_graph", "KernelDiffusion", "NaiveDensity", "LocalContrast"]
CUTTERS = ["DensityPeaks", "recut"]
PARAMETERS = [
    (BY_COUNT, "n_neighbors", [0, -1, 2.5, 3.0, True, np.nan, "many", N + 1]),
    (BY_RADIUS, "radius", [0, -1.0, np.nan, np.inf, True, "wide", 1j]),
    (["KernelDiffusion"], "bandwidth", [0, -1.0, np.nan, np.inf, True, "wide", None]),
    (["KernelDiffusion"], "steps", [0, -1, 1.5, 2.0, -np.inf, np.nan, "x"]),
    (["SharedNeighborDensity"], "min_shared", [0, 2.0, "many", N + 1]),
    (["KernelDiffusion"], "teleport", [1.0, -0.1, np.nan, "x"]),
    (["KernelDiffusion"], "kernel", ["cubic", 3]),
    (["DensityDBSCAN"], "min_density", [-1, np.nan, np.inf, "x", None]),
    (CUTTERS, "n_clusters", [0, 2.0, N + 1]),
    (CUTTERS, "max_link", [0, -1.0, np.nan]),
    (CUTTERS, "min_prominence", [-1, np.nan]),
    (CUTTERS, "halo", ["no", 3]),
    (SEARCHERS, "metric", ["nearby"]),
    (SEARCHERS, "metric_params", [{"p": 3}]),
    (SEARCHERS, "search", ["luck"]),
    (SEARCHERS, "n_jobs", [0, 1.5, 2**40]),
]


@pytest.mark.parametrize(
    ("entry", "name", "value"), [(e, n, v) for es, n, vs in PARAMETERS for e in es for v in vs]
)
def test_parameter_out_of_bounds(entry, name, value):
    call = DensityPeaks().fit(X).recut if entry == "recut" else partial(ENTRIES[entry], X)
    with refuses(f"{name}|{value}"):
        call(**{name: value})


@pytest.mark.parametrize("kind", CLUSTERERS)
@pytest.mark.parametrize(
    ("density", "words"),
    [
        ("smooth", "density='smooth'|fkd-asym"),
        (3, "density|3"),
        (X, "density|one value for each sample"),
        (np.ones(7), f"(7,)|({N},)"),
        (np.r_[np.ones(N - 1), -2.0], f"-2.0|sample {N - 1}|shift"),
        (np.r_[np.ones(N - 1), np.nan], f"nan|sample {N - 1}"),
        (np.full(N, 1j), "density|complex"),
        (["a"] * N, "density|a"),
        (lambda graph: None, f"density|()|({N},)"),
        (lambda graph: np.ones((N, 1)), f"({N}, 1)|({N},)"),
        (lambda graph: -np.ones(N), "-1.0|sample 0"),
        (KernelDiffusion(metric="cosine"), "'cosine'|'euclidean'|give"),
    ],
)
def test_density_of_a_clusterer(kind, density, words):
    with refuses(words):
        kind(density).fit(X)


@every_entry
@dense_and_sparse
def test_precomputed_distances(entry, form):
    for matrix, words in (
        (D[:, :50], f"square|({N}, 50)"),
        (-D, f"negative|{-D.max()}"),
        (D + np.eye(N), f"itself|0|({N} in all)|similarity"),
        (spoiled(np.nan) @ np.ones((3, N)), "NaN|rows [3, 7]"),
    ):
        with refuses(words):
            entry(form(matrix), metric="precomputed")


@dense_and_sparse
def test_symmetric_kernel_refuses_asymmetric_distances(form):
    ball = KernelDiffusion(radius=1.0, metric="precomputed")
    for model in (ball, DensityPeaks(ball, metric="precomputed"), DensityDBSCAN(ball, metric="precomputed")):
        with refuses("symmetric|point 0|asymmetric kernel"):
            model.fit(form(asymmetric()))
    for model in (KernelDiffusion(n_neighbors=5), DensityPeaks("fkd-asym"), DensityDBSCAN("fkd-asym")):
        model.set_params(metric="precomputed").fit(form(asymmetric()))


MODEL, GRAPH = DensityPeaks(metric="precomputed"), neighbor_graph(X, 5)
BY_GIVEN = KernelDiffusion(metric="precomputed")
ONE_BY_ONE = [
    (lambda: KernelDiffusion(N + 1, "auto").fit(X), f"n_neighbors={N + 1}|n_samples={N}"),
    (lambda: DensityPeaks("lc", n_neighbors=3).fit(X), "n_neighbors=3|no effect|set them there"),
    (lambda: DensityPeaks(KernelDiffusion(), n_neighbors=3).fit(X), "n_neighbors=3|no effect|set them there"),
    (lambda: DensityPeaks(n_clusters=5, max_link=1e2).fit(X), "n_clusters=5|only 1|100.0|lower"),
    (lambda: DensityPeaks(n_clusters=5, min_prominence=1e2).fit(X), "n_clusters=5|only 1|100.0|lower"),
    (lambda: MODEL.fit(GRAPH).recut(n_clusters=3), "no denser neighbour|max_link or min_prominence"),
    (lambda: DensityPeaks(n_neighbors=9, metric="precomputed").fit(GRAPH), "n_neighbors=9|5|more neighbours"),
    (lambda: DensityPeaks().fit(GRAPH), "NeighborGraph|'euclidean'|precomputed"),
    (lambda: DensityPeaks().fit([[1.0, 2.0], [3.0]]), "rows of X have different lengths"),
    (lambda: DensityPeaks().fit(X, sample_weight=np.ones(N) + 1j), "sample_weight must hold real numbers"),
    (lambda: DensityPeaks().fit(X, sample_weight=-np.ones(N)), "sample 0 is -1.0|leaves a sample out"),
    (lambda: DensityPeaks().fit(X, sample_weight=10.0 ** np.arange(N)), "is 1,|1e+59|1e-30 times"),
    (lambda: neighbor_graph(GRAPH, 3), "NeighborGraph|'euclidean'|precomputed"),
    (lambda: neighbor_graph(X), "n_neighbors, radius, or both"),
    (lambda: neighbor_graph(X, 3, metric=lambda a, b: np.nan), "metric|NaN"),
    (lambda: KernelDiffusion(kernel=lambda d: None).fit(X), "kernel|()"),
    (lambda: KernelDiffusion(kernel=lambda d: d[:2]).fit(X), "kernel|(2,)|one weight for each"),
    (lambda: KernelDiffusion(kernel=lambda d: -d - 1).fit(X), "kernel|-1.0|distance 0.0|not negative"),
    (lambda: KernelDiffusion(kernel=lambda d: d * np.nan).fit(X), "kernel|nan|finite"),
    (lambda: KernelDiffusion(kernel=lambda d: d).fit(X), "kernel|0.0 at distance 0.0|above 0"),
    (lambda: KernelDiffusion(kernel=lambda d: "soft").fit(X), "kernel|soft"),
    (lambda: DensityPeaks().recut(2), "DensityPeaks|not fitted"),
    (lambda: DensityPeaks().decision_graph(), "DensityPeaks|not fitted"),
    (lambda: validation.check_graph_size(2**31, 10), f"{2**31}|{2**31 - 1}|cluster a sample"),
    (lambda: BY_GIVEN.fit(GRAPH).score_samples(X), "precomputed graph|fit on points"),
    (lambda: neighbor_graph(X, 3, metric="canberra", search="tree"), "search='tree'|Minkowski|brute"),
    (lambda: minkowski({"p": 3}, search="tree"), "search='tree'|p = 1, 2 or infinity|brute"),
    (lambda: minkowski({"P": 1}), "{'P': 1}|minkowski|no 'P'|['p', 'w']"),
    (lambda: minkowski({"p": 0.5}), "0.5|at least 1|manhattan"),
    (lambda: minkowski({"p": 0}), "0|at least 1"),
    (lambda: minkowski({"p": -1}), "-1|at least 1"),
    (lambda: minkowski({"p": np.nan}), "nan|at least 1"),
    (lambda: minkowski({"p": "two"}), "p|at least 1|'two'"),
    (lambda: minkowski(5), "metric_params must be a dict|5"),
    (lambda: neighbor_graph(X, 3, metric="canberra", metric_params={"V": 1}), "canberra|no 'V'|['w']"),
    (lambda: neighbor_graph(X, 3, metric=None), "metric must be the name of a metric or a callable|None"),
    (lambda: neighbor_graph(X, 3, metric=5), "metric must be the name of a metric or a callable|5"),
    (lambda: neighbor_graph(X, radius=np.inf), "radius=inf|finite|above 0|n_neighbors=n_samples"),
    (lambda: neighbor_graph(X, radius=0), "radius=0|above 0|median"),
    (lambda: neighbor_graph(X, radius=np.nan), "radius=nan|above 0|median"),
    (lambda: neighbor_graph(X, 3, search=FaissLike(X), memory_limit=10**9), "memory_limit|FaissLike|'cells'"),
    (lambda: neighbor_graph(X, 3, search=FaissLike(X), memory_limit=-5), "memory_limit=-5|at least 1"),
    (lambda: neighbor_graph(GRAPH, metric="precomputed", memory_limit=10**9), "memory_limit|nothing"),
    (lambda: plan(2**31, 5, 2), f"n_samples={2**31}|{2**31 - 1}|cluster a sample"),
    (lambda: neighbor_graph(D, 3, metric="precomputed", search="tree"), "search='tree'|points|brute"),
    (lambda: BY_GIVEN.fit(D).score_samples(-D), "negative"),
    (lambda: BY_GIVEN.fit(D).score_samples(D[:, :9]), f"9|{N}"),
]


@pytest.mark.parametrize(("call", "words"), ONE_BY_ONE, ids=[words for _, words in ONE_BY_ONE])
def test_refusal(call, words):
    with refuses(words):
        call()


@pytest.mark.parametrize("search", ["tree", "brute"])
@pytest.mark.parametrize("ask", [{"n_neighbors": 50}, {"n_neighbors": None, "radius": 100.0}])
def test_graphs_too_large_for_memory_or_index(monkeypatch, search, ask):
    with pytest.raises(MemoryError, match=r"10,000,000,000,000,000 .* GiB; use a smaller n_neighbors"):
        validation.check_graph_size(10**9, 10**16)
    monkeypatch.setattr(validation, "_physical_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"60 samples, \d+ each.*smaller n_neighbors or radius"):
        neighbor_graph(X, search=search, **ask)
    monkeypatch.setattr(validation, "MAX_SAMPLES", 10)
    with refuses("n_samples=60|10|split the data"):
        neighbor_graph(X, search=search, **ask)


@pytest.mark.parametrize("kind", DENSITIES)
def test_score_samples(kind):
    with pytest.raises(NotFittedError, match=kind.__name__):
        kind().score_samples(X)
    new = {"2 features|3 features": X[:, :2], "2D|1D": X[0], "NaN|rows [3, 7]": spoiled(np.nan)}
    for words, bad in new.items():
        with refuses(words):
            kind().fit(X).score_samples(bad)


@pytest.mark.parametrize("scores", [pairwise_scores, bcubed_scores])
def test_scores(scores):
    lengths = (([0, 1], [0], "[2, 1]"), ([], [], "empty"), ([[0, 1]], [0, 1], "1d|(1, 2)"))
    for y_true, labels, words in (*lengths, ([0, 1], [0, np.nan], "NaN"), ([0, np.nan], [0, 1], "NaN")):
        with refuses(words):
            scores(y_true, labels)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_column_of_vectors_is_named(kind):
    frame = pd.DataFrame({"title": [1.0, 2.0], "embedding": [kind([0.0, 1.0]), kind([2.0, 3.0])]})
    with refuses(r"'embedding'|np.stack(np.asarray(X['embedding']))"):
        DensityPeaks().fit(frame)
    with refuses("X holds|np.stack(np.asarray(X))"):
        DensityPeaks().fit(frame["embedding"])


def test_a_column_of_vectors_is_named_in_tables_of_arrow_and_polars():
    vectors = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    values = {"title": [1.0, 2.0, 3.0], "embedding": vectors}
    arrow, polars = pa.table(values), pl.DataFrame(values)
    fixed = polars.with_columns(polars["embedding"].cast(pl.Array(pl.Float64, 2)))
    for table in (arrow, polars, fixed):
        with refuses(r"'embedding'|np.stack(np.asarray(X['embedding']))"):
            DensityPeaks().fit(table)
        np.testing.assert_array_equal(np.stack(np.asarray(table["embedding"])), vectors)
    for column in (arrow["embedding"], polars["embedding"]):
        with refuses("X holds|np.stack(np.asarray(X))"):
            DensityPeaks().fit(column)


def test_a_column_of_vectors_is_named_before_text():
    frame = pd.DataFrame({"id": ["a", "b"], "embedding": [[0.0, 1.0], [2.0, 3.0]]})
    with refuses("the column 'embedding'|np.stack"):
        DensityPeaks().fit(frame)


def test_a_column_of_text_is_named():
    frame = pd.DataFrame({"size": [1.0, 2.0], "title": ["a", "b"]})
    for given, words in (
        (frame, "the column 'title' holds text, such as 'a'"),
        (frame["title"], "X holds text"),
    ):
        with refuses(words):
            DensityPeaks().fit(given)
    DensityPeaks().fit(frame.assign(title=["1", "2"]))


def test_an_unknown_metric_is_told_all_that_are_known():
    with refuses("'cosin' is unknown|'cosine'|'inner_product'|'nan_euclidean'"):
        DensityPeaks(metric="cosin").fit(X)
