"""Packed arrays as the page of the explorer reads them."""

import json

import numpy as np


def unpacked(data):
    """As api.js does it."""
    length = int(np.frombuffer(data, "<u4", 1)[0])
    found = json.loads(data[4 : 4 + length])
    place = 4 + length
    assert place % 4 == 0
    for name, kind, size in found.pop("arrays"):
        found[name] = np.frombuffer(data, f"<{kind}4", size, place)
        place += 4 * size
    assert place == len(data)
    return found
