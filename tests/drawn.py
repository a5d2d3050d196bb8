"""What tests of displays share; they look at the arrays that were drawn."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

mpl.use("agg")


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    plt.close("all")


def offsets(collection):
    """The places of the marks of a scatter plot."""
    return np.asarray(collection.get_offsets())
