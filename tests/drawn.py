"""What a display has drawn, as arrays."""

import numpy as np


def offsets(collection):
    """The places of the marks of a scatter plot."""
    return np.asarray(collection.get_offsets())
