"""Points as tables, and what is asked of a refusal."""

import os

import numpy as np
import pandas as pd
import pytest
from clouds import general_position

from diffpeaks.files import Wanted

X = general_position(0, 40).astype(np.float32)
NAMES = [f"x{i}" for i in range(X.shape[1])]
IDS = [f"sample {i}" for i in range(len(X))]
TABLE = pd.DataFrame(X, columns=NAMES).assign(name=IDS)
NAMED = Wanted(columns=("x*",), id="name")


def check_refused(read, words):
    with pytest.raises((ValueError, OSError)) as refused:
        read()
    place = 0
    for word in words.split("|"):
        found = str(refused.value).find(word, place)
        assert found >= 0, f"{word!r} is not in {refused.value}"
        place = found + len(word)
    assert "\n" not in str(refused.value)
    assert not os.path.exists("sprung")
