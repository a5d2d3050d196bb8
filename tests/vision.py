"""How colours look to those who see all of them, and to those who see fewer."""

import numpy as np

# Machado, Oliveira and Fernandes (2009), full severity, on linear light
DEFICIENCIES = {
    "none": np.eye(3),
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.28, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
# Ottosson's Oklab: differences of 0.02 are just seen
TO_CONES = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]]
TO_LAB = [[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]


def linear(color):
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def perceived(color, deficiency):
    light = np.clip(np.array(deficiency) @ linear(color), 0, 1)
    return np.array(TO_LAB) @ np.cbrt(np.array(TO_CONES) @ light)
