"""The stationary law against laws known in closed form, large and nearly decomposable."""

import numpy as np
import pytest
import scipy.sparse as sp
from clouds import general_position
from scipy.sparse.csgraph import connected_components

import diffpeaks.density.stationary as stationary
from diffpeaks import KernelDiffusion, neighbor_graph
from diffpeaks.density.stationary import ConvergenceError, stationary_law
from diffpeaks.density.walk import walk_on


def far_from(law, expected):
    return np.abs(law - expected / expected.sum()).sum()


def linked_cliques(n_cliques, size, link):
    """Cliques in a ring, each joined to the next by one weak link; weights are symmetric."""
    n_states = n_cliques * size
    W = sp.block_diag([np.ones((size, size))] * n_cliques, format="lil")
    for c in range(n_cliques):
        a, b = c * size, (c + 1) % n_cliques * size + 1
        W[a, b] = W[b, a] = link
    return sp.csr_array(W).reshape(n_states, n_states)


def birth_and_death(n_states, up, down):
    """A walk on a line; its law is geometric in up / down."""
    chain = sp.diags_array([down, 1 - up - down, up], offsets=[-1, 0, 1], shape=(n_states, n_states))
    chain = chain.tolil()
    chain[0, 0] += down
    chain[-1, -1] += up
    return sp.csr_array(chain)


@pytest.mark.parametrize(("n_cliques", "size"), [(2, 3), (20, 20), (40, 30), (300, 5)])
@pytest.mark.parametrize("link", [1.0, 1e-6, 1e-12])
def test_reversible_chains_that_nearly_fall_apart(n_cliques, size, link):
    W = linked_cliques(n_cliques, size, link)
    volume = W.sum(axis=1)
    law = stationary_law(sp.csr_array(W / volume[:, None]))
    assert far_from(law, volume) < 1e-10


@pytest.mark.parametrize("n_states", [1, 2, 100, 2000])
def test_birth_and_death(n_states):
    law = stationary_law(birth_and_death(n_states, 0.3, 0.31) if n_states > 1 else sp.csr_array([[1.0]]))
    assert far_from(law, (0.3 / 0.31) ** np.arange(n_states)) < 1e-10


def test_a_large_ball_graph_has_the_closed_form():
    X = general_position(0, 3000)
    graph = neighbor_graph(X, radius=0.5)
    walk = walk_on(graph, "gaussian", 0.05)
    P = walk.transition
    _, component = connected_components(P, directed=False)
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    law = stationary_law(sp.csr_array(P[largest][:, largest]))
    assert len(largest) > stationary.DIRECT_STATES
    assert far_from(law, walk.volume[largest]) < 1e-10


def test_cycles_equal_elimination_on_a_directed_graph(monkeypatch):
    X = np.random.default_rng(0).normal(size=(900, 2))
    by_cycles = KernelDiffusion(12, steps=np.inf).fit(X)
    monkeypatch.setattr(stationary, "DIRECT_STATES", 2000)
    by_elimination = KernelDiffusion(12, steps=np.inf).fit(X)
    np.testing.assert_allclose(by_cycles.density_, by_elimination.density_, rtol=1e-8, atol=1e-9)
    assert by_cycles.residual_ < 1e-11


def test_a_hub_with_a_tiny_share():
    """Teleport of 1e-7 balances two directed parts that the walk otherwise leaves only through the hub."""
    X = np.concatenate([general_position(1, 900), general_position(2, 900) + 100])
    density = KernelDiffusion(10, steps=np.inf, teleport=1e-7).fit(X).density_
    assert density[:900].mean() == pytest.approx(1, abs=1e-9)
    assert density[900:].mean() == pytest.approx(1, abs=1e-9)


def test_an_unconverged_law_is_never_returned(monkeypatch):
    monkeypatch.setattr(stationary, "MAX_CYCLES", 2)
    X = np.random.default_rng(0).normal(size=(1500, 2))
    with pytest.raises(ConvergenceError, match=r"estimated error .* \(bound 1e-11\).*teleport"):
        KernelDiffusion(12, steps=np.inf).fit(X)


def test_states_that_are_hardly_ever_left():
    """Three states in a ring, left with tiny probabilities: the law is the inverse of these."""
    leaving = np.array([1e-250, 1e-200, 2e-250])
    chain = sp.diags_array(1 - leaving) + sp.csr_array(np.roll(np.diag(leaving), 1, axis=1))
    assert far_from(stationary_law(sp.csr_array(chain)), 1e-250 / leaving) < 1e-14


def test_elimination_refuses_what_underflows():
    chain = sp.csr_array([[1 - 1e-160, 0, 1e-160], [1.5e-322, 1, 0], [1, 1.3e-162, 0]])
    with pytest.raises(ConvergenceError, match="underflow"):
        stationary_law(chain)


@pytest.mark.parametrize(
    ("chain", "words"),
    [
        (np.eye(3), "reducible"),
        (np.full((2, 2), 0.4), "sum to one"),
        (np.array([[1.5, -0.5], [0.5, 0.5]]), "nonnegative"),
        (np.ones((2, 3)) / 3, "square"),
    ],
)
def test_what_is_no_irreducible_chain_is_refused(chain, words):
    with pytest.raises(ValueError, match=words):
        stationary_law(sp.csr_array(chain))
