"""Points made on the card: faces, texts, and points of few features."""

import torch

_ROWS = 1 << 17  # made at a time


def faces(n_samples, n_features, random):
    """People around directions of their own, some of them seen often, some photographs poor; unit length."""
    n_people = n_samples // 68
    people = torch.randn(n_people, n_features, device="cuda", generator=random) / n_features**0.5
    seen = torch.exp(0.7 * torch.randn(n_people, device="cuda", generator=random))

    def some(n_rows):
        who = torch.multinomial(seen, n_rows, replacement=True, generator=random)
        poor = torch.exp(0.35 * torch.randn(n_rows, 1, device="cuda", generator=random))
        noise = torch.randn(n_rows, n_features, device="cuda", generator=random)
        return people[who] + 0.75 * poor * noise / n_features**0.5

    return _unit(_in_blocks(some, n_samples))


def texts(n_samples, n_features, random):
    """Topics within fields within one language, and noise that has few dimensions; unit length."""

    def directions(n_rows):
        return torch.randn(n_rows, n_features, device="cuda", generator=random) / n_features**0.5

    language, fields, mixing = directions(1), directions(60), directions(120)
    of_field = torch.randint(60, (4000,), device="cuda", generator=random)
    topics = 0.7 * (fields[of_field] + directions(4000))

    def some(n_rows):
        topic = torch.randint(4000, (n_rows,), device="cuda", generator=random)
        words = torch.randn(n_rows, 120, device="cuda", generator=random) / 120**0.5
        return 0.9 * language + topics[topic] + 0.6 * words @ mixing + 0.35 * directions(n_rows)

    return _unit(_in_blocks(some, n_samples))


def clusters(n_samples, n_features, random):
    """Gaussian clusters that fill all dimensions."""
    centers = 2 * torch.randn(30, n_features, device="cuda", generator=random)

    def some(n_rows):
        which = torch.randint(30, (n_rows,), device="cuda", generator=random)
        return centers[which] + torch.randn(n_rows, n_features, device="cuda", generator=random)

    return _in_blocks(some, n_samples)


SETS = {"faces": faces, "texts": texts, "clusters": clusters}


def _in_blocks(some, n_samples):
    sizes = [min(_ROWS, n_samples - first) for first in range(0, n_samples, _ROWS)]
    return torch.cat([some(size) for size in sizes])


def _unit(X):
    return torch.nn.functional.normalize(X, dim=1)
