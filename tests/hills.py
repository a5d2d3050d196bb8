"""Hypothesis strategies: graphs with hills to find, and links to drop."""

import numpy as np
from clouds import clouds_and_k
from hypothesis import strategies as st

from diffpeaks import neighbor_graph

max_links = st.sampled_from([np.inf, 3.0, 1.0])


@st.composite
def hilly(draw):
    """A cloud, its kNN graph, and a density with ties and zeros that knows nothing of the cloud."""
    X, k = draw(clouds_and_k())
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = random.integers(0, draw(st.sampled_from([2, 5, 1000])), len(X)).astype(float)
    return X, neighbor_graph(X, k), density
