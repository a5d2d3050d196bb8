"""placeholder"""

import numpy as np


def stationary_law(chain):
    a = chain.toarray()
    n = len(a)
    for k in range(n - 1, 0, -1):
        s = a[k, :k].sum()
        a[:k, k] /= s
        a[:k, :k] += np.outer(a[:k, k], a[k, :k])
    x = np.empty(n)
    x[0] = 1
    for k in range(1, n):
        x[k] = x[:k] @ a[:k, k]
    return x / x.sum()
