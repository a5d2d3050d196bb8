"""The learned methods: they learn, are reproducible, are saved, and refuse what they cannot use."""

import sys

import numpy as np
import processes
import pytest
import torch
from refusals import refuses
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from diffpeaks import ApproximateSearch, neighbor_graph
from diffpeaks.baselines.learned import GCNV, GCNVE, LGCN, LTC
from diffpeaks.datasets import make_faces
from diffpeaks.metrics import bcubed_scores

EASY = {"n_features": 12, "mean_cosine": 0.95, "lookalike_cosine": 0.0}
X, Y = make_faces(900, 120, **EASY, random_state=0)
X_NEW, Y_NEW = make_faces(400, 50, **EASY, random_state=1)
SMALL = {"n_neighbors": 12, "n_hidden": 32, "learning_rate": 5e-3, "device": "cpu"}
METHODS = [
    GCNV(min_similarity=0.9, n_epochs=20, **SMALL),
    GCNVE(min_similarity=0.9, n_candidates=20, n_epochs=20, n_link_epochs=4, **SMALL),
    LGCN(n_second=3, n_links=3, max_size=60, n_epochs=8, **SMALL),
    LTC(thresholds=(0.85, 0.9, 0.95), max_size=60, n_epochs=20, **SMALL),
]
BY_NAME = pytest.mark.parametrize("model", METHODS, ids=lambda model: type(model).__name__)
FITTED = {}


def fitted(model):
    """Trained once for all tests."""
    kind = type(model)
    if kind not in FITTED:
        FITTED[kind] = clone(model).fit(X, Y)
    return clone_with_networks(FITTED[kind])


def clone_with_networks(model):
    copy = clone(model)
    vars(copy).update({name: value for name, value in vars(model).items() if name.endswith("_")})
    return copy


@BY_NAME
def test_new_identities_are_told_apart(model):
    labels = fitted(model).cluster(X_NEW)
    assert bcubed_scores(Y_NEW, labels).f > 0.8
    assert labels[0] == 0
    first = [int(np.flatnonzero(labels == label)[0]) for label in range(labels.max() + 1)]
    assert first == sorted(first)


@BY_NAME
def test_training_matters(model):
    """Beyond what the graph alone would give: the loss falls."""
    once = clone(model).set_params(n_epochs=1, learning_rate=1e-9).fit(X, Y)
    name = next(iter(once.losses_))
    assert fitted(model).losses_[name] < once.losses_[name] / 2


@BY_NAME
def test_the_same_seed_gives_the_same_labels(model):
    few = clone(model).set_params(n_epochs=2)
    state = torch.get_rng_state()
    labels = [clone(few).fit(X, Y).cluster(X_NEW) for _ in range(2)]
    np.testing.assert_array_equal(labels[0], labels[1])
    weights = [clone(few).set_params(random_state=seed).fit(X, Y).networks_ for seed in (0, 1)]
    one, other = (next(next(iter(networks.values())).parameters()) for networks in weights)
    assert not torch.equal(one, other)
    assert torch.equal(state, torch.get_rng_state())
    assert not torch.are_deterministic_algorithms_enabled()


@BY_NAME
def test_a_given_graph_is_the_one_that_would_be_searched(model):
    graph = neighbor_graph(X_NEW, 30, metric="cosine")
    found = fitted(model)
    np.testing.assert_array_equal(found.cluster(X_NEW, graph), found.cluster(3 * X_NEW))


@BY_NAME
def test_saved_and_loaded(model, tmp_path):
    found, path = fitted(model), tmp_path / "model"
    found.save(path)
    again = type(model).load(path, device="cpu")
    assert again.get_params() == found.get_params()
    np.testing.assert_array_equal(again.cluster(X_NEW), found.cluster(X_NEW))
    path.write_bytes(path.read_bytes()[:-5])
    with refuses("the end is missing|save the learned clusterer again"):
        type(model).load(path)


def test_files_of_other_methods_and_what_cannot_be_saved(tmp_path):
    fitted(METHODS[0]).save(tmp_path / "model")
    with refuses("holds a GCNV, not a LTC|load it with GCNV.load"):
        LTC.load(tmp_path / "model")
    with refuses("search=|cannot be saved"):
        fitted(METHODS[0]).set_params(search=ApproximateSearch(0.9)).save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        GCNV().save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        GCNV().cluster(X)


def test_another_threshold_needs_no_network():
    for model in METHODS[:2]:
        found = fitted(model)
        found.cluster(X_NEW)
        for similarity in (0.3, 0.9):
            expected = fitted(model).set_params(min_similarity=similarity).cluster(X_NEW)
            np.testing.assert_array_equal(found.recut(similarity), expected)
    with refuses("min_similarity"):
        found.recut(2.0)


def test_links_of_the_samples_as_they_are():
    found = fitted(METHODS[0]).set_params(links="input", min_similarity=1.0)
    assert found.cluster(X_NEW).max() == len(X_NEW) - 1
    assert bcubed_scores(Y_NEW, found.set_params(min_similarity=0.85).cluster(X_NEW)).f > 0.7


def test_identities_from_which_nothing_can_be_learned():
    model = METHODS[0]
    with refuses("y has 5 values, but X has 900 rows"):
        clone(model).fit(X, Y[:5])
    for y, n in ((np.zeros(900, int), 1), (np.arange(900), 900)):
        with refuses(f"y has {n} identities for 900 samples|two at least"):
            clone(model).fit(X, y)


def test_samples_and_graphs_that_do_not_fit():
    model = fitted(METHODS[0])
    with refuses("11 features|GCNV is expecting 12"):
        model.cluster(X_NEW[:, :11])
    with refuses("rows [3]|drop rows that are zero"):
        model.cluster(np.where(np.arange(400)[:, None] == 3, 0, X_NEW))
    with refuses("n_neighbors=12 must lie in 1 .. n_samples=10"):
        model.cluster(X_NEW[:10])
    with refuses("n_neighbors=12 is more than the 5 that this graph holds|build the graph with more"):
        model.cluster(X_NEW, neighbor_graph(X_NEW, 5, metric="cosine"))
    with refuses("graph has 900 samples, but X has 400"):
        model.cluster(X_NEW, neighbor_graph(X, 12, metric="cosine"))
    with refuses("distances of the graph differ from 1 - cosine|metric='cosine'"):
        model.cluster(X_NEW, neighbor_graph(X_NEW, 12))
    with refuses("graph must be a NeighborGraph, got tuple"):
        model.cluster(X_NEW, (1, 2))


def test_parameters_that_do_not_go_together():
    with refuses("n_links=12 must be at most n_neighbors - 1 = 11"):
        LGCN(n_second=3, n_links=12, **SMALL).fit(X, Y)
    with refuses("thresholds=(0.999999,) propose no cluster of 3 samples|use lower ones"):
        LTC(thresholds=(0.999999,), **SMALL).fit(X, Y)
    with refuses("none of the 900 samples has two candidates|train_share=0"):
        GCNVE(n_candidates=20, n_epochs=1, train_share=0, **SMALL).fit(X, Y)
    with refuses("the loss is|learning_rate|use a smaller one"):
        GCNV(**{**SMALL, "learning_rate": 1e30}).fit(X, Y)


def test_no_proposal_leaves_everyone_alone():
    labels = fitted(METHODS[3]).set_params(thresholds=(0.999999,)).cluster(X_NEW)
    assert labels.tolist() == list(range(400))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_missing_device_is_refused():
    assert GCNV(n_epochs=1, **SMALL).set_params(device="auto").fit(X, Y).device_.type == "cpu"
    with refuses("device='cuda', but torch|sees no GPU|use device='cpu'"):
        GCNV(**SMALL).set_params(device="cuda").fit(X, Y)
    with refuses("device|cpu"):
        GCNV(**SMALL).set_params(device="gpu").fit(X, Y)


def test_missing_torch_is_named_with_its_remedy():
    hidden = "import sys; sys.modules['torch'] = None\n"
    done = processes.run(hidden + "import diffpeaks.baselines\nimport diffpeaks.baselines.learned")
    assert done.returncode != 0
    assert "torch is not installed: pip install 'diffpeaks[learned]'" in done.stderr


def test_torch_is_imported_late():
    code = "import sys, diffpeaks.baselines, diffpeaks_paper.command\nassert 'torch' not in sys.modules"
    done = processes.run(code)
    assert done.returncode == 0, done.stderr
    assert "torch" in sys.modules
