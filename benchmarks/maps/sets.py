"""The sets of which maps are made: points and classes."""

import numpy as np
from sklearn.datasets import load_digits

from diffpeaks.datasets.uci import data_folder

IMAGES = ("mnist", "fashion_mnist")
REAL = ("text_googlenews", "cells_cbmc", "text_stackoverflow", "cells_kidney", "images_usps")
SETS = ("digits", *REAL, *IMAGES)


def load(name, folder=None):
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X.astype(np.float32), y
    with np.load(data_folder(folder) / ("images" if name in IMAGES else "real") / f"{name}.npz") as arrays:
        return arrays["X"].reshape(len(arrays["X"]), -1).astype(np.float32), arrays["y"]
