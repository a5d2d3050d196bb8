"""FaceMap and FC-ES: which links they keep, by hand and by loops, and that Infomap is given these."""

import sys

import infomap
import numpy as np
import pytest
import reference
import reference_baselines
from clouds import general_position, same_partition
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from sklearn.base import clone

from diffpeaks import NeighborGraph, neighbor_graph
from diffpeaks.baselines import FCES, FaceMap
from diffpeaks.baselines.row_breaks import row_breaks

BOTH = pytest.mark.parametrize("model", [FaceMap(12, 3), FCES(12)], ids=str)


def directions(seed, n_samples=40):
    """Three groups of directions, without ties."""
    random = np.random.default_rng(seed)
    centers = np.eye(5)[random.integers(0, 3, n_samples)]
    return centers + random.normal(scale=0.3, size=(n_samples, 5))


def cosine_distances(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    D = np.maximum(1 - unit @ unit.T, 0)
    np.fill_diagonal(D, 0)
    return D


def modules_of(links, n_samples, directed, seed):
    """The library's answer on these links."""
    network = infomap.Network()
    network.add_nodes(range(n_samples))
    network.add_links([(i, j, float(weight)) for (i, j), weight in sorted(links.items())])
    found = infomap.run(network, seed=seed + 1, two_level=True, directed=directed).modules()
    return [found[i] for i in range(n_samples)]


@pytest.mark.parametrize(
    ("drops", "kept"),
    [
        # Windows of two. From the tail: 2 2 and 2 2 2 are even, z = 0; 32 2 against 32 2 2 2 is
        # |17 - 9.5| / sqrt(168.75) = 0.58; 8 32 against all five is |20 - 9.2| / sqrt(135.36) = 0.93
        ([8, 32, 2, 2, 2], 1),
        # 2 8 against 2 8 2 2 2 2 is |5 - 3| / sqrt(5) = 0.89; 8 2 against 8 2 2 2 2 is |5 - 3.2| / sqrt(5.76)
        # = 0.75; 2 2 against all seven is |2 - 20 / 7| / sqrt(4.41) = 0.41
        ([2, 2, 8, 2, 2, 2, 2], 2),
        ([4, 4, 4, 4, 4], 5),  # no drop differs from another: no break
        ([0, 0, 0, 0], 4),
        # 0 16 against 0 16 0 0 and 16 0 against 16 0 0: |8 - 4| / sqrt(48) = 0.58, |8 - 16/3| / sqrt(56.9)
        ([0, 16, 0, 0], 1),
    ],
)
def test_breaks_by_hand(drops, kept):
    values = (64 - np.cumsum([0, *drops])) / 64
    assert row_breaks(values[None], 2).tolist() == [kept]
    assert row_breaks(3 * values[None], 2).tolist() == [kept]  # the scale of a row does not matter
    assert reference_baselines.row_break(values.tolist(), 2)[0] == kept


@given(
    seed=st.integers(0, 10**6),
    n_values=st.integers(4, 40),
    window=st.integers(1, 30),
    even_tail=st.booleans(),
)
def test_breaks_equal_the_reference(seed, n_values, window, even_tail):
    """Rows of float32, as searches give them; equal scores may differ by rounding."""
    window = min(window, n_values - 2)
    random = np.random.default_rng(seed)
    values = np.sort(random.beta(0.5, 3, (3, n_values)).astype(np.float32).astype(float), axis=1)[:, ::-1]
    if even_tail:
        values[:, n_values // 2 :] = values[:, n_values // 2, None]
    for row, kept in zip(values, row_breaks(values.copy(), window), strict=True):
        expected, best = reference_baselines.row_break(row.tolist(), window)
        if kept != expected:
            start = kept - (window + 1) // 2
            assert float(reference_baselines.break_score(row.tolist(), window, start)) == pytest.approx(
                float(best), rel=1e-9
            )


@given(seed=st.integers(0, 10**6), k=st.integers(5, 20), window=st.integers(1, 3))
def test_face_map_is_infomap_on_the_links_of_the_reference(seed, k, window):
    D = cosine_distances(directions(seed))
    rows = reference.nearest(D, k)
    model = FaceMap(k, window, metric="precomputed", random_state=7).fit(D)
    links = reference_baselines.face_map_links(rows, D, window)
    assert same_partition(model.labels_, modules_of(links, len(D), False, 7))
    cosines = [[max(0, 1 - D[i][j]) for j in row] for i, row in enumerate(rows)]
    assert model.n_kept_.tolist() == [reference_baselines.row_break(row, window)[0] for row in cosines]


# 0, 1 and 2 list each other; 3 lists 0 and 1, and no one lists 3. All others are at a cosine of 1/2, so that
# with bandwidth 1 / log 2 they weigh exp(-log 2) = 1/2, and a list of three has chances 1/2, 1/4, 1/4.
HAND = NeighborGraph.from_arrays(
    [[0, 1, 2], [1, 0, 2], [2, 0, 1], [3, 0, 1]], np.tile([0.0, 0.5, 0.5], (4, 1)), metric="precomputed"
)


@pytest.mark.parametrize(
    ("min_shared", "n_kept", "labels"),
    [
        # 0 and 1 list the same three: they share all. 3 and 0 both list 0 and 1: 3 gives them 1/4 + 1/4, 0
        # gives them 1/2 + 1/4, on average 5/8
        (0.6, [2, 2, 2, 2], [0, 0, 0, 0]),
        (0.625, [2, 2, 2, 2], [0, 0, 0, 0]),  # not less than 5/8
        (0.65, [2, 2, 2, 0], [0, 0, 0, 1]),
    ],
)
def test_shared_mass_by_hand(min_shared, n_kept, labels):
    model = FCES(3, min_shared, bandwidth=1 / np.log(2), metric="precomputed").fit(HAND)
    assert model.n_kept_.tolist() == n_kept
    assert model.labels_.tolist() == labels


def test_neighbors_after_the_first_that_shares_little_are_left_out():
    """0 lists 3, 1, 2 in this order, and 3 lists strangers: the first neighbour ends the list of 0."""
    rows = [[0, 3, 1, 2], [1, 0, 2, 3], [2, 0, 1, 3], [3, 4, 5, 6], [4, 5, 6, 3], [5, 4, 6, 3], [6, 4, 5, 3]]
    lengths = np.tile([0.0, 0.1, 0.2, 0.3], (7, 1))
    graph = NeighborGraph.from_arrays(rows, lengths, metric="precomputed")
    model = FCES(4, 0.4, metric="precomputed").fit(graph)
    assert model.n_kept_.tolist()[:3] == [0, 2, 2]
    assert model.labels_.tolist() == [0, 1, 1, 2, 2, 2, 2]  # though 1 and 2 keep 0, it keeps nobody


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 20),
    bandwidth=st.sampled_from([0.05, 0.5, 3.0]),
    min_shared=st.sampled_from([0.01, 0.22, 0.6, 0.9]),
)
def test_early_stopping_is_infomap_on_the_links_of_the_reference(seed, k, bandwidth, min_shared):
    D = cosine_distances(directions(seed))
    rows = reference.nearest(D, k)
    model = FCES(k, min_shared, bandwidth, metric="precomputed", random_state=3).fit(D)
    links = reference_baselines.early_stopped_links(rows, D, bandwidth, min_shared)
    n_kept = [sum(1 for i, _ in links if i == sample) for sample in range(len(D))]
    assert model.n_kept_.tolist() == n_kept
    modules = modules_of(links, len(D), True, 3)
    expected = [module if n else -1 - i for i, (module, n) in enumerate(zip(modules, n_kept, strict=True))]
    assert same_partition(model.labels_, expected)


@BOTH
def test_points_and_forms_of_their_graph(model):
    X = directions(0)
    expected = clone(model).fit(X)
    graph = neighbor_graph(X, 15, metric="cosine")
    pair = (graph.indices.reshape(40, 15), graph.distances.reshape(40, 15))
    for form in (graph, graph.to_scipy(), pair):
        fitted = clone(model).set_params(metric="precomputed").fit(form)
        np.testing.assert_array_equal(fitted.labels_, expected.labels_)
        np.testing.assert_array_equal(fitted.n_kept_, expected.n_kept_)
    assert fitted.labels_[0] == 0
    assert fitted.n_clusters_ == len(set(fitted.labels_))


@BOTH
def test_threads_and_runs_change_nothing_but_the_seed_may(model):
    X = np.random.default_rng(0).normal(size=(300, 4))
    labels = [clone(model).set_params(n_jobs=n_jobs).fit_predict(X) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*labels)
    seeds = [clone(model).set_params(random_state=seed).fit_predict(X) for seed in range(1, 6)]
    assert not all(same_partition(labels[0], others) for others in seeds)


@BOTH
def test_copies_of_one_vector_are_one_cluster(model):
    X = np.concatenate((np.tile([[1.0, 2.0]], (14, 1)), np.tile([[2.0, -1.0]], (14, 1))))
    assert clone(model).fit_predict(X).tolist() == [0] * 14 + [1] * 14


def test_lists_of_the_sample_alone():
    assert FCES(1).fit_predict(directions(1)).tolist() == list(range(40))


def test_opposite_directions_have_no_chance():
    """Of its list a sample keeps only what has a positive cosine; the third of these is opposite to all."""
    X = np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    assert FaceMap(3, 1).fit_predict(X).tolist() == [0, 0, 1]


@BOTH
def test_missing_library_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "infomap", None)
    with pytest.raises(ImportError, match=r"pip install 'diffpeaks\[communities\]'"):
        clone(model).fit(directions(2))


X = general_position(8, 60)
FAR = neighbor_graph(X * 9, 15)
REFUSALS = [
    (lambda: FaceMap().fit(X), "n_neighbors=256|n_samples=60"),
    (lambda: FaceMap(20, 19).fit(X), "window=19|at most n_neighbors - 2 = 18|a smaller window"),
    (lambda: FaceMap(20, 0).fit(X), "window|0"),
    (lambda: FaceMap(20, 2.5).fit(X), "window|2.5"),
    (lambda: FaceMap(20, 5, metric="euclidean").fit(X), "metric|euclidean"),
    (lambda: FaceMap(20, 5, n_trials=0).fit(X), "n_trials|0"),
    (lambda: FaceMap(20, 5, random_state=None).fit(X), "random_state|None"),
    (lambda: FaceMap(20, 5, metric="precomputed").fit(FAR), "n_neighbors=20|15|more neighbours"),
    (lambda: FaceMap(15, 5, metric="precomputed").fit(FAR), "largest distance|at most 2|cosine"),
    (lambda: FaceMap(20, 5).fit(np.zeros((30, 2))), "cosine|zero"),
    (lambda: FCES().fit(X), "n_neighbors=80|n_samples=60"),
    (lambda: FCES(20, 0.0).fit(X), "min_shared|0.0"),
    (lambda: FCES(20, 1.1).fit(X), "min_shared|1.1"),
    (lambda: FCES(20, bandwidth=0.0).fit(X), "bandwidth|0.0"),
    (lambda: FCES(20, bandwidth=np.inf).fit(X), "bandwidth|inf"),
    (lambda: FCES(20, metric="euclidean").fit(X), "metric|euclidean"),
    (lambda: FCES(20, random_state=-1).fit(X), "random_state|-1"),
    (lambda: FCES(20, metric="precomputed").fit(FAR), "n_neighbors=20|15|more neighbours"),
    (lambda: FCES(15, metric="precomputed").fit(FAR), "largest distance|at most 2|cosine"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words for _, words in REFUSALS])
def test_refusal(call, words):
    with refuses(words):
        call()
